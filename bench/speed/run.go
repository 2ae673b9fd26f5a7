package speed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/bench/stats"
)

// MinRounds is the least number of rounds on which a verdict is given.
const MinRounds = 15

// A Plan says what to measure and how long.
type Plan struct {
	Modes     []Mode // Bare among them
	Workloads []Workload
	Rounds    int
	// Target is about how long one measurement takes in the bare mode. Longer
	// ones are steadier, but more of them in the same time are worth more.
	Target time.Duration
	// Limit ends the run early, at the end of a round, once there are MinRounds.
	Limit time.Duration
	// Progress, if not nil, is told how many rounds are done.
	Progress func(done int)
}

// A Row is one mode under one workload.
type Row struct {
	Mode  string        `json:"mode"`
	Value stats.Summary `json:"value"` // in the table's unit
	Ratio stats.Summary `json:"ratio"` // to bare, of the same round
	// CPURatio is that of processor time per unit of work.
	CPURatio stats.Summary `json:"cpu_ratio"`
	Bar      *Bar          `json:"bar,omitempty"`
	Passed   *bool         `json:"passed,omitempty"`
}

// A Table is all modes under one workload.
type Table struct {
	Workload string `json:"workload"`
	Unit     string `json:"unit"`
	Rows     []Row  `json:"rows"`
}

// series are the readings of one workload: by mode, then by round.
type series struct {
	workload Workload
	amount   int
	readings map[string][]Reading
}

// Run measures as planned. Rounds that were cut short by ctx are left out.
func Run(ctx context.Context, p Plan) ([]Table, error) {
	all, err := calibrate(p)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for round := range p.Rounds {
		if ctx.Err() != nil || round >= MinRounds && p.Limit > 0 && time.Since(began) > p.Limit {
			break
		}
		for _, s := range all {
			if err := s.round(p.Modes); err != nil {
				return nil, err
			}
		}
		if p.Progress != nil {
			p.Progress(round + 1)
		}
	}
	tables := make([]Table, len(all))
	for i, s := range all {
		tables[i] = s.table(p.Modes)
	}
	return tables, ctx.Err()
}

func calibrate(p Plan) ([]series, error) {
	var bare *Mode
	for i := range p.Modes {
		if p.Modes[i].Name == Bare {
			bare = &p.Modes[i]
		}
	}
	if bare == nil {
		return nil, fmt.Errorf("speed: the mode %q must be among those measured, for the others are compared with it", Bare)
	}
	all := make([]series, len(p.Workloads))
	for i, w := range p.Workloads {
		amount, err := Calibrate(*bare, w, p.Target)
		if err != nil {
			return nil, err
		}
		all[i] = series{w, amount, make(map[string][]Reading)}
	}
	return all, nil
}

// round measures each mode once, in a new order.
func (s series) round(modes []Mode) error {
	for _, i := range rand.Perm(len(modes)) {
		r, err := Measure(modes[i], s.workload, s.amount)
		if err != nil {
			return fmt.Errorf("speed: %s, %s: %w", s.workload.Name, modes[i].Name, err)
		}
		s.readings[modes[i].Name] = append(s.readings[modes[i].Name], r)
	}
	return nil
}

func (s series) table(modes []Mode) Table {
	t := Table{Workload: s.workload.Name, Unit: s.workload.Unit()}
	bare := s.readings[Bare]
	for _, m := range modes {
		var values, ratios, cpus []float64
		for i, r := range s.readings[m.Name] {
			values = append(values, r.Value)
			ratios = append(ratios, r.Value/bare[i].Value)
			if bare[i].CPU > 0 {
				cpus = append(cpus, r.CPU/bare[i].CPU)
			}
		}
		row := Row{Mode: m.Name, Value: stats.Summarise(values), Ratio: stats.Summarise(ratios), CPURatio: stats.Summarise(cpus)}
		if bar, ok := BarFor(s.workload, m.Name); ok && !m.tls {
			passed := bar.Passed(row.Ratio)
			row.Bar, row.Passed = &bar, &passed
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
