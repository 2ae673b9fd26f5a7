package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtester"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/metrics"
)

type speedtestScheduleCmd struct {
	speedtestFlags
	State        string        `required:"" help:"Keep the campaign here. If it is there it goes on, and peers and times given are those it has." placeholder:"FILE"`
	Control      string        `help:"A target of our own, NAME=HOST:PORT, tested before all others." placeholder:"PEER"`
	ControlLimit rate          `help:"What it is limited to." placeholder:"RATE"`
	NoPretest    bool          `help:"Begin without such a target."`
	Notice       time.Duration `help:"Tell peers so long before." default:"24h"`
	Rounds       int           `help:"How often to test each." default:"3"`
	Gap          time.Duration `help:"From one round to the next." default:"24h"`
	Spacing      time.Duration `help:"From one peer to the next, on average." default:"2m"`
	Retry        time.Duration `help:"Make up for a failed test after so long." default:"12h"`
	Memory       time.Duration `help:"How long peers' figures remember a test." default:"24h15m"`
	Now          bool          `help:"Do what is due now and end, as from a timer, instead of waiting for what is next."`
	HTTP         string        `name:"http" help:"Where to serve /metrics, /healthz and /debug/pprof/ meanwhile; by default nowhere." placeholder:"ADDR"`
}

// Run goes through a campaign, or on with it.
func (c *speedtestScheduleCmd) Run(e *env) error {
	unlock, err := speedtester.Lock(c.State)
	if err != nil {
		return fmt.Errorf("--state %s: %w", c.State, err)
	}
	defer unlock()
	s, err := c.campaign(e)
	if err != nil {
		return err
	}
	s.Shortened = s.Shortened || c.shortened() // it may go on with other tests than it began with
	bar := e.rateBar()
	t, err := c.tester(e, bar.show)
	if err != nil {
		return err
	}
	h := speedtester.NewHost(e.ctx, t, c.State)
	b, err := s.Save()
	if err != nil {
		return err
	}
	if err := h.Save(b); err != nil {
		return err
	}
	var progress status.Campaign
	if c.HTTP != "" {
		web, err := status.Start(e.ctx, c.HTTP, status.Handler(nil, metrics.WithCampaign(&progress)))
		if err != nil {
			return err
		}
		defer web.Close()
		e.log.Info("live figures", "metrics", "http://"+web.Addr()+"/metrics")
	}
	told := campaign.Step{}
	for {
		progress.Set(s, h.Now())
		switch step := s.Next(h.Now()); step.Kind {
		case campaign.Finished:
			return statusTable(e.stdout, s, h.Now())
		case campaign.Stopped:
			return fmt.Errorf("the pre-test found %s on our own target, in truth %s: nobody else is tested; see %s",
				mbit(s.Control.Capacity), mbit(s.Control.KnownCapacity), c.State)
		case campaign.Wait:
			if c.Now {
				return statusTable(e.stdout, s, h.Now())
			}
			wait := seconds(step.At - h.Now())
			if step != told {
				e.log.Info("waiting", "for", wait.Round(time.Second), "next", stepName(s, step))
				told = step
			}
			if !sleep(e.ctx, min(wait, lookAgain)) {
				return campaign.ErrInterrupted
			}
		default:
			logStep(e, s, step)
			err := s.Do(step, h)
			bar.clear()
			if err != nil {
				return err
			}
		}
	}
}

// campaign is the one that the file has, or else a new one.
func (c *speedtestScheduleCmd) campaign(e *env) (*campaign.State, error) {
	b, err := os.ReadFile(c.State)
	switch {
	case err == nil:
		s, err := campaign.Load(b)
		if err != nil {
			return nil, fmt.Errorf("--state %s: %w", c.State, err)
		}
		e.log.Info("the campaign goes on", "file", c.State, "peers", len(s.Peers))
		return s, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--state: %w", err)
	}
	targets, err := c.targets()
	if err != nil {
		return nil, err
	}
	peers := make([]report.Peer, len(targets))
	for i, n := range targets {
		peers[i] = report.Peer{Name: n.name, Address: n.addr}
	}
	control, err := c.control()
	if err != nil {
		return nil, err
	}
	plan := campaign.Default()
	plan.Notice, plan.Rounds, plan.Gap, plan.Spacing, plan.Retry, plan.Memory = c.Notice, c.Rounds, c.Gap, c.Spacing, c.Retry, c.Memory
	plan.Seed = rand.Uint64()
	s, err := campaign.New(plan, control, peers)
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// control is the target of our own, nil if there is to be none.
func (c *speedtestScheduleCmd) control() (*report.Peer, error) {
	switch {
	case c.NoPretest && c.Control == "":
		return nil, nil
	case c.Control == "" || c.ControlLimit == 0:
		return nil, usageError{errors.New("name a target of your own with --control and --control-limit, which must pass before others are tested; or say --no-pretest")}
	}
	f := speedtestFlags{Peers: []string{c.Control}}
	one, err := f.targets()
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	return &report.Peer{Name: one[0].name, Address: one[0].addr, KnownCapacity: float64(bytesPerSecond(c.ControlLimit))}, nil
}

func logStep(e *env, s *campaign.State, step campaign.Step) {
	e.log.Info(step.Kind.String(), "peer", stepName(s, step), "round", step.Round+1)
}

// lookAgain is how long at most is waited without a look at the time of day: it
// may have been set, and a timer stands still while the machine is suspended.
const lookAgain = time.Minute

// seconds is so many of them as a duration, a year at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 365*24*3600) * float64(time.Second))
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// shortened says whether tests are shorter than the experiment's.
func (f *speedtestFlags) shortened() bool { return f.Length < policy.TestLength }
