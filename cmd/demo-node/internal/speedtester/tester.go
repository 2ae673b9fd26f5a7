package speedtester

import (
	"context"
	"errors"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
)

// Config is what a Tester is made from.
type Config struct {
	// Node dials the peers, and Exit too for the ways through them; nil Exit
	// leaves these out.
	Node, Exit *node.Node
	// Test is what is measured; its Near, Far, Ways, Prior and Progress are the
	// tester's.
	Test speedtest.Config
	// Direct measures from and to the peer.
	Direct bool
	// Progress is told how a test of a peer goes. It must not block. Nil is not
	// called.
	Progress func(name string, p speedtest.Progress)
	// Now is the time of day. Nil is the system's.
	Now func() time.Time
}

// Tester tests peers, one after the other. Not safe for concurrent use.
type Tester struct{ cfg Config }

// New returns a tester.
func New(cfg Config) *Tester {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string, speedtest.Progress) {}
	}
	return &Tester{cfg}
}

func (t *Tester) unix() float64 { return float64(t.cfg.Now().UnixMilli()) / 1000 }

// Look is what a peer says of itself.
type Look struct {
	At         float64 // seconds since 1970
	Descriptor message.Descriptor
	Group      string
}

// Published is it as the report has it.
func (l Look) Published(p report.Phase) report.Published {
	return report.Published{At: l.At, Phase: p, Figures: l.Descriptor.Figures}
}

// Look reads what a peer publishes.
func (t *Tester) Look(ctx context.Context, addr string) (Look, error) {
	p, err := t.cfg.Node.Dial(ctx, addr)
	if err != nil {
		return Look{}, err
	}
	defer p.Close()
	return t.look(ctx, p)
}

func (t *Tester) look(ctx context.Context, p *node.Peer) (Look, error) {
	d, err := speedtest.Describe(ctx, p.Tested(), t.cfg.Node.Descriptor())
	return Look{At: t.unix(), Descriptor: d, Group: p.Group()}, err
}

// Announce tells a peer when it will be tested. The error is a *policy.Refusal if
// it has opted out.
func (t *Tester) Announce(ctx context.Context, addr string, in time.Duration) error {
	p, err := t.cfg.Node.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer p.Close()
	return speedtest.Announce(ctx, p.Tested(), in)
}

// Test tests a peer that is expected to do so many bytes per second, 0 if nothing
// is known. The runs are those that ended, and one that failed or was refused.
// Whether the peer has opted out is asked first, each time. after is what it
// publishes afterwards, where it could be read.
func (t *Tester) Test(ctx context.Context, name, addr string, prior float64) (runs []report.Run, after *Look, err error) {
	began := t.unix()
	p, err := t.cfg.Node.Dial(ctx, addr)
	if err != nil {
		return t.failed(began, err), nil, err
	}
	defer p.Close()
	l, err := t.look(ctx, p)
	if err != nil {
		return t.failed(began, err), nil, err
	}
	if l.Descriptor.Policy.OptedOut {
		err := &policy.Refusal{Code: policy.OptedOut}
		return t.failed(began, err), &l, err
	}
	runs, err = t.measure(ctx, p, name, addr, t.prior(prior, l.Descriptor))
	if l, lookErr := t.look(ctx, p); lookErr == nil {
		after = &l
	}
	return runs, after, err
}

// prior is what to expect of a peer: the most that anyone says, but no more than
// our own link carries.
func (t *Tester) prior(known float64, d message.Descriptor) float64 {
	prior := max(known, float64(d.Advertised), float64(d.Observed))
	if limit := t.cfg.Test.Limit; limit > 0 {
		prior = min(prior, float64(limit))
	}
	return prior
}

// measure measures all ways under one consent.
func (t *Tester) measure(ctx context.Context, p *node.Peer, name, addr string, prior float64) ([]report.Run, error) {
	cfg := t.cfg.Test
	cfg.Near, cfg.Prior, cfg.Ways = p.Tested(), prior, nil
	cfg.Progress = func(p speedtest.Progress) { t.cfg.Progress(name, p) }
	if t.cfg.Direct {
		cfg.Ways = append(cfg.Ways, message.FromTarget, message.ToTarget)
	}
	if t.cfg.Exit != nil {
		far, err := t.cfg.Exit.Dial(ctx, addr)
		if err != nil {
			return t.failed(t.unix(), err), err
		}
		defer far.Close()
		cfg.Far = far.Tested()
		cfg.Ways = append(cfg.Ways, message.ThroughIn, message.ThroughOut)
	}
	began := t.unix()
	res, err := speedtest.Measure(ctx, cfg)
	runs := gather(began, cfg.Ways, res, err)
	if err != nil && len(res.Runs)%2 == 0 { // else it stands in the run that it broke off
		runs = append(runs, t.failed(began, err)...)
	}
	return runs, err
}

// failed is the run that an error makes.
func (t *Tester) failed(began float64, err error) []report.Run {
	r := report.Run{Started: began, Setup: report.Direct, Outcome: report.Failed, Error: err.Error()}
	if !t.cfg.Direct {
		r.Setup = report.Through
	}
	if f, ok := errors.AsType[*policy.Refusal](err); ok {
		r.Outcome, r.Error = report.Refused, ""
		if f.Code == policy.OptedOut {
			r.Outcome = report.OptedOut
		}
		r.Refusal = &report.Refusal{Code: f.Code.String(), RetryAfter: f.RetryAfter.Seconds(), Text: f.Error()}
	}
	return []report.Run{r}
}
