package engine

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

// never is a place in a datum that is not reached.
const never = int64(math.MaxInt64)

// asked is a request as its peer sees it.
type asked struct {
	datum        int
	size         int64 // of the datum
	offset, want int64 // want bytes from offset on
	critical     bool
	nth          int           // of this peer's requests, from 0 on
	at           time.Duration // since the start
}

// script is what a peer does to one reply: all rules that hold, together.
type script struct {
	delay   time.Duration
	rate    float64 // bytes per second, 0 no limit
	from    int64   // where it holds: from inclusive, to exclusive
	to      int64
	burst   int64 // 0 no pacing
	silence time.Duration
	stalls  []stall // by place
	how     string  // of the failure
	failAt  int64
	fills   []scenario.Fill
}

type stall struct {
	at    int64
	pause time.Duration
}

// draw is a number in [0, 1) for one thing about one request. Everything that is
// random about a peer is drawn so: by who, which and what, and not by when, which
// is another with each chooser.
func draw(seed uint64, peer string, nth, what int) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(peer))
	x := h.Sum64() ^ seed*0x9e3779b97f4a7c15 ^ uint64(nth)*0xbf58476d1ce4e5b9 ^ uint64(what)*0x94d049bb133111eb
	for range 2 { // splitmix64's finish
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return float64(x>>11) / (1 << 53)
}

// newScript puts together what a peer does to a request.
func newScript(seed uint64, peer string, rules []scenario.Rule, a asked) script {
	s := script{failAt: never}
	for i, r := range rules {
		u := func(what int) float64 { return draw(seed, peer, a.nth, i*8+what) }
		if holds(r.When, a, u(0)) {
			s.add(r.Do, a, u)
		}
	}
	slices.SortFunc(s.stalls, func(a, b stall) int { return int(a.at - b.at) })
	return s
}

// add adds the mechanisms of a rule.
func (s *script) add(d scenario.Do, a asked, u func(int) float64) {
	s.delay += d.Delay.At(u(1))
	if r := d.Rate.BytesPerSecond(); r > 0 && (s.rate == 0 || r < s.rate) {
		s.rate, s.from, s.to = r, d.RateFrom.Of(a.size), never
		if d.RateTo != nil {
			s.to = d.RateTo.Of(a.size)
		}
	}
	if d.Pace != nil {
		s.burst, s.silence = int64(d.Pace.Burst), d.Pace.Silence.At(u(2))
	}
	for i, st := range d.Stalls {
		s.stalls = append(s.stalls, stall{st.At.Of(a.size), st.For.At(u(4 + i))})
	}
	if f := d.Fail; f != nil && f.At.Of(a.size) < s.failAt {
		s.how, s.failAt = f.How, f.At.Of(a.size)
	}
	if d.Fill != nil {
		s.fills = append(s.fills, *d.Fill)
	}
}

// holds says whether a condition does, given a draw for its share.
func holds(w scenario.When, a asked, u float64) bool {
	return all(w, a, u) != w.Not
}

func all(w scenario.When, a asked, u float64) bool {
	at := scenario.Time(a.at)
	switch {
	case w.Critical != nil && *w.Critical != a.critical,
		a.nth < w.AfterFetches, w.UntilFetches > 0 && a.nth >= w.UntilFetches,
		at < w.After, w.Until > 0 && at >= w.Until,
		w.Share > 0 && u >= float64(w.Share),
		w.Every > 0 && (a.nth+1)%w.Every != 0:
		return false
	}
	if s := w.Sizes; s != nil {
		return a.size >= int64(s.From) && (s.To == 0 || a.size < int64(s.To))
	}
	return true
}

// step is what to do once the bytes before a place were written: wait, and then
// write at most so many. None to write is the place where it fails. The delay
// before the first byte is not among the pauses.
func (s *script) step(place int64, first bool) (pause time.Duration, most int64) {
	if s.burst > 0 && !first && place%s.burst == 0 {
		pause += s.silence
	}
	most = s.failAt - place
	for _, st := range s.stalls {
		switch {
		case st.at == place:
			pause += st.pause
		case st.at > place:
			most = min(most, st.at-place)
		}
	}
	if s.burst > 0 {
		most = min(most, s.burst-place%s.burst)
	}
	return pause, max(most, 0)
}

// due is how long after the request, less pauses, the byte at a place may go in a
// reply that begins at another.
func (s *script) due(begin, place int64) time.Duration {
	if s.rate == 0 {
		return 0
	}
	limited := max(0, min(place, s.to)-max(begin, s.from))
	return time.Duration(float64(limited) / s.rate * float64(time.Second))
}

// piece is how much is written at once from a place on: of what a rate limits,
// 50 ms of it.
func (s *script) piece(place int64) int64 {
	switch {
	case s.rate == 0 || place >= s.to:
		return never
	case place < s.from:
		return s.from - place
	}
	return min(s.to-place, max(1, int64(s.rate/20)))
}

// honest says that it does nothing to the reply.
func (s *script) honest() bool {
	return s.delay == 0 && s.rate == 0 && s.burst == 0 && len(s.stalls) == 0 && s.failAt == never
}
