package audit

import (
	"math"
	"time"
)

// Outcome says how a record was taken.
type Outcome uint8

// The outcomes.
const (
	// None: there was no record; the verdict was asked for.
	None Outcome = iota
	// Judged: the record was held against the threshold, and is part of the baseline.
	Judged
	// Censored: the fetch failed. It may count against the peer, never for it.
	Censored
	// Unclaimed: there was no claim to hold it against.
	Unclaimed
	// Unsupported: the fetch was larger than CoverageFactor times what the claim rests on.
	Unsupported
	// Void: more than OursMax of it was our own doing. Neither a residual, nor to be credited as a
	// completion.
	Void
	// Held: we suspect ourselves at present. Nothing moves.
	Held

	outcomeCount
)

var outcomeNames = [outcomeCount]string{"none", "judged", "censored", "unclaimed", "unsupported", "void", "held"}

// String returns the name of the outcome in lower case.
func (o Outcome) String() string {
	if o >= outcomeCount {
		return "unknown"
	}
	return outcomeNames[o]
}

// audited says whether a record moves charts.
func (o Outcome) audited() bool { return o == Judged || o == Censored }

// residualMax bounds a residual: no fetch that lasts is further from its claim in any way that
// matters.
const residualMax = 1e6

// weighed is a record taken apart. Times are those of the record, cleaned.
type weighed struct {
	outcome  Outcome
	claim    time.Duration
	actual   time.Duration // less what was ours
	late     time.Duration // the first byte's excess
	served   time.Duration // actual less late
	moved    time.Duration // served less the silence that was the path's
	allowed  time.Duration // an excess up to this is nobody's fault
	errorBar time.Duration
	common   float64
}

// weigh takes a record apart. It needs no state.
func (c *Config) weigh(r *Record) weighed {
	w := weighed{outcome: c.outcome(r), claim: sane(r.Claim), common: r.CommonMode}
	if math.IsNaN(w.common) || math.IsInf(w.common, 0) {
		w.common = 0
	}
	if w.outcome == Void || w.outcome == Unclaimed {
		w.actual = sane(r.Actual)
		return w
	}
	rtt := sane(r.BaseRTT)
	w.actual = max(sane(r.Actual)-sane(r.Ours), 0)
	w.late = min(r.lateness(rtt), w.actual)
	w.served = w.actual - w.late
	w.moved = w.served
	if r.Echoes == EchoesStopped {
		w.moved = max(w.served-sane(r.Stalled), 0)
	}
	w.allowed = c.Slack + time.Duration(c.SlackRTTs*float64(rtt))
	w.errorBar = min(sane(r.ClaimError), time.Duration(c.ErrorBarMax*float64(w.claim)))
	return w
}

// sane bounds a time, so that no sum of them overflows.
func sane(d time.Duration) time.Duration {
	return min(max(d, 0), 365*24*time.Hour)
}

// outcome says how a record is to be taken.
func (c *Config) outcome(r *Record) Outcome {
	switch {
	case r.Held:
		return Held
	case r.Actual > 0 && float64(r.Ours) > c.OursMax*float64(r.Actual):
		return Void
	case r.Claim <= 0 || r.Actual < 0:
		return Unclaimed
	case r.Size/c.CoverageFactor > r.Coverage:
		return Unsupported
	case r.Failed:
		return Censored
	}
	return Judged
}

// lateness returns how much later than claimed the first byte came. Where a fetch failed and none
// came, all of it was waiting for it.
func (r *Record) lateness(rtt time.Duration) time.Duration {
	ttfb, expected := sane(r.TTFB), sane(r.ExpectedTTFB)
	if expected == 0 {
		expected = rtt
	}
	if ttfb == 0 && r.Failed {
		ttfb = sane(r.Actual) - sane(r.Ours)
	}
	return max(ttfb-expected, 0)
}

// over returns a time's residual: how far it exceeds the claim, in shares of it, beyond what all
// show at present.
func (w *weighed) over(t time.Duration) float64 {
	return min(float64(t)/float64(w.claim)-1-w.common, residualMax)
}

// excuse is why an excess is not counted.
type excuse uint8

const (
	noExcuse    excuse = iota
	noExcess           // there is none to excuse: the fetch was as good as claimed
	pathStall          // it is silence in which our echoes stopped too
	trifle             // smaller than the slack: too small to tell, either way
	withinError        // smaller than the claim's error bar
)

// exceeds says whether the fetch exceeds a limit, or what excuses it.
func (w *weighed) exceeds(limit float64) excuse {
	switch excess := w.moved - w.claim; {
	case w.over(w.served) <= limit:
		return noExcess
	case w.over(w.moved) <= limit:
		return pathStall
	case excess <= w.allowed:
		return trifle
	case excess <= w.errorBar:
		return withinError
	}
	return noExcuse
}

// credit is the sign of a fetch that did not exceed: none if it failed, since what it would have
// taken is not known.
func (w *weighed) credit() sign {
	if w.outcome == Censored {
		return silent
	}
	return miss
}

// overclaims is the sign on the chart of claims.
func (w *weighed) overclaims(limit float64) sign {
	switch w.exceeds(limit) {
	case noExcuse:
		return hit
	case noExcess:
		return w.credit()
	default:
		return silent
	}
}

// withholds is the sign on the punitive chart: a gross excess counts only where the echoes say that
// the peer was alive, and the kernel does not say that the path lost packets.
func (w *weighed) withholds(limit float64, r *Record) sign {
	switch w.exceeds(limit) {
	case noExcuse:
		if r.Echoes == EchoesUnknown || r.Loss == LossSeen {
			return silent
		}
		return hit
	case noExcess:
		return w.credit()
	default:
		return silent
	}
}

// stallsOnPath is the sign on the path's chart: the path explains an excess, gross or not.
func (w *weighed) stallsOnPath(limit, gross float64, r *Record) sign {
	small, large := w.exceeds(limit), w.exceeds(gross)
	if small == pathStall || large == pathStall || large == noExcuse && r.Loss == LossSeen {
		return hit
	}
	return w.credit()
}

// startsSlowly is the sign on the chart of first bytes.
func (w *weighed) startsSlowly(limit float64) sign {
	switch {
	case float64(w.late) <= limit*float64(w.claim):
		return w.credit()
	case w.late <= w.allowed:
		return silent
	}
	return hit
}

// misses is the sign on the critical chart: a gross excess by whatever cause, first byte and path
// too, or a failure however quick. Late is late, and all that follows is a second copy next time.
func (w *weighed) misses(gross float64, r *Record) sign {
	switch {
	case !r.Critical:
		return silent
	case r.Failed:
		return hit
	case w.over(w.actual) <= gross:
		return miss
	case w.actual-w.claim <= w.allowed:
		return silent
	}
	return hit
}

// holdsEchoes is the sign on the chart of held echoes.
func (c *Config) holdsEchoes(r *Record) sign {
	switch {
	case r.KernelRTT <= 0 || r.AppRTT <= 0:
		return silent
	case sane(r.AppRTT) > c.HoldingSlack+time.Duration(c.HoldingFactor*float64(sane(r.KernelRTT))):
		return hit
	}
	return miss
}

// contradicts says whether a record's readings can't all be true: the first byte came before the
// round trip the path is said to need, by more than a clock's grain. The base is then inflated, by
// an old route or by held echoes. It is a flag for people; nothing rests on it.
func (r *Record) contradicts() bool {
	return r.TTFB > 0 && r.TTFB+2*time.Millisecond < r.BaseRTT-r.BaseRTT/10
}
