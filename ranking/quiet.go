package ranking

import (
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

const (
	// quietLeast and quietRTTs base round trips are the silence from which a fetch counts as stalled in
	// its record: above the first timeouts of a lost packet, below what a person notices.
	quietLeast = 500 * time.Millisecond
	quietRTTs  = 3
)

// quietAfter is the silence from which the echoes matter.
func (f *Fetch) quietAfter() time.Duration {
	return max(quietLeast, quietRTTs*f.pick.path.BaseRTT)
}

// quiet is the silence inside a fetch, by what our cookies did meanwhile. The zero value is none.
type quiet struct {
	now                      audit.Echoes // in the silence of now; Unknown until looked at
	flowed, stopped, unknown time.Duration
}

// look takes a reading in the silence of now. Echoes of cookies sent after it began prove path and
// process alive; payload of another fetch on the same connection does too.
func (q *quiet) look(silence time.Duration, r burst.Reading) {
	switch {
	case r.EchoAge > 0 && r.EchoAge < silence, r.Silence > 0 && r.Silence < silence/2:
		q.now = audit.EchoesFlowed
	case r.EchoAge > 0:
		q.now = audit.EchoesStopped
	}
}

// over ends the silence of now. Before the first byte it is no stall.
func (q *quiet) over(silence, after time.Duration, first bool) {
	was := q.now
	q.now = audit.EchoesUnknown
	if silence < after || !first {
		return
	}
	switch was {
	case audit.EchoesFlowed:
		q.flowed += silence
	case audit.EchoesStopped:
		q.stopped += silence
	case audit.EchoesUnknown:
		q.unknown += silence
	}
}

// report is what the audit is told. With some stalls unseen it errs for the peer.
func (q *quiet) report() (time.Duration, audit.Echoes) {
	switch {
	case q.stopped > 0:
		return q.stopped, audit.EchoesStopped
	case q.unknown > q.flowed:
		return q.unknown + q.flowed, audit.EchoesUnknown
	}
	return q.flowed, audit.EchoesFlowed
}

// pace is how fast a fetch goes at present: over one to two spans of at least paceSpan.
type pace struct {
	from, at       time.Duration // the beginning of the last whole span, and of this one
	fromGot, atGot int64
}

const paceSpan = time.Second

func (p *pace) add(now time.Duration, got int64) {
	if now-p.at >= paceSpan {
		p.from, p.fromGot = p.at, p.atGot
		p.at, p.atGot = now, got
	}
}

// skip leaves time out that has passed.
func (p *pace) skip(d time.Duration) {
	p.from += d
	p.at += d
}

// rate is in B/s, and over how long it was measured.
func (p *pace) rate(now time.Duration, got int64) (float64, time.Duration) {
	span := now - p.from
	if span <= 0 {
		return 0, 0
	}
	return float64(got-p.fromGot) / span.Seconds(), span
}
