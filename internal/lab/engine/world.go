package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// tickEvery is how often the chooser does what is due, as the ranker asks for.
const tickEvery = time.Second

// ErrRun is what Run returns where a scenario could not be acted out at all.
var ErrRun = errors.New("engine: the scenario could not be acted out")

// Options say how a scenario is acted out.
type Options struct {
	// Seed is what all chance comes from.
	Seed uint64
	// New makes the chooser; NewAssay where it is nil.
	New New
	// Without are names of the file's peers that are left out.
	Without []string
	// Observe is told what happens, in order, by whichever goroutine it happens on and
	// one at a time. It must not wait. Nil is not called.
	Observe func(Event)
	// RealTime says that it does not run in a bubble: links then keep time as well as
	// the machine lets them.
	RealTime bool
}

// world is one run.
type world struct {
	s       *scenario.Scenario
	o       Options
	base    time.Time
	ctx     context.Context // ends with the run
	cancel  context.CancelFunc
	wg      sync.WaitGroup // of all goroutines
	chooser Chooser
	content *content
	watcher *mux.Watcher    // of our own process
	ingress *lab.Bottleneck // our own, nil without limit
	shared  map[string]*lab.Bottleneck
	log     *recorder

	frozenUntil, inboxUntil atomic.Int64 // instants
	disk                    atomic.Pointer[slowDisk]
	begun                   chan int // user fetches as they begin, for faults

	mu     sync.Mutex
	actors []*actor // in the order of the file
	conns  map[ranking.Conn]*connection
	data   map[int]*datum
}

// Run acts a scenario out with one chooser. In virtual time it must be called in a
// bubble. It returns when everything has ended. The error is ErrRun, or ctx's.
func Run(ctx context.Context, s *scenario.Scenario, o Options) (*Result, error) {
	w, err := newWorld(ctx, s, o)
	if err != nil {
		return nil, err
	}
	w.start()
	w.drive()
	w.finish()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return w.result(), nil
}

func newWorld(ctx context.Context, s *scenario.Scenario, o Options) (*world, error) {
	if o.New == nil {
		o.New = NewAssay
	}
	set := Setting{Seed: o.Seed, Window: int64(s.Node.Window), Dry: s.Node.Dry, Copies: s.Node.Copies}
	if s.Node.KnowsIngress {
		set.DownloadLimit = int64(s.Node.Ingress.BytesPerSecond())
	}
	c, err := o.New(set)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	w := &world{
		s: s, o: o, base: time.Now(), chooser: c, content: newContent(), watcher: mux.NewWatcher(),
		conns: map[ranking.Conn]*connection{}, data: map[int]*datum{}, begun: make(chan int, 1024),
	}
	w.log = newRecorder(w)
	w.bottlenecks()
	w.ctx, w.cancel = context.WithCancel(ctx)
	w.cast()
	return w, nil
}

// now is an instant since the start.
func (w *world) now() time.Duration { return time.Since(w.base) }

// sleep waits until an instant, or the end of the run; it says whether the run goes on.
func (w *world) sleepUntil(at time.Duration) bool {
	return pause(at-w.now(), w.ctx.Done())
}

// pause waits, and says whether it could wait to the end.
func pause(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		select {
		case <-done:
			return false
		default:
			return true
		}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return false
	case <-t.C:
		return true
	}
}

// start brings the peers that are there from the beginning, and what goes on beside.
func (w *world) start() {
	for _, a := range w.actors {
		if a.spec.Join == 0 {
			a.connect()
		}
	}
	for _, a := range w.actors {
		w.wg.Go(a.live)
	}
	w.wg.Go(w.tick)
	w.wg.Go(w.faults)
	w.wg.Go(w.churn)
	w.wg.Go(w.watch)
}

// tick does what is due.
func (w *world) tick() {
	for at := tickEvery; w.sleepUntil(at); at += tickEvery {
		w.awake()
		w.chooser.Tick(w.now())
		w.drain()
	}
}

// drain records what the chooser reports.
func (w *world) drain() {
	for _, e := range w.chooser.Events() {
		w.log.event(e)
	}
}

// churning is what a chooser like the ranker proposes.
type churning interface {
	Churn(now time.Duration) []ranking.Departure
}

// churn replaces peers as the chooser proposes: they go, and who comes is as the
// file says.
func (w *world) churn() {
	c, ok := w.chooser.(churning)
	every := time.Duration(w.s.Node.Churn)
	if !ok || every == 0 {
		return
	}
	for at := every; w.sleepUntil(at); at += every {
		for _, d := range c.Churn(w.now()) {
			w.log.churn(d)
			w.banish(d.Peer)
		}
	}
}

// banish ends a peer's stay for good.
func (w *world) banish(id string) {
	for _, a := range w.everyone() {
		if a.id == id {
			a.gone.Do(func() { close(a.banished) })
		}
	}
}

// finish ends everything and waits for it.
func (w *world) finish() {
	w.drain()
	w.ranked()
	w.log.ended = w.now()
	w.cancel()
	for _, a := range w.everyone() {
		a.disconnect()
	}
	w.wg.Wait()
	w.drain()
	w.checkLeft()
}

func (w *world) everyone() []*actor {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*actor(nil), w.actors...)
}

// connection is the one that the chooser knows by a name, nil if it has ended.
func (w *world) connection(c ranking.Conn) *connection {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conns[c]
}

// What happens after a freeze happens in this order, for a run to repeat: timers
// fire, then what waits in the sockets is read, then the application sees it. It is
// the least kind order of those that a process may have.
const (
	socketsAfter     = 10 * apart
	applicationAfter = 10 * time.Millisecond
)

// awake returns at once unless the process is frozen, and then after that.
func (w *world) awake() { w.awakeAfter(0) }

// unfrozen is when a socket is read, each at its own moment.
func (w *world) unfrozen(socket int) { w.awakeAfter(socketsAfter + time.Duration(socket)*apart) }

// handed is when the application sees what was read from a socket.
func (w *world) handed(socket int) { w.awakeAfter(applicationAfter + time.Duration(socket)*apart) }

// awakeAfter returns at once unless the process is frozen or was until less than a
// time ago, and then after that time.
func (w *world) awakeAfter(d time.Duration) {
	for {
		until := time.Duration(w.frozenUntil.Load())
		left := until + d - w.now()
		if until == 0 || left <= 0 || !pause(left, w.ctx.Done()) {
			return
		}
	}
}
