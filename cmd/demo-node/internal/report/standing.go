package report

import "github.com/assay-mux/assay/ranking"

// Standing is what the ranker thinks of a peer, by ranking.Standing.
type Standing struct {
	Peer            string   `json:"peer"`
	Group           string   `json:"group"`
	ExpectedSeconds float64  `json:"expected_seconds"` // for the size asked about: what ranks
	MeasuredShare   float64  `json:"measured_share"`   // of it, by completed fetches; the rest is predicted
	Calibration     float64  `json:"calibration"`
	Penalty         float64  `json:"penalty"`
	BaseRTTSeconds  *float64 `json:"base_rtt_seconds"`
	MbitPerSecond   *float64 `json:"mbit_per_second"`
	CoverageBytes   int64    `json:"coverage_bytes"`
	Picked          int      `json:"picked"`
	Completions     int      `json:"completions"`
	Failures        int      `json:"failures"`
	Bytes           int64    `json:"bytes"`
	Demoted         bool     `json:"demoted"`
	Dropped         bool     `json:"dropped"`
	Verdict         string   `json:"verdict"`
	VerdictReason   string   `json:"verdict_reason"`
}

// NewStanding reports a standing.
func NewStanding(s ranking.Standing) Standing {
	out := Standing{
		Peer: s.Peer, Group: string(s.Group), ExpectedSeconds: Seconds(s.Expected), MeasuredShare: round(s.Measured),
		Calibration: round(s.Calibration), Penalty: round(s.Penalty), BaseRTTSeconds: known(s.BaseRTT),
		CoverageBytes: s.Coverage, Picked: s.Picked, Completions: s.Completions, Failures: s.Failures, Bytes: s.Bytes,
		Demoted: s.Demoted, Dropped: s.Dropped, Verdict: s.Verdict.Kind.String(), VerdictReason: s.Verdict.Reason(),
	}
	if s.Rate > 0 {
		mbit := round(8 / float64(s.Rate) / 1e6)
		out.MbitPerSecond = &mbit
	}
	return out
}

// state is the standing in a word.
func (s Standing) state() string {
	switch {
	case s.Demoted:
		return "demoted"
	case s.Dropped:
		return "to be dropped"
	case s.Completions == 0:
		return "unproven"
	}
	return "good"
}
