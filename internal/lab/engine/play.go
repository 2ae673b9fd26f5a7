package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

// Document is all that came of a scenario: what the bars are over, what the plots
// are made from, and what is written to files. Names are stable.
type Document struct {
	Scenario string   `json:"scenario"`
	About    string   `json:"about"`
	Covers   []string `json:"covers"`
	Seed     uint64   `json:"seed"`

	Summary Summary     `json:"summary"`
	Bars    []BarResult `json:"bars"`
	// Pass says that all bars hold and nothing was violated.
	Pass bool `json:"pass"`

	// Broken is why there is nothing else of it: the run crashed, hung or could not begin.
	// "" if it came to its end.
	Broken string `json:"broken,omitempty"`

	// Assay is our own run, Oracle the yardstick's, Without ours again without the
	// peers that the file names, Rivals those of other choosers by name.
	Assay   *Result            `json:"assay"`
	Oracle  *Result            `json:"oracle"`
	Without *Result            `json:"without,omitempty"`
	Rivals  map[string]*Result `json:"rivals,omitempty"`
}

// Broken is the document of a scenario that did not come to its end: it fails.
func Broken(s *scenario.Scenario, seed uint64, why error) *Document {
	return &Document{
		Scenario: s.Name, About: s.About, Covers: s.Covers, Seed: seed, Broken: why.Error(),
		Bars: []BarResult{}, Summary: Summary{DemotedAfter: -1},
	}
}

// Summary is what is said of a scenario in a line.
type Summary struct {
	// BadPicks are the user's primary picks of adversaries, BadShare their share of
	// all; BadLate those after an adversary's second completed transfer.
	BadPicks int     `json:"bad_picks"`
	BadLate  int     `json:"bad_late"`
	BadShare float64 `json:"bad_share"`
	// Regret is the mean wait of the user's fetches by the oracle's, less 1; P95Regret
	// likewise of the 95th percentile.
	Regret    float64 `json:"regret"`
	P95Regret float64 `json:"p95_regret"`
	// DemotedAfter is how many transfers of an adversary had ended when it was
	// demoted: the most of all that were, -1 if none was. Undemoted counts those that
	// never were.
	DemotedAfter int `json:"demoted_after"`
	Undemoted    int `json:"undemoted"`
	// FalseVerdicts counts honest peers that were ever convicted or demoted,
	// FalseOverclaims those that were ever said to overclaim, which is no fault.
	FalseVerdicts   int `json:"false_verdicts"`
	FalseOverclaims int `json:"false_overclaims"`

	HedgedShare float64 `json:"hedged_share"`
	TrialShare  float64 `json:"trial_share"`
	ExtraShare  float64 `json:"extra_share"`
	// MakespanRatio is the time of the user's part by that of the run without the
	// peers the file names, WaitRatio the mean wait likewise; 0 where there was none.
	MakespanRatio float64 `json:"makespan_ratio"`
	WaitRatio     float64 `json:"wait_ratio"`
	Violations    int     `json:"violations"`
}

// PlayOptions say what is played.
type PlayOptions struct {
	Seed uint64
	// Rivals are run too, by name.
	Rivals map[string]New
	// Within runs each run, in a bubble say, with a context of that bubble; nil just
	// runs it with that of Play.
	Within func(run func(context.Context))
	// Observe is told what happens in Assay's own run.
	Observe func(Event)
	// New makes the chooser of Assay's own run, for whoever wants to look into it;
	// NewAssay where it is nil.
	New New
	// Together lets the runs go on at the same time, in worlds of their own: in real
	// time that takes as long as the longest. It does not go with a Within of bubbles,
	// which take turns anyway, and says that time is real.
	Together bool
}

// Play acts a scenario out by Assay, by the oracle and by whomever else the
// options or the file ask for, and judges it. The errors are those of Run.
func Play(ctx context.Context, s *scenario.Scenario, o PlayOptions) (*Document, error) {
	d := &Document{Scenario: s.Name, About: s.About, Covers: s.Covers, Seed: o.Seed, Rivals: map[string]*Result{}}
	runs := []playing{
		{"assay", Options{New: o.New, Observe: o.Observe}, func(r *Result) { d.Assay = r }},
		{"oracle", Options{New: NewOracle}, func(r *Result) { d.Oracle = r }},
	}
	if len(s.Without) > 0 {
		runs = append(runs, playing{"without", Options{New: NewAssay, Without: s.Without}, func(r *Result) { d.Without = r }})
	}
	for name, n := range o.Rivals {
		runs = append(runs, playing{name, Options{New: n}, func(r *Result) { d.Rivals[name] = r }})
	}
	if err := o.playAll(ctx, s, runs); err != nil {
		return nil, err
	}
	d.judge(s)
	return d, nil
}

// playing is one run of a play.
type playing struct {
	name string
	o    Options
	keep func(*Result)
}

// playAll plays the runs, in turn or together. The first error ends them all.
func (o PlayOptions) playAll(ctx context.Context, s *scenario.Scenario, runs []playing) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]*Result, len(runs))
	play := func(i int) {
		r := runs[i]
		r.o.Seed, r.o.RealTime = o.Seed, o.Together
		var err error
		if results[i], err = within(ctx, s, r.o, o.Within); err != nil {
			cancel(fmt.Errorf("%s, by %s: %w", s.Name, r.name, err))
		}
	}
	var wg sync.WaitGroup
	for i := range runs {
		switch {
		case ctx.Err() != nil:
		case o.Together:
			wg.Go(func() { play(i) })
		default:
			play(i)
		}
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, r := range runs {
		r.keep(results[i])
	}
	return nil
}

func within(ctx context.Context, s *scenario.Scenario, o Options, in func(func(context.Context))) (res *Result, err error) {
	if in == nil {
		return Run(ctx, s, o)
	}
	in(func(ctx context.Context) { res, err = Run(ctx, s, o) })
	return res, err
}

// judge sums up and holds the document to the bars.
func (d *Document) judge(s *scenario.Scenario) {
	d.summarise()
	d.Bars = Judge(d, s.Bars)
	d.Pass = d.Summary.Violations == 0
	for _, b := range d.Bars {
		d.Pass = d.Pass && b.Pass
	}
}

func (d *Document) summarise() {
	s := &d.Summary
	a := d.Assay
	s.HedgedShare, s.TrialShare, s.ExtraShare = a.Bytes.HedgedShare, a.Bytes.TrialShare, a.Bytes.ExtraShare
	s.Regret, s.P95Regret = regret(a.Wait.Mean, d.Oracle.Wait.Mean), regret(a.Wait.P95, d.Oracle.Wait.P95)
	if d.Without != nil {
		s.MakespanRatio, s.WaitRatio = ratio(a.Makespan, d.Without.Makespan), ratio(a.Wait.Mean, d.Without.Wait.Mean)
		s.Violations += len(d.Without.Violations)
	}
	s.Violations += len(a.Violations) + len(d.Oracle.Violations)
	for _, r := range d.Rivals {
		s.Violations += len(r.Violations)
	}
	s.DemotedAfter = -1
	for _, p := range a.Peers {
		s.peer(p)
	}
}

// peer adds what is said of one.
func (s *Summary) peer(p *PeerResult) {
	if !p.Bad {
		if p.Ever.Withholding || p.Ever.ProvenLie || p.Demoted {
			s.FalseVerdicts++
		}
		if p.Ever.Overclaims {
			s.FalseOverclaims++
		}
		return
	}
	s.BadPicks += p.Picks.User
	s.BadLate += p.Picks.UserLate
	s.BadShare += p.UserShare
	if p.Demoted {
		s.DemotedAfter = max(s.DemotedAfter, p.DemotedAfter)
	} else {
		s.Undemoted++
	}
}

func regret(ours, best float64) float64 {
	if best <= 0 {
		return 0
	}
	return ours/best - 1
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
