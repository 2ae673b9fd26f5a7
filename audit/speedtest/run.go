package speedtest

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/curve"
	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

const (
	// tick is how often a run is looked at.
	tick = 100 * time.Millisecond
	// pingEvery is how often the loaded round trip is measured.
	pingEvery = 250 * time.Millisecond
	// drainFor is how long what is under way at the end may take to come.
	drainFor = 15 * time.Second
	// settle is how long after streams were added the rate is taken to be that of
	// all of them, besides four round trips.
	settle = time.Second
)

// run is one way under way, at the tester.
type run struct {
	*tester
	index   uint8
	way     message.Way
	key     keystream.Key
	began   time.Duration
	omit    time.Duration // until so long after it began the rates do not count
	until   time.Duration // and it is to end so long after
	added   time.Duration // when streams were added last
	streams int
	tried   int // to open, which numbers them
	doubled int
	over    bool         // at the target, or there is no talking to it
	ended   policy.Ended // why the target ended it, if it did
	pace    pacer

	wg   sync.WaitGroup // of the streams
	stop chan struct{}  // closed at its end
	fail chan error     // the first failure of a stream

	mu    sync.Mutex
	curve curve.Curve // guarded by mu

	rtts    []time.Duration
	owed    int64 // told to Outstanding
	idleCPU time.Duration
	late    atomic.Int64 // nanoseconds by which timers were late
}

// run measures one way with so many streams to begin with.
func (t *tester) run(ctx context.Context, w message.Way, streams int) (Run, error) {
	r := &run{tester: t, index: uint8(t.runs), way: w, stop: make(chan struct{}), fail: make(chan error, 1), omit: t.cfg.Omit}
	r.until = min(t.cfg.Length, t.grant.Length)
	r.omit = min(r.omit, r.until/2)
	r.pace.rate = float64(t.cfg.Rate)
	r.key = newKey()
	defer r.owe(0)
	r.owe(r.expect(t.cfg.Prior))
	t.runs++
	if err := r.add(ctx, streams); err != nil {
		r.end()
		return Run{}, err
	}
	end, err := r.follow(ctx)
	r.end()
	if err != nil {
		return Run{}, err
	}
	return r.sum(end)
}

// expect is how many bytes a rate moves in the rest of the run. Those that we
// send count too: what we ask of the peer meanwhile waits behind them.
func (r *run) expect(rate float64) int64 {
	left := r.until
	if r.began > 0 {
		left = max(r.until-(r.now()-r.began), 0)
	}
	return min(int64(rate*left.Seconds()), r.grant.Bytes)
}

// owe tells the host how many bytes are still to come.
func (r *run) owe(bytes int64) {
	if bytes != r.owed {
		r.cfg.Outstanding(bytes - r.owed)
		r.owed = bytes
	}
}

// follow starts the run and watches it to its end, which it returns.
func (r *run) follow(ctx context.Context) (end time.Duration, err error) {
	key := keystream.Key{}
	if r.way == message.FromTarget {
		key = r.key // nobody else needs it
	}
	r.began = r.now()
	if r.cfg.CPU != nil {
		r.idleCPU = r.cfg.CPU()
	}
	if err := message.Write(r.control, message.Start{Run: r.index, Way: r.way, Key: key}); err != nil {
		return 0, err
	}
	r.wg.Go(r.watch)
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case err := <-r.failed:
			r.over = true
			return 0, err
		case err := <-r.fail:
			return 0, err
		case m := <-r.pongs:
			if rtt := r.pong(m); rtt >= 0 {
				r.rtts = append(r.rtts, rtt)
			}
		case d := <-r.dones:
			r.ended = policy.Ended(d.Reason)
			// What the target sent before is still to be read.
			r.over = true
			r.drain()
			return r.last(), nil
		case <-t.C:
			now := r.now()
			if now-r.began >= r.until {
				return r.until, nil
			}
			if err := r.look(ctx, now-r.began); err != nil {
				return 0, err
			}
		}
	}
}

// last is when the last payload came, since the run began.
func (r *run) last() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.curve.Last()
}

// look does what is due at an instant of the run.
func (r *run) look(ctx context.Context, at time.Duration) error {
	r.mu.Lock()
	rate, bytes := r.curve.Rate(at-time.Second, at), r.curve.Bytes()
	r.mu.Unlock()
	r.cfg.Progress(Progress{
		Way: r.way, Elapsed: at, Length: r.until, Rate: rate, Bytes: bytes, Streams: r.streams, Omitted: at < r.omit,
	})
	r.owe(r.expect(rate))
	if len(r.rtts) == 0 || at/pingEvery != (at-tick)/pingEvery {
		if err := r.ping(); err != nil {
			return err
		}
	}
	if at < r.omit && at-r.added >= settle+4*r.least && r.room(rate) >= halfFull {
		return r.double(ctx)
	}
	return nil
}

// room is the share of what the windows of all streams allow that a rate is.
func (r *run) room(rate float64) float64 {
	return rate * r.least.Seconds() / (float64(r.streams) * float64(r.cfg.window(r.way)))
}

// double adds as many streams as there are, and leaves out what comes until they
// are at their speed.
func (r *run) double(ctx context.Context) error {
	n := min(2*r.streams, int(r.grant.Streams)) - r.streams
	if n == 0 {
		return nil
	}
	if err := r.add(ctx, n); err != nil {
		return err
	}
	r.doubled++
	now := r.now() - r.began
	r.added = now
	if later := now + settle + 6*r.least; later > r.omit {
		r.until = min(r.until+later-r.omit, r.grant.Length-tick)
		r.omit = min(later, r.until/2)
	}
	return nil
}

// end stops the streams, here and there, and waits for them.
func (r *run) end() {
	close(r.stop)
	if !r.over && r.began > 0 && message.Write(r.control, message.Stop{}) == nil {
		r.await()
	}
	r.wg.Wait()
}

// await waits for the target to say that it has stopped.
func (r *run) await() {
	t := time.NewTimer(drainFor)
	defer t.Stop()
	for {
		select {
		case <-r.dones:
			return
		case err := <-r.failed:
			r.failed <- err // whoever asks next learns of it too
			return
		case <-r.pongs:
		case <-t.C:
			return
		}
	}
}

// drain waits until nothing comes any more.
func (r *run) drain() {
	quiet := max(4*r.least, 2*tick)
	for range int(drainFor / tick) {
		before := r.last()
		time.Sleep(quiet)
		if r.last() == before {
			return
		}
	}
}

// came notes n more bytes that were proven.
func (r *run) came(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.curve.Add(r.now()-r.began, n)
}

// sum makes the figures of a run that ended then.
func (r *run) sum(end time.Duration) (Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Run{
		Way: r.way, Streams: r.streams, Doublings: r.doubled, Bytes: r.curve.Bytes(), Elapsed: end, Omitted: min(r.omit, end),
	}
	if out.Bytes == 0 {
		return out, ErrNothing
	}
	seconds := r.curve.Seconds(out.Omitted, end)
	best, over := r.curve.Best(out.Omitted, end, 10*time.Second)
	out.Flow = report.Flow{
		Median: curve.Median(seconds), Best: best, BestSeconds: over.Seconds(),
		Mean: r.curve.Rate(out.Omitted, end), Series: r.curve.Seconds(0, end),
	}
	if len(r.rtts) > 0 {
		slices.Sort(r.rtts)
		out.RTTLoaded = r.rtts[len(r.rtts)/2]
	}
	if r.cfg.CPU != nil {
		out.Busy = float64(r.cfg.CPU()-r.idleCPU) / float64(r.now()-r.began) / float64(runtime.GOMAXPROCS(0))
	}
	if len(seconds) == 0 { // over before it counted: what there is, as a bound
		out.Flow.Median = r.curve.Rate(0, end)
	}
	out.LimitedBy = r.limit(out, len(seconds))
	out.LowerBound = out.LimitedBy != report.ByPeer
	return out, nil
}
