package pair

import (
	"context"
	"errors"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	speed "github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtester"
)

// policy is what node b lets testers do.
func (c Config) policy() *policy.Policy {
	p := policy.Default()
	p.OptOut = c.OptOut
	return &p
}

// speedtest lets node a test node b, over a connection of its own. What b refuses
// is no error.
func (p *Pair) speedtest(ctx, lasting context.Context) (*speed.Peer, error) {
	s, err := p.connect(lasting, plan{name: "speed test", window: DefaultWindow})
	if err != nil {
		return nil, err
	}
	p.sessions = append(p.sessions, s)
	cfg := node.Config{Relayed: true, Log: p.cfg.Log.With("node", "a's tester")}
	if p.cfg.TLS {
		if cfg.TLS, err = node.NewTLS(); err != nil {
			return nil, err
		}
	}
	t := speedtester.New(speedtester.Config{
		Node: node.New(cfg), Direct: true, Progress: p.cfg.Tested,
		Test: speedtest.Config{Length: p.cfg.Speedtest, Prior: float64(p.cfg.Rate) / 8},
	})
	peer := &speed.Peer{Name: names[1], KnownCapacity: float64(p.cfg.Rate) / 8}
	runs, after, err := t.Test(ctx, peer.Name, s.relay.Addr().String(), 0)
	if after != nil {
		peer.OptedOut = after.Descriptor.Policy.OptedOut
	}
	peer.Runs = runs
	peer.Settle()
	if _, refused := errors.AsType[*policy.Refusal](err); refused {
		err = nil
	}
	return peer, err
}
