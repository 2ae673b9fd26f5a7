package pair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/internal/lab"
)

// few is how many files each node fetches in the second run: enough to show
// where the time goes.
const few = 2

// ErrLimit says that the runs took too long.
var ErrLimit = errors.New("ran out of time, raise --limit, or carry less (--files, --file-size)")

// Pair is two nodes and what they serve. Build it with Open, end it with Close.
// Not safe for concurrent use.
type Pair struct {
	cfg      Config
	dir      string // temporary, ours
	stores   [2]*store.Store
	sessions []*session
}

// Open makes or reads the files of both nodes.
func Open(ctx context.Context, cfg Config) (_ *Pair, err error) {
	p := &Pair{cfg: cfg.normal()}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.dir, err = os.MkdirTemp("", "demo-node-"); err != nil {
		return nil, fmt.Errorf("cannot make a temporary directory, set TMPDIR: %w", err)
	}
	for i, dir := range []string{cfg.DirA, cfg.DirB} {
		if p.stores[i], err = p.open(ctx, i, dir); err != nil {
			return nil, err
		}
	}
	return p, cfg.fits(max(p.stores[0].Bytes(), p.stores[1].Bytes()))
}

// open reads a node's files, or makes them first.
func (p *Pair) open(ctx context.Context, i int, dir string) (*store.Store, error) {
	if dir == "" {
		dir = filepath.Join(p.dir, "files-"+names[i])
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
		if err := MakeFiles(dir, uint64(i+1), p.cfg.Files, p.cfg.FileSize); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, dir, p.cfg.Log)
}

// Close ends the sessions, waits for all of them and removes temporary files.
func (p *Pair) Close() {
	for _, s := range p.sessions {
		s.close()
	}
	if p.dir != "" {
		os.RemoveAll(p.dir)
	}
}

// Run transfers all files both ways with the window configured, then a few of
// them with yamux's default, and then lets a test b. Its sessions stay open until Close, so that their
// meters can be read.
func (p *Pair) Run(ctx context.Context) (*report.Pair, error) {
	limited, cancel := context.WithTimeoutCause(ctx, p.cfg.Limit, ErrLimit)
	defer cancel()
	doc := &report.Pair{
		Schema: report.Schema,
		Link:   report.Link{MbitPerSecond: float64(p.cfg.Rate / lab.Mbit), RTTSeconds: report.Seconds(p.cfg.RTT), SlowStart: true},
		TLS:    p.cfg.TLS,
	}
	wide := plan{name: "wide window", window: p.cfg.Window, out: p.cfg.Out}
	for i := range wide.offers {
		wide.offers[i] = p.stores[1-i].Offers()
	}
	narrow := plan{name: "yamux default window", window: DefaultWindow, turns: true}
	for i, offers := range wide.offers {
		narrow.offers[i] = offers[:min(few, len(offers))]
	}
	for _, pl := range []plan{wide, narrow} {
		run, err := p.run(limited, ctx, pl)
		if err != nil {
			return nil, err
		}
		doc.Add(run)
	}
	if p.cfg.Speedtest > 0 {
		peer, err := p.speedtest(limited, ctx)
		if err != nil {
			return nil, fmt.Errorf("speed test of b: %w", err)
		}
		doc.Speedtest = peer
	}
	return doc, nil
}

// plan is one run.
type plan struct {
	name   string
	window uint32
	out    string
	turns  bool            // one node fetches after the other, not both at once
	offers [2][]wire.Offer // what each node fetches
}

func (pl plan) bytes() (total int64) {
	for _, offers := range pl.offers {
		for _, o := range offers {
			total += o.Size
		}
	}
	return total
}

// run connects the nodes anew, transfers and reads the meters. ctx bounds the
// transfer, lasting the session.
func (p *Pair) run(ctx, lasting context.Context, pl plan) (report.Run, error) {
	s, err := p.connect(lasting, pl)
	if err != nil {
		return report.Run{}, err
	}
	p.sessions = append(p.sessions, s)
	if pl.out == "" {
		pl.out = filepath.Join(p.dir, fmt.Sprintf("out-%d", len(p.sessions)))
		defer os.RemoveAll(pl.out)
	}
	add, end := p.cfg.Progress(fmt.Sprintf("%s, %s", pl.name, report.Binary(int64(pl.window))), pl.bytes())
	start := time.Now()
	fetches, err := s.exchange(ctx, pl, add)
	end()
	if err != nil {
		return report.Run{}, err
	}
	run := report.Run{Name: pl.name, StreamWindowBytes: int64(pl.window), Seconds: report.Seconds(time.Since(start))}
	for i := range s.peers {
		run.Peers = append(run.Peers, report.NewPeer(names[i], names[1-i], s.peers[i].Meter().Snapshot(), fetches[i]))
	}
	return run, nil
}
