package rivals

import (
	"slices"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// Near is how much worse than the best rival, as a share of its mean wait, Assay may
// be on a scenario without adversaries. It is the project's bar.
const Near = 0.02

// Equal is by how much two means may differ, as a share, and be the same: what rounding
// leaves of choices among peers that are alike.
const Equal = 0.0001

// Rank says how Assay does against the best rival.
type Rank string

// The ranks. With an adversary only Best will do, without one Within too.
const (
	Best   Rank = "best"
	Within Rank = "within 2 %"
	Worse  Rank = "worse"
)

// Figures are what came of one chooser in one run. Times are in seconds.
type Figures struct {
	Mean      float64 `json:"mean"` // of the waits of the user's fetches
	P95       float64 `json:"p95"`
	Regret    float64 `json:"regret"` // mean by the oracle's, less 1
	P95Regret float64 `json:"p95_regret"`
	// Failed counts fetches that nobody brought, Missed those after their deadline.
	Failed int `json:"failed"`
	Missed int `json:"missed"`
	// BadShare is the part of the user's primary picks that went to adversaries.
	BadShare float64 `json:"bad_share"`
	// Extra is what came beyond the bytes wanted, as a share of these.
	Extra float64 `json:"extra"`
}

// Round is one scenario by one seed: all choosers in the same world.
type Round struct {
	Seed uint64 `json:"seed"`
	// By is each chooser's figures by its name.
	By map[string]Figures `json:"by"`
	// Broken are checks of the lab itself that failed, and in whose run.
	Broken []string `json:"broken,omitempty"`
}

// NewRound sums up one scenario's runs by one seed, by the choosers' names. That of
// the oracle must be there.
func NewRound(seed uint64, runs map[string]*engine.Result) Round {
	r := Round{Seed: seed, By: make(map[string]Figures, len(runs))}
	yardstick := runs[Oracle].Wait
	for _, e := range Entrants() {
		run, ok := runs[e.Name]
		if !ok {
			continue
		}
		r.By[e.Name] = figures(run, yardstick)
		for _, v := range run.Violations {
			r.Broken = append(r.Broken, e.Name+": "+v.Peer+": "+v.What)
		}
	}
	return r
}

func figures(r *engine.Result, yardstick engine.Spread) Figures {
	f := Figures{
		Mean: r.Wait.Mean, P95: r.Wait.P95, Failed: r.Failed, Missed: r.Missed, Extra: r.Bytes.ExtraShare,
		Regret: over(r.Wait.Mean, yardstick.Mean), P95Regret: over(r.Wait.P95, yardstick.P95),
	}
	for _, p := range r.Peers {
		if p.Bad {
			f.BadShare += p.UserShare
		}
	}
	return f
}

// over is by which share a is more than b, 0 if that is unknown.
func over(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a/b - 1
}

// Row is one scenario, over its seeds.
type Row struct {
	Scenario string `json:"scenario"`
	// Adversary says that one acts, by the file's word.
	Adversary bool    `json:"adversary"`
	Rounds    []Round `json:"rounds"`

	// All is the mean of each chooser's figures over the seeds; counts are sums.
	All map[string]Figures `json:"all"`
	// Rival is the best one by mean wait, and Lead by which share Assay's is more;
	// negative is in our favour. P95Rival and P95Lead likewise.
	Rival    string  `json:"rival"`
	Lead     float64 `json:"lead"`
	P95Rival string  `json:"p95_rival"`
	P95Lead  float64 `json:"p95_lead"`
	// Least and Most are the extremes over the seeds of Assay's mean against that same
	// rival's: whether the lead is more than chance.
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	// Rank is by the mean wait, and Holds says whether it is what it should be.
	Rank  Rank `json:"rank"`
	Holds bool `json:"holds"`
}

// Compare sums a scenario's rounds up, of which there is at least one.
func Compare(s *scenario.Scenario, rounds []Round) Row {
	r := Row{Scenario: s.Name, Rounds: rounds, All: map[string]Figures{}}
	r.Adversary = slices.ContainsFunc(s.Peers, func(p scenario.Peer) bool { return p.Bad })
	for _, e := range Entrants() {
		r.All[e.Name] = mean(rounds, e.Name)
	}
	r.Rival, r.Lead = r.lead(func(f Figures) float64 { return f.Mean })
	r.P95Rival, r.P95Lead = r.lead(func(f Figures) float64 { return f.P95 })
	for i, round := range rounds {
		x := over(round.By[Assay].Mean, round.By[r.Rival].Mean)
		if i == 0 {
			r.Least, r.Most = x, x
		}
		r.Least, r.Most = min(r.Least, x), max(r.Most, x)
	}
	r.judge()
	return r
}

func (r *Row) judge() {
	switch {
	case r.Lead < Equal:
		r.Rank = Best
	case r.Lead <= Near:
		r.Rank = Within
	default:
		r.Rank = Worse
	}
	r.Holds = r.Rank == Best || r.Rank == Within && !r.Adversary
}

// mean is of one chooser's figures over the rounds.
func mean(rounds []Round, name string) Figures {
	var m Figures
	n := float64(len(rounds))
	for _, r := range rounds {
		f := r.By[name]
		m.Mean += f.Mean / n
		m.P95 += f.P95 / n
		m.Regret += f.Regret / n
		m.P95Regret += f.P95Regret / n
		m.BadShare += f.BadShare / n
		m.Extra += f.Extra / n
		m.Failed += f.Failed
		m.Missed += f.Missed
	}
	return m
}

// lead finds the best rival by a figure, the oracle being none, and by which share
// Assay's figure is more.
func (r *Row) lead(of func(Figures) float64) (rival string, lead float64) {
	for _, e := range Entrants() {
		if e.Name == Assay || e.Name == Oracle {
			continue
		}
		if rival == "" || of(r.All[e.Name]) < of(r.All[rival]) {
			rival = e.Name
		}
	}
	return rival, over(of(r.All[Assay]), of(r.All[rival]))
}
