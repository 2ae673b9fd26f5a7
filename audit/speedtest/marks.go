package speedtest

import (
	"sync"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/message"
)

// mostMarks bounds the units under way on a stream: 64 MiB, more than any window
// and what a kernel buffers. A target that takes more without a receipt is not
// going to send one.
const mostMarks = 64 << 10

// marks are the sums of one stream at each unit that was sent and not receipted
// yet. Safe for concurrent use.
type marks struct {
	mu   sync.Mutex
	sum  keystream.Sum
	from int64    // units receipted
	sums []uint64 // after each unit since
}

// note takes in payload that is about to be sent: whole units. It is false if too
// much is under way.
func (m *marks) note(p []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sums) >= mostMarks {
		return false
	}
	for ; len(p) >= receiptUnit; p = p[receiptUnit:] {
		m.sum.Add(p[:receiptUnit])
		m.sums = append(m.sums, m.sum.Value())
	}
	return true
}

// settle takes a receipt and returns how many bytes it proves beyond the one
// before; false if it is false.
func (m *marks) settle(r message.Receipt) (bytes int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	units := r.Bytes/receiptUnit - m.from
	if r.Bytes%receiptUnit != 0 || units < 1 || units > int64(len(m.sums)) || m.sums[units-1] != r.Sum {
		return 0, false
	}
	m.sums = append(m.sums[:0], m.sums[units:]...)
	m.from += units
	return int(units) * receiptUnit, true
}

// pacer holds all writers of a run to our own cap. Safe for concurrent use.
type pacer struct {
	rate float64 // bytes per second, 0 for none
	mu   sync.Mutex
	next time.Duration // when the next byte is due
}

// wait waits until n bytes may be sent; false if the run ended first.
func (p *pacer) wait(now time.Duration, n int, stop <-chan struct{}) bool {
	if p.rate <= 0 {
		return true
	}
	p.mu.Lock()
	p.next = max(p.next, now-tick/5)
	d := p.next - now
	p.next += time.Duration(float64(n) / p.rate * float64(time.Second))
	p.mu.Unlock()
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}
