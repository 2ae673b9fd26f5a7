package report

import "slices"

// Claim names one of the figures that is held against the capacity.
type Claim string

// The claims: what the peer said before the test, and what the tester had estimated by itself.
const (
	Advertised           Claim = "advertised"
	Observed             Claim = "observed"
	ObservedWithoutTests Claim = "observed_without_tests"
	PassiveEstimate      Claim = "passive_estimate"
)

// claims are all of them, in the order of the report.
func claims() []Claim {
	return []Claim{Advertised, Observed, ObservedWithoutTests, PassiveEstimate}
}

// Of returns what a claim says of a peer, in bytes per second, 0 if it says nothing.
func (c Claim) Of(p *Peer) float64 {
	if c == PassiveEstimate {
		if p.Passive == nil {
			return 0
		}
		return p.Passive.Rate
	}
	f, _ := p.Claim()
	switch c {
	case Advertised:
		return float64(f.Advertised)
	case Observed:
		return float64(f.Observed)
	case ObservedWithoutTests:
		return float64(f.ObservedWithoutTests)
	default:
		return 0
	}
}

// Errors says how far one claim is off, by FlashFlow's names. Errors are signed: one below 0 means that
// more was claimed than is there.
type Errors struct {
	Claim Claim `json:"claim"`
	N     int   `json:"n"`
	// LeftOut are measured peers of whom the claim is not known.
	LeftOut int `json:"left_out"`
	// LowerBounds are peers that may have more than was measured, and so a larger error.
	LowerBounds int `json:"lower_bounds"`

	SumClaimed  float64 `json:"sum_claimed_bytes_per_second"`
	SumCapacity float64 `json:"sum_capacity_bytes_per_second"`
	// NetworkCapacityError is 1 - sum A / sum C.
	NetworkCapacityError    float64  `json:"network_capacity_error"`
	NetworkCapacityInterval Interval `json:"network_capacity_error_interval_95"`
	// NetworkWeightError is half the sum of |w - c|, w and c being shares of the sums: the part of the
	// load that goes to the wrong peer, 0 to 1.
	NetworkWeightError    float64  `json:"network_weight_error"`
	NetworkWeightInterval Interval `json:"network_weight_error_interval_95"`

	RelayCapacityError Summary       `json:"relay_capacity_error"` // 1 - A/C of each peer
	RelayWeightError   Summary       `json:"relay_weight_error"`   // w/c of each peer
	Quartiles          []Quartile    `json:"quartiles"`            // by capacity, none with fewer than 20 peers
	Correlations       []Correlation `json:"correlations"`
}

// Quartile is a quarter of the peers by capacity, and the relay capacity errors in it.
type Quartile struct {
	LowCapacity  float64   `json:"low_capacity_bytes_per_second"`
	HighCapacity float64   `json:"high_capacity_bytes_per_second"`
	Summary      Summary   `json:"relay_capacity_error"`
	Errors       []float64 `json:"-"` // ascending, for a plot
}

// fewestForQuartiles is five to a quarter: of fewer its quantiles would be made up.
const fewestForQuartiles = 20

func quartiles(s sample) []Quartile {
	n := len(s.capacity)
	if n < fewestForQuartiles {
		return nil
	}
	by, relative := order(s.capacity).by, s.relative()
	var all []Quartile
	for k := range 4 {
		part := by[k*n/4 : (k+1)*n/4]
		q := Quartile{LowCapacity: s.capacity[part[0]], HighCapacity: s.capacity[part[len(part)-1]]}
		for _, i := range part {
			q.Errors = append(q.Errors, relative[i])
		}
		slices.Sort(q.Errors)
		q.Summary = Summarise(q.Errors)
		all = append(all, q)
	}
	return all
}

// assess makes the errors of one claim.
func assess(claim Claim, s sample, o Options) Errors {
	e := Errors{
		Claim: claim, N: len(s.figure), LeftOut: s.leftOut, LowerBounds: s.lowerBound,
		SumClaimed: sum(s.figure), SumCapacity: sum(s.capacity),
		RelayCapacityError: Summarise(s.relative()), RelayWeightError: Summarise(s.weights()),
		Quartiles: quartiles(s),
	}
	once := ones(e.N)
	e.NetworkCapacityError, e.NetworkWeightError = s.network(once)
	cor := newCorrelator(s)
	rho := cor.all(once)
	var capacityErrors, weightErrors []float64
	var resampled []coefficients
	resample(e.N, o.Resamples, o.Seed, func(count []int) {
		c, w := s.network(count)
		capacityErrors, weightErrors = append(capacityErrors, c), append(weightErrors, w)
		resampled = append(resampled, cor.all(count))
	})
	e.NetworkCapacityInterval, e.NetworkWeightInterval = interval(capacityErrors), interval(weightErrors)
	e.Correlations = correlate(e.N, rho, resampled, null(s, o.Resamples, o.Seed))
	return e
}
