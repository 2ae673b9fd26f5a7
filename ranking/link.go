package ranking

import "time"

// linkFull is the share of our own link's limit from which it counts as reached. Headers and
// acknowledgements take the rest.
const linkFull = 0.9

// meterOfLink sums what arrives in all fetches, second by second, to tell when our own link is the
// limit. The zero value is empty.
type meterOfLink struct {
	second time.Duration
	bytes  int64
}

// add counts bytes and says whether a second has just ended in which the limit was reached.
func (m *meterOfLink) add(now time.Duration, bytes, limit int64) bool {
	if limit <= 0 {
		return false
	}
	full := false
	if s := now.Truncate(time.Second); s != m.second {
		full = s == m.second+time.Second && float64(m.bytes) >= linkFull*float64(limit)
		m.second, m.bytes = s, 0
	}
	m.bytes += bytes
	return full
}
