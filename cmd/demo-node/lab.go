package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/assay-mux/assay/cmd/demo-node/internal/labview"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/plots"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

type labCmd struct {
	File string `arg:"" help:"The scenario; docs/scenarios.md says what it may hold."`
	Seed uint64 `help:"What all chance of the scenario is drawn from." default:"1"`
	Plot string `help:"Also draw the result, as SVG, into this file." placeholder:"FILE"`
	JSON bool   `name:"json" help:"Print the result document, with every fetch, and nothing else."`
}

// Help is below the first line of the command's help.
func (labCmd) Help() string {
	return "The scenario runs in real time, with what happens and why as it happens: scenarios/pacer.yaml takes " +
		"about five minutes. The oracle, by whom its regret is reckoned, and whoever else the file asks for run at " +
		"the same time in worlds of their own. The bars are those of the file, none weaker, and the exit code is 0 " +
		"if they hold. Here timers and this machine's other work jitter, so that bars on times and rates may be " +
		"missed by a little, and on a busy machine by more; `make lab` runs the same file in virtual time, without that."
}

// errBars is a scenario that ended and did not pass.
var errBars = errors.New("the scenario did not pass")

// Run acts the scenario out and prints the summary, and fails where a bar does.
func (c *labCmd) Run(e *env) error {
	s, err := scenario.Load(c.File)
	if err != nil {
		return err
	}
	d, err := c.play(e, s)
	if err != nil {
		return err
	}
	if c.Plot != "" {
		err = c.draw(e, d)
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", " ")
		err = errors.Join(err, enc.Encode(d))
	} else {
		err = errors.Join(err, labview.Summary(e.stdout, d))
	}
	if !d.Pass {
		err = errors.Join(err, fmt.Errorf("%w: %s", errBars, plots.Failing(d)))
	}
	return err
}

// play runs the scenario, and shows it meanwhile: beside a document only where
// progress is wanted.
func (c *labCmd) play(e *env, s *scenario.Scenario) (*engine.Document, error) {
	out := e.stdout
	if c.JSON {
		if out = io.Discard; e.progress {
			out = e.stderr
		}
	}
	var probe labview.Probe
	view := labview.New(s)
	end := view.Show(labview.Screen{W: out, Size: terminal(out), Rank: probe.Rank})
	defer end()
	return engine.Play(e.ctx, s, engine.PlayOptions{Seed: c.Seed, Observe: view.Observe, New: probe.New, Together: true})
}

// draw writes the drawing.
func (c *labCmd) draw(e *env, d *engine.Document) error {
	svg, err := plots.Draw(d)
	if err == nil {
		err = os.WriteFile(c.Plot, svg, 0o644)
	}
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	e.log.Info("drew the result", "file", c.Plot)
	return nil
}

// terminal says how large a terminal is; nil if it is none.
func terminal(w io.Writer) func() (columns, rows int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return 80, 24
		}
		return columns, rows
	}
}
