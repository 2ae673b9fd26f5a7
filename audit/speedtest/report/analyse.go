package report

import "cmp"

// Options says how chance is drawn.
type Options struct {
	// Resamples is how often each interval and each null is drawn. More is smoother and slower: with
	// 1,000 the ends of an interval shake by a few hundredths of its width.
	Resamples int
	// Seed makes the same intervals of the same results.
	Seed uint64
}

// DefaultOptions are 1,000 resamples.
func DefaultOptions() Options { return Options{Resamples: 1000, Seed: 1} }

// Analysis is the report's content. Its JSON names are stable.
type Analysis struct {
	CapacityFrom CapacitySource `json:"capacity_from"`
	Tester       string         `json:"tester,omitempty"`
	Shortened    bool           `json:"shortened"`
	Counts       Counts         `json:"counts"`
	Cost         Cost           `json:"cost"`
	Totals       []Total        `json:"totals"` // by phase, those with figures
	Change       Change         `json:"change"`
	Errors       []Errors       `json:"errors"` // by claim, those that are known of somebody
	Rows         []Row          `json:"peers"`  // in the order of the document
	Series       []Point        `json:"series"`
	Tested       Span           `json:"tested"`
}

// Counts says how many peers ended how.
type Counts struct {
	Peers       int `json:"peers"`
	Measured    int `json:"measured"`
	LowerBounds int `json:"lower_bounds"` // of the measured
	OptedOut    int `json:"opted_out"`
	Refused     int `json:"refused"`
	Failed      int `json:"failed"`
	Pending     int `json:"pending"`
	Overstated  int `json:"overstated"` // say more than they can do
	Understated int `json:"understated"`
}

// Cost is what the tests took.
type Cost struct {
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// Span is when the first test began and the last one ended, both 0 if that is not known.
type Span struct {
	From float64 `json:"from_unix_seconds"`
	To   float64 `json:"to_unix_seconds"`
}

// Analyse makes the report's content of results. It does not change them. The same results, options
// and order of peers give the same analysis. Time: about a second for 5,000 peers and each claim.
func Analyse(doc *Document, o Options) *Analysis {
	a := &Analysis{
		CapacityFrom: cmp.Or(doc.CapacityFrom, FromTest), Tester: doc.Tester, Shortened: doc.Shortened,
		Totals: totals(doc.Peers), Change: change(doc.Peers, o), Series: series(doc.Peers),
		Errors: []Errors{}, Rows: make([]Row, 0, len(doc.Peers)),
	}
	for i := range doc.Peers {
		row := newRow(&doc.Peers[i])
		a.Rows = append(a.Rows, row)
		a.Counts.add(&row)
		a.addRuns(doc.Peers[i].Runs)
	}
	for _, claim := range claims() {
		s := gather(doc.Peers, claim.Of)
		if len(s.peers) == 0 {
			continue
		}
		a.Errors = append(a.Errors, assess(claim, s, o))
		relative, weights := s.relative(), s.weights()
		for k, i := range s.peers {
			a.Rows[i].Errors = append(a.Rows[i].Errors, RowError{
				Claim: claim, Claimed: s.figure[k], CapacityError: relative[k], WeightError: weights[k],
			})
		}
	}
	return a
}

func (c *Counts) add(r *Row) {
	c.Peers++
	switch r.Outcome {
	case Measured:
		c.Measured++
	case OptedOut:
		c.OptedOut++
	case Refused:
		c.Refused++
	case Failed:
		c.Failed++
	default:
		c.Pending++
	}
	if r.Outcome == Measured && r.LowerBound {
		c.LowerBounds++
	}
	switch r.Verdict {
	case Overstated:
		c.Overstated++
	case Understated:
		c.Understated++
	default:
	}
}

func (a *Analysis) addRuns(runs []Run) {
	for _, r := range runs {
		a.Cost.Bytes += r.Bytes
		a.Cost.Seconds += r.Seconds
		if r.Outcome != Measured && r.Outcome != Failed {
			continue
		}
		a.Cost.Runs++
		if r.Started <= 0 {
			continue
		}
		if a.Tested.From == 0 || r.Started < a.Tested.From {
			a.Tested.From = r.Started
		}
		a.Tested.To = max(a.Tested.To, r.Started+r.Seconds)
	}
}
