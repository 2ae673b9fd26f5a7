package speedtest

import (
	"time"

	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

const (
	// atCap is the share of a cap from which on a rate is the cap's. Lower calls
	// more runs capped that were not.
	atCap = 0.9
	// busyCPU is the share of all our processors from which on we may have been
	// the limit: the rest goes to waiting for each other.
	busyCPU = 0.85
	// lateShare is the share of a run that our timers were late by from which on
	// the same holds.
	lateShare = 0.2
	// halfFull is the share of the room that windows give from which on streams are
	// added while a run starts: rates still grow then. allFull is the share from
	// which on a rate is taken to be theirs. Runs that they limit reach 0.86 to 1
	// of it, in virtual time, and yamux grants credit by halves.
	halfFull = 0.5
	allFull  = 0.7
	// fewSeconds are too few to make a median of, where the target ended the run.
	fewSeconds = 3
)

// watch adds up by how much timers are late, while the run goes: a machine that
// has no time for us is late with all that we do.
func (r *run) watch() {
	const nap, usual = 20 * time.Millisecond, 5 * time.Millisecond
	t := time.NewTimer(nap)
	defer t.Stop()
	for due := r.now() + nap; ; due = r.now() + nap {
		select {
		case <-r.stop:
			return
		case <-t.C:
		}
		if late := r.now() - due; late > usual {
			r.late.Add(int64(late - usual))
		}
		t.Reset(nap)
	}
}

// limit says what kept a run from being faster.
func (r *run) limit(out Run, seconds int) report.Limit {
	rate := out.Flow.Median
	switch {
	case r.cfg.Rate > 0 && rate >= atCap*float64(r.cfg.Rate):
		return report.ByOurCap
	case r.grant.Rate > 0 && rate >= atCap*float64(r.grant.Rate):
		return report.ByPeerCap
	case seconds < fewSeconds && r.ended == policy.Spent && r.cfg.Bytes > 0 && r.grant.Bytes >= r.cfg.Bytes:
		return report.ByOurCap
	case seconds < fewSeconds && r.ended == policy.Spent:
		return report.ByPeerCap
	case seconds < fewSeconds && r.ended != policy.Going:
		return report.ByUnknown
	case out.Busy >= busyCPU || time.Duration(r.late.Load()).Seconds() >= lateShare*out.Elapsed.Seconds():
		return report.ByCPU
	case r.room(rate) >= allFull:
		return report.ByWindow
	}
	return report.ByPeer
}
