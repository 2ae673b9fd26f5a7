package cast

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

const (
	// fillersEach is how many fillers go before each wanted datum of a peer that
	// serves them soon enough. More makes a padder look faster.
	fillersEach = 2
	// fillerSoon is how long a filler may take to be asked for again. Longer
	// costs slow peers most of their survey.
	fillerSoon = time.Second
	// surveyLimit is how long one fetch of the survey may take. Shorter would
	// end those of honest slow peers.
	surveyLimit = 20 * time.Second
	// grace is how long before its end the survey asks for nothing new. Longer
	// lets slower peers end what they serve.
	grace = 3 * time.Second
	// pause is between two fetches of one peer.
	pause = 20 * time.Millisecond
	// lookEvery is how often the ranking is looked at for changes.
	lookEvery = time.Second
)

// play is a cast under way.
type play struct {
	cfg     Config
	members []Member
	stage   *stage
	began   time.Time
	turn    chan struct{} // to print: who holds it may

	mu    sync.Mutex
	tally map[string]*tally // by peer; guarded by mu
	picks map[string]int    // the users' completed fetches by peer; guarded by mu
}

// mostTakes is how often the cast is played at most. A machine that stands still
// for most of a fetch makes the ranker hold its verdicts, and then there are none
// to look at.
const mostTakes = 3

// Run plays the cast and returns how it ended. The error is ErrBars, with the
// document, where that is not as it must be, or ErrBusy, where this machine is
// why.
func Run(ctx context.Context, cfg Config) (*report.Cast, error) {
	return repeat(ctx, cfg.normal(), take)
}

// repeat plays until verdicts were not held, or all is as it must be anyway.
func repeat(ctx context.Context, cfg Config, take func(context.Context, Config) (*report.Cast, bool, error)) (*report.Cast, error) {
	for n := 1; ; n++ {
		cfg.last = n == mostTakes
		doc, held, err := take(ctx, cfg)
		switch {
		case doc == nil || err == nil || !held:
			return doc, err
		case cfg.last:
			return doc, fmt.Errorf("%w (%w)", ErrBusy, err)
		}
		fmt.Fprintf(cfg.Live, "\nThis machine stood still for most of a fetch, so that verdicts are held; once more.\n\n")
	}
}

// take plays once, and says whether verdicts were held.
func take(ctx context.Context, cfg Config) (_ *report.Cast, held bool, err error) {
	p := &play{cfg: cfg, members: Members(), began: time.Now(), turn: make(chan struct{}, 1), tally: make(map[string]*tally), picks: make(map[string]int)}
	for _, m := range p.members {
		p.tally[m.Name] = &tally{troubled: make(map[ranking.Trouble]int)}
	}
	if p.stage, err = setUp(ctx, cfg, p.members, p.event); err != nil {
		return nil, false, err
	}
	defer p.stage.close()
	p.say("%d peers joined; each is asked for data by itself (? is one that has completed none yet)", len(p.members))
	view := p.follow(ctx)
	p.survey(ctx)
	p.say("now a user fetches, from whom the ranker chooses")
	p.use(ctx)
	view()
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	doc := p.report()
	f := p.stage.fetch
	held, err = f.Ranker().Stats(f.Now()).Events[ranking.HoldBegan] > 0, p.judge(doc)
	if err == nil || !held || cfg.last {
		cfg.Rest(ctx)
	}
	return doc, held, err
}

// say prints a line of what happens.
func (p *play) say(format string, args ...any) {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	fmt.Fprintf(p.cfg.Live, "%5.1f s  %s\n", time.Since(p.began).Seconds(), fmt.Sprintf(format, args...))
}

// survey asks each peer for data, all at once. What is under way at its end may
// end too, if that is soon: a fetch that we cut short says little of its peer.
func (p *play) survey(ctx context.Context) {
	end := time.Duration(float64(p.cfg.Length) * surveyShare)
	ctx, cancel := context.WithTimeout(ctx, end)
	defer cancel()
	var wg sync.WaitGroup
	for _, m := range p.members {
		wg.Go(func() { p.ask(ctx, m, end-grace) })
	}
	wg.Wait()
}

// ask surveys one peer.
func (p *play) ask(ctx context.Context, m Member, until time.Duration) {
	others := p.others(m)
	filling := true
	for n := 0; ctx.Err() == nil && time.Since(p.began) < until; n++ {
		hash, filler := p.stage.wanted[n%data], filling && n%(fillersEach+1) < fillersEach
		if filler {
			hash = p.stage.filler[n%data]
		}
		res, err := p.stage.fetch.Fetch(ctx, fetcher.Request{Hash: hash, Exclude: others, Alone: true, Limit: surveyLimit})
		p.note(res)
		if filler && (err != nil || res.Took > fillerSoon) {
			filling = false
		}
		rest(ctx, pause)
	}
}

// others are the names of all but one.
func (p *play) others(m Member) []string {
	var all []string
	for _, o := range p.members {
		if o.Name != m.Name {
			all = append(all, o.Name)
		}
	}
	return all
}

// use fetches as a user would.
func (p *play) use(ctx context.Context) {
	left := p.cfg.Length - time.Since(p.began)
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	for ctx.Err() == nil {
		res, err := p.stage.fetch.Fetch(ctx, fetcher.Request{Hash: p.wanted()})
		if err == nil {
			p.mu.Lock()
			p.picks[res.From()]++
			p.mu.Unlock()
		} else if ctx.Err() == nil {
			p.say("a fetch failed: %v", err)
		}
		p.note(res)
		rest(ctx, 5*pause)
	}
}

func (p *play) wanted() wire.Hash { return p.stage.wanted[rand.IntN(data)] }

// note counts what was seen of a fetch.
func (p *play) note(res fetcher.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range res.Parts {
		t := p.tally[part.Peer]
		t.fetches++
		for _, trouble := range part.Troubles {
			t.troubled[trouble]++
		}
	}
}

// rest waits, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
