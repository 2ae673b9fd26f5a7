package speedtestdemo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtester"
)

// Bar is how far a figure may be from the truth: FlashFlow's bar, which it met in
// 95 % of its runs.
const Bar = 0.11

// mostTries is how often a target is tested that this machine did not keep up with.
const mostTries = 4

// Errors of Run.
var (
	ErrBars = errors.New("not all was found as it is")
	ErrBusy = errors.New("this machine is too busy to test fast targets, run it alone")
)

// Config is how the demo runs.
type Config struct {
	// Length is how long each way is measured.
	Length time.Duration
	// Live is told what happens.
	Live io.Writer
	// Progress is told how a test goes. Nil is not called.
	Progress func(name string, p speedtest.Progress)
	// CPU is the processor time this process has used.
	CPU func() time.Duration
	// Members are the targets; nil are those of Members.
	Members []Member
}

// demo is one under way.
type demo struct {
	Config
	stage  *stage
	tester *speedtester.Tester
	began  time.Time
}

// Run plays the demo. The error is ErrBars or ErrBusy, with the document, where
// the truth was not found.
func Run(ctx context.Context, cfg Config) (*report.Document, error) {
	if cfg.Members == nil {
		cfg.Members = Members()
	}
	d := &demo{Config: cfg, began: time.Now()}
	stage, err := setUp(ctx, append([]Member{Control()}, cfg.Members...))
	if err != nil {
		return nil, err
	}
	defer stage.close()
	d.stage = stage
	us := node.New(node.Config{Relayed: true})
	d.tester = speedtester.New(speedtester.Config{
		Node: us, Exit: us, Direct: true, Progress: cfg.Progress,
		Test: speedtest.Config{Length: cfg.Length, Omit: cfg.Length * 3 / 10, Limit: 1e9 / 8, CPU: cfg.CPU},
	})
	return d.play(ctx)
}

// say prints a line of what happens.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.Live, "%5.1f s  %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

func (d *demo) play(ctx context.Context) (*report.Document, error) {
	d.say("tests are shortened to %v a way, from 20 s", d.Length)
	control, rest := d.stage.targets[0], d.stage.targets[1:]
	pre, err := d.test(ctx, control, report.Peer{Name: control.Name, KnownCapacity: control.capacity()})
	if err != nil {
		return nil, err
	}
	if err := d.judge(control, &pre); err != nil {
		return nil, fmt.Errorf("the pre-test on our own target: %w; nobody else was tested", err)
	}
	d.say("the pre-test passed: %s; now users keep the targets busy, as they were before", found(&pre))
	if err := d.stage.live(ctx); err != nil {
		return nil, err
	}
	doc := &report.Document{Format: report.Format, Tester: "demo", Shortened: true}
	for _, t := range rest {
		l, err := d.tester.Look(ctx, t.addr)
		if err != nil {
			return nil, err
		}
		doc.Peers = append(doc.Peers, report.Peer{
			Name: t.Name, Address: t.addr, Group: l.Group, OptedOut: l.Descriptor.Policy.OptedOut,
			KnownCapacity: t.capacity(), Published: []report.Published{l.Published(report.Before)},
		})
	}
	slices.SortFunc(doc.Peers, func(a, b report.Peer) int {
		return cmp.Compare(b.Published[0].Advertised, a.Published[0].Advertised)
	})
	return doc, d.all(ctx, doc)
}

// all tests the targets, the largest first by what they say.
func (d *demo) all(ctx context.Context, doc *report.Document) error {
	var failed error
	for i := range doc.Peers {
		t := d.find(doc.Peers[i].Name)
		p, err := d.test(ctx, t, doc.Peers[i])
		if err != nil {
			return err
		}
		doc.Peers[i] = p
		if err := d.judge(t, &p); err != nil {
			d.say("%s: %v", p.Name, err)
			failed = cmp.Or(failed, err)
		} else {
			d.say("%s (%s): %s", p.Name, t.Story, found(&p))
		}
	}
	return failed
}

func (d *demo) find(name string) *target {
	i := slices.IndexFunc(d.stage.targets, func(t *target) bool { return t.Name == name })
	return d.stage.targets[i]
}

// test tests a target, again where this machine was the limit.
func (d *demo) test(ctx context.Context, t *target, p report.Peer) (report.Peer, error) {
	for n := 1; ; n++ {
		runs, after, _ := d.tester.Test(ctx, t.Name, t.addr, 0) // what went wrong is in the runs
		if ctx.Err() != nil {
			return p, context.Cause(ctx)
		}
		p.Runs = append(p.Runs, runs...)
		if after != nil {
			p.OptedOut = after.Descriptor.Policy.OptedOut
			p.Published = append(p.Published, after.Published(report.During))
		}
		p.Settle()
		if n == mostTries || p.Outcome != report.Measured || !p.LowerBound || p.LimitedBy != report.ByCPU {
			return p, nil
		}
		d.say("%s: this machine was the limit, once more", t.Name)
		rest(ctx, time.Second)
	}
}

// judge holds what was found against the truth.
func (d *demo) judge(t *target, p *report.Peer) error {
	switch off := p.Capacity/t.capacity() - 1; {
	case t.OptOut && t.began.Load() > 0:
		return fmt.Errorf("%w: %s has opted out and was tested", ErrBars, t.Name)
	case t.OptOut && p.Outcome != report.OptedOut:
		return fmt.Errorf("%w: %s has opted out, and the outcome is %s", ErrBars, t.Name, p.Outcome)
	case t.OptOut:
		return nil
	case p.Outcome != report.Measured:
		return fmt.Errorf("%w: %s ended as %s (%s)", ErrBars, t.Name, p.Outcome, why(p))
	case p.LowerBound && p.LimitedBy == report.ByCPU && math.Abs(off) > Bar:
		return fmt.Errorf("%w (%s: %s)", ErrBusy, t.Name, found(p))
	case math.Abs(off) > Bar:
		return fmt.Errorf("%w: %s: %s, %+.1f %% off", ErrBars, t.Name, found(p), 100*off)
	}
	return nil
}

// why is what the last run says of itself.
func why(p *report.Peer) string {
	if len(p.Runs) == 0 {
		return "no run"
	}
	r := p.Runs[len(p.Runs)-1]
	if r.Refusal != nil {
		return r.Refusal.Text
	}
	return r.Error
}

// found is what was found out about a peer, for people.
func found(p *report.Peer) string {
	if p.Outcome != report.Measured {
		return string(p.Outcome) + ", not tested"
	}
	text := fmt.Sprintf("measured %s", mbit(p.Capacity))
	if p.KnownCapacity > 0 {
		text += fmt.Sprintf(" (in truth %s)", mbit(p.KnownCapacity))
	}
	if p.LowerBound {
		text += ", limited by " + string(p.LimitedBy)
	}
	if f, n := p.Published, len(p.Published); n > 1 {
		text += fmt.Sprintf(", advertised %s and now %s", mbit(float64(f[0].Advertised)), mbit(float64(f[n-1].Advertised)))
	}
	return text
}

func mbit(bytes float64) string { return fmt.Sprintf("%.1f Mbit/s", bytes*8/1e6) }
