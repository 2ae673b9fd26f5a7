package cast

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/assay-mux/assay/ranking"
)

// follow prints each change of the ranking until the function it returns is
// called.
func (p *play) follow(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		last := ""
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if now := p.order(); now != last {
				p.say("ranking: %s", now)
				last = now
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// order names the peers, the best first.
func (p *play) order() string {
	var names []string
	for _, s := range p.standings() {
		name := s.Peer
		if s.Completions == 0 {
			name += "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// standings are those for a wanted datum, the best first.
func (p *play) standings() []ranking.Standing {
	f := p.stage.fetch
	return f.Ranker().Rank(f.Now(), wantedSize, len(p.members))
}

// event passes on what the ranker reports, and prints it but for what follows
// from it.
func (p *play) event(e ranking.Event) {
	p.cfg.Event(e)
	switch e.Kind {
	case ranking.VerdictChanged:
		p.say("%s is found %s", e.Peer, e.Verdict.String())
	case ranking.Redeemed, ranking.DropNow, ranking.EclipseSuspected, ranking.HoldBegan, ranking.HoldEnded, ranking.Hedged, ranking.EchoesMissing:
		p.say("%s", e.String())
	case ranking.Demoted, ranking.SizeLie, ranking.AttesterFault, ranking.CriticalMissed:
	}
}
