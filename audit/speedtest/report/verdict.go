package report

// Bar is the error within which a measured capacity is taken for right: FlashFlow found 95 % of
// measurements within 11 % [1]. A claim is held to the same, so that nobody is named for an error that
// may be ours. Larger names fewer.
const Bar = 0.11

// Verdict says what a test makes of what a peer advertises.
type Verdict string

// The verdicts. Overstated is the one that hurts others: the load goes where it can't be carried.
const (
	True        Verdict = "true"        // within Bar
	Understated Verdict = "understated" // can do more than it says
	Overstated  Verdict = "overstated"  // says more than it can do
	Untold      Verdict = "untold"      // says nothing, or was not measured
	Undecided   Verdict = "undecided"   // says more than a lower bound, and may be right
)

// Judge holds a claim against a capacity, both in bytes per second and 0 if not known.
func Judge(claimed, capacity float64, lowerBound bool) Verdict {
	switch {
	case claimed <= 0 || capacity <= 0:
		return Untold
	case claimed < capacity*(1-Bar):
		return Understated
	case lowerBound:
		return Undecided
	case claimed > capacity/(1-Bar):
		return Overstated
	default:
		return True
	}
}

// Row is one peer in the report.
type Row struct {
	Name          string  `json:"name"`
	Outcome       Outcome `json:"outcome"`
	Why           string  `json:"why,omitempty"` // of a refusal or failure, the last
	Capacity      float64 `json:"capacity_bytes_per_second"`
	LowerBound    bool    `json:"lower_bound"`
	LimitedBy     Limit   `json:"limited_by,omitempty"`
	KnownCapacity float64 `json:"known_capacity_bytes_per_second,omitempty"`
	// MeasuredError is capacity/known - 1: the test's own error, where the truth is known.
	MeasuredError float64 `json:"measured_error,omitempty"`
	Verdict       Verdict `json:"verdict"` // on what it advertises
	// After is what it advertises after the test, 0 if not known.
	After float64 `json:"advertised_after_bytes_per_second"`
	// Errors has what it claimed, by claim; those not known are left out.
	Errors []RowError `json:"errors"`
}

// RowError is how far one claim of one peer is off.
type RowError struct {
	Claim         Claim   `json:"claim"`
	Claimed       float64 `json:"claimed_bytes_per_second"`
	CapacityError float64 `json:"relay_capacity_error"`
	WeightError   float64 `json:"relay_weight_error"`
}

// Error returns what a row says of a claim, false if it is not known.
func (r *Row) Error(c Claim) (RowError, bool) {
	for _, e := range r.Errors {
		if e.Claim == c {
			return e, true
		}
	}
	return RowError{}, false
}

func newRow(p *Peer) Row {
	r := Row{
		Name: p.Name, Outcome: p.Outcome, Why: p.why(), Capacity: p.Capacity, LowerBound: p.LowerBound,
		LimitedBy: p.LimitedBy, KnownCapacity: p.KnownCapacity,
		Verdict: Judge(Advertised.Of(p), p.Capacity, p.LowerBound), Errors: []RowError{},
	}
	if f, ok := p.at(After); ok {
		r.After = float64(f.Advertised)
	}
	if r.KnownCapacity > 0 && r.Capacity > 0 {
		r.MeasuredError = r.Capacity/r.KnownCapacity - 1
	}
	return r
}

// why is the last reason that a run gave for having no figure.
func (p *Peer) why() string {
	if p.Outcome == Measured {
		return ""
	}
	for i := len(p.Runs) - 1; i >= 0; i-- {
		r := &p.Runs[i]
		if r.Refusal != nil {
			return r.Refusal.Code
		}
		if r.Error != "" {
			return r.Error
		}
	}
	return ""
}
