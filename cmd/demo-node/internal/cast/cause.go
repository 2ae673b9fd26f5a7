package cast

import (
	"fmt"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// Cause is why a peer ranks where it does, from what was measured alone.
type Cause string

// The causes.
const (
	Delivery  Cause = "delivery"        // what it delivered, and nothing else
	Silences  Cause = "silences"        // it kept falling silent in mid-fetch
	Trickle   Cause = "trickle"         // its rate collapsed, or its fetches were hopeless
	Overclaim Cause = "overclaims"      // the audit's verdict
	Withheld  Cause = "withholding"     // likewise
	Lie       Cause = "proven lie"      // likewise
	Other     Cause = "another verdict" // any other of the audit's
)

// tally is what was seen of a member's fetches in flight.
type tally struct {
	fetches  int // that ended, or were given up
	troubled map[ranking.Trouble]int
}

// often says whether so many of all fetches are at least half.
func (t *tally) often(n int) bool { return n > 0 && 2*n >= t.fetches }

// cause says why a peer ranks where it does.
func (t *tally) cause(s ranking.Standing) Cause {
	switch s.Verdict.Kind {
	case audit.ProvenLie:
		return Lie
	case audit.Withholding:
		return Withheld
	case audit.Overclaims:
		return Overclaim
	case audit.SlowToStart, audit.Path, audit.NeverAlone:
		return Other
	case audit.Clear:
	}
	switch {
	case t.often(t.troubled[ranking.Stalled]):
		return Silences
	case s.Dropped, t.often(t.collapses()):
		return Trickle
	}
	return Delivery
}

// collapses counts the fetches that went on, and far too slowly.
func (t *tally) collapses() int {
	return max(t.troubled[ranking.Collapsed], t.troubled[ranking.Hopeless])
}

// reason is the cause in a sentence, with its figures.
func (t *tally) reason(s ranking.Standing) string {
	switch t.cause(s) {
	case Silences:
		return fmt.Sprintf("fell silent in mid-fetch in %d of %d fetches; %s is what it delivers", t.troubled[ranking.Stalled], t.fetches, rate(s))
	case Trickle:
		return fmt.Sprintf("its rate collapsed in %d of %d fetches; %s is what it delivers", t.collapses(), t.fetches, rate(s))
	case Delivery:
		return fmt.Sprintf("by %d completed fetches; nothing stands against it", s.Completions)
	case Overclaim, Withheld, Lie, Other:
	}
	return s.Verdict.Reason()
}

// rate is the measured rate as people read it.
func rate(s ranking.Standing) string {
	if s.Rate <= 0 {
		return "nothing"
	}
	return fmt.Sprintf("%.2f Mbit/s", 8/float64(s.Rate)/1e6)
}
