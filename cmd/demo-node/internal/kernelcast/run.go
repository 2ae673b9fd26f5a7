package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/ranking"
)

const (
	// fillersEach go before each datum of a peer that serves them soon.
	fillersEach = 2
	fillerSoon  = time.Second
	// surveyLimit is how long one fetch of the survey may take.
	surveyLimit = 30 * time.Second
	// grace is how long before its end the survey asks for nothing new.
	grace = 10 * time.Second
	// leastUsers is how many fetches are the user's at least.
	leastUsers = 300
	// pause is between two fetches of a peer, and of a user.
	pause = 20 * ms
)

// tally is what was seen of one peer's parts in fetches.
type tally struct {
	parts, completed int
	troubled         map[ranking.Trouble]int
	picked           int // by the user, and completed
}

// choice is one fetch of the user's.
type choice struct {
	size int64
	from string
	took time.Duration
	part int // how many peers had a part in it
}

// play is a cast under way.
type play struct {
	cast  []member
	stage *stage

	mu      sync.Mutex
	tally   map[string]*tally // guarded by mu
	all     int               // fetches; guarded by mu
	choices []choice          // the user's; of the goroutine that plays
}

// run plays it and holds it to the bars.
func run(ctx context.Context, survey time.Duration, fetches int) error {
	p := &play{cast: members(), tally: make(map[string]*tally)}
	for _, m := range p.cast {
		p.tally[m.name] = &tally{troubled: make(map[ranking.Trouble]int)}
	}
	var err error
	if p.stage, err = setUp(ctx, p.cast); err != nil {
		return err
	}
	defer p.stage.close()
	fmt.Fprintf(os.Stderr, "%d peers, each asked by itself for %v\n", len(p.cast), survey)
	p.survey(ctx, survey)
	fmt.Fprintf(os.Stderr, "%d fetches; now a user's\n", p.all)
	if err := p.use(ctx, leastUsers, fetches); err != nil {
		return err
	}
	return p.judge(os.Stdout)
}

// survey asks each peer by itself, all at once.
func (p *play) survey(ctx context.Context, length time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	until := time.Now().Add(length - grace)
	var wg sync.WaitGroup
	for _, m := range p.cast {
		wg.Go(func() { p.ask(ctx, m, until) })
	}
	wg.Wait()
}

// ask surveys one peer: fillers as long as it serves them soon, and what users
// want.
func (p *play) ask(ctx context.Context, m member, until time.Time) {
	others := p.others(m)
	filling := true
	for n := 0; ctx.Err() == nil && time.Now().Before(until); n++ {
		size, isFiller := int64(usual), filling && n%(fillersEach+1) < fillersEach
		if isFiller {
			size = filler
		}
		res, err := p.stage.fetch.Fetch(ctx, fetcher.Request{Hash: p.stage.data[size][n%each], Exclude: others, Alone: true, Limit: surveyLimit})
		p.note(res)
		if isFiller && (err != nil || res.Took > fillerSoon) {
			filling = false
		}
		rest(ctx, pause)
	}
}

func (p *play) others(m member) (names []string) {
	for _, o := range p.cast {
		if o.name != m.name {
			names = append(names, o.name)
		}
	}
	return names
}

// use fetches as a user would so many times, and until there were so many fetches
// in all.
func (p *play) use(ctx context.Context, users, fetches int) error {
	for ctx.Err() == nil && (len(p.choices) < users || p.count() < fetches) {
		size := []int64{smallest, usual, largest}[rand.IntN(3)]
		res, err := p.stage.fetch.Fetch(ctx, fetcher.Request{Hash: p.stage.data[size][rand.IntN(each)]})
		p.note(res)
		if err != nil {
			return fmt.Errorf("a user's fetch: %w", err)
		}
		p.choices = append(p.choices, choice{size, res.From(), res.Took, len(res.Parts)})
		p.tally[res.From()].picked++
		rest(ctx, pause)
	}
	return ctx.Err()
}

func (p *play) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// note counts what was seen of a fetch.
func (p *play) note(res fetcher.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	for _, part := range res.Parts {
		t := p.tally[part.Peer]
		t.parts++
		if part.Err == nil {
			t.completed++
		}
		for _, trouble := range part.Troubles {
			t.troubled[trouble]++
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
