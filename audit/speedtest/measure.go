package speedtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Errors of Measure, besides those of the multiplexer, of ctx, *policy.Refusal,
// keystream.ErrForged and ErrConfig.
var (
	// ErrStreams says that too few of the streams could be opened.
	ErrStreams = errors.New("speedtest: fewer than half of the streams could be opened, try again later")
	// ErrNothing says that no payload came.
	ErrNothing = errors.New("speedtest: the peer granted the test and then sent nothing that could be proven, try again later")
	// ErrReceipt says that a receipt is false.
	ErrReceipt = errors.New("speedtest: the peer claims to have received what it has not; count none of it, and distrust it")
)

// Result is what a test found out.
type Result struct {
	Grant   message.Grant
	RTTIdle time.Duration // median, before the runs
	Runs    []Run         // those that gave a figure, in the order of Config.Ways
}

// Run is what one way gave.
type Run struct {
	Way        message.Way
	Flow       report.Flow
	LimitedBy  report.Limit
	LowerBound bool // something else than the target limited it
	Streams    int  // at its end
	Doublings  int  // how often there turned out to be too few
	Bytes      int64
	Elapsed    time.Duration // of the transfer
	Omitted    time.Duration // of that
	RTTLoaded  time.Duration // median
	Busy       float64       // share of our processors in use, 0 if not known
}

// Ceiling is the rate, in bytes per second, above which the peer did not get when
// it sent to us: the median second of its run from the target. False without such a
// run, or where something else limited it. A ranker that is told it
// (ranking.Ranker.Tested) predicts nothing faster of the peer, and nothing slower
// is believed faster for it.
func (r Result) Ceiling() (bytesPerSecond float64, ok bool) {
	for _, run := range r.Runs {
		if run.Way == message.FromTarget && !run.LowerBound && run.Flow.Median > 0 {
			return run.Flow.Median, true
		}
	}
	return 0, false
}

// Measure asks for consent, and measures. With an error the result has the runs
// that had ended before. The error is *policy.Refusal if the peer refuses.
func Measure(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.normal()
	if err != nil {
		return Result{}, err
	}
	st, err := cfg.Near.Open()
	if err != nil {
		return Result{}, err
	}
	t, err := newTester(ctx, cfg, st)
	if err != nil {
		st.Close()
		return Result{}, err
	}
	defer t.close()
	res := Result{Grant: t.grant}
	if res.RTTIdle, err = t.idle(ctx); err != nil {
		return res, explain(ctx, err)
	}
	for i, w := range cfg.Ways[:min(len(cfg.Ways), int(t.grant.Runs))] {
		run, err := t.twice(ctx, w, len(cfg.Ways)-i)
		if err != nil {
			return res, fmt.Errorf("%s: %w", w, explain(ctx, err))
		}
		res.Runs = append(res.Runs, run)
	}
	return res, nil
}

// twice measures one way, and again with twice the streams if their windows may
// have been the limit and the grant has a run to spare beyond those still due,
// this one among them.
func (t *tester) twice(ctx context.Context, w message.Way, due int) (Run, error) {
	n := t.cfg.streams(t.cfg.Prior, t.least, t.cfg.window(w), int(t.grant.Streams))
	one, err := t.run(ctx, w, n)
	spare := int(t.grant.Runs) - t.runs - (due - 1)
	if err != nil || one.LimitedBy != report.ByWindow || spare < 1 || one.Streams >= int(t.grant.Streams) {
		return one, err
	}
	again, err := t.run(ctx, w, min(2*one.Streams, int(t.grant.Streams)))
	if err != nil {
		return one, nil // a lower bound is better than nothing
	}
	again.Bytes += one.Bytes
	again.Doublings += one.Doublings + 1
	return again, nil
}

// Capacity is the smaller of the runs' figures in bytes per second, with what
// limited it, for as relays are used a byte in is a byte out; 0 if there are none.
func (r Result) Capacity() (rate float64, by report.Limit, lowerBound bool) {
	if len(r.Runs) == 0 {
		return 0, "", false
	}
	least := slices.MinFunc(r.Runs, func(a, b Run) int { return int(a.Flow.Median - b.Flow.Median) })
	return least.Flow.Median, least.LimitedBy, least.LowerBound
}

// tester is a test under way.
type tester struct {
	cfg     Config
	grant   message.Grant
	control net.Conn
	unhook  func() bool
	base    time.Time

	pongs  chan message.Pong
	dones  chan message.Done
	failed chan error                 // what ended the control stream
	gone   chan struct{}              // closed when its reader has
	runs   int                        // begun, which numbers them
	least  time.Duration              // round trip
	asked  map[time.Duration]struct{} // pings that are not answered, by when they went
}

// newTester proposes the test.
func newTester(ctx context.Context, cfg Config, st net.Conn) (*tester, error) {
	_ = st.SetDeadline(time.Now().Add(patience))
	err := message.Write(st, message.Propose{
		Runs: uint8(len(cfg.Ways) + 1), Streams: uint16(cfg.MaxStreams), Length: cfg.Length + cfg.Length/4 + time.Second,
		Bytes: cfg.Bytes, Rate: cfg.Rate, Limit: cfg.Limit,
	})
	if err != nil {
		return nil, explain(ctx, err)
	}
	grant, err := message.Expect[message.Grant](st)
	if err != nil {
		return nil, explain(ctx, err)
	}
	if grant.Runs < 1 || grant.Streams < 1 || grant.Length < time.Second || grant.Bytes < 1 {
		return nil, fmt.Errorf("%w (a grant of nothing)", message.ErrMalformed)
	}
	_ = st.SetDeadline(time.Time{})
	t := &tester{
		cfg: cfg, grant: grant, control: st, base: time.Now(),
		pongs: make(chan message.Pong, 64), dones: make(chan message.Done, 1),
		failed: make(chan error, 1), gone: make(chan struct{}), asked: make(map[time.Duration]struct{}),
	}
	t.unhook = context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Now()) })
	go t.read()
	return t, nil
}

// close ends the control stream, which ends the test at the target too. Whoever
// reads a stream has to be done before it is closed.
func (t *tester) close() {
	t.unhook()
	_ = t.control.SetReadDeadline(time.Now())
	<-t.gone
	t.control.Close()
}

func (t *tester) now() time.Duration { return time.Since(t.base) }

// read takes what the target says on the control stream.
func (t *tester) read() {
	defer close(t.gone)
	for {
		m, err := message.Read(t.control)
		if err != nil {
			t.failed <- err
			return
		}
		switch m := m.(type) {
		case message.Pong:
			select {
			case t.pongs <- m:
			default: // more than we asked for
			}
		case message.Done:
			select {
			case t.dones <- m:
			default:
			}
		default:
			t.failed <- fmt.Errorf("%w (on the control stream)", message.ErrMalformed)
			return
		}
	}
}

// mostAsked bounds the pings that are remembered: whoever leaves so many
// unanswered, a quarter of a second apart, is not going to answer.
const mostAsked = 256

// ping asks for a pong, whose value says when.
func (t *tester) ping() error {
	now := t.now()
	if len(t.asked) < mostAsked {
		t.asked[now] = struct{}{}
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(patience))
	return message.Write(t.control, message.Ping{Value: uint64(now)})
}

// pong is the round trip that a pong shows, negative if it is not the answer to a
// ping. A target that could make up round trips could have its own limit pass for
// that of our windows, and what it does for a lower bound.
func (t *tester) pong(m message.Pong) time.Duration {
	at := time.Duration(m.Value)
	if _, ok := t.asked[at]; !ok {
		return -1
	}
	delete(t.asked, at)
	return t.now() - at
}

// greetings is how many round trips are taken before the runs.
const greetings = 5

// idle measures the round trip before anything loads the path.
func (t *tester) idle(ctx context.Context) (time.Duration, error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	var rtts []time.Duration
	for range greetings {
		if err := t.ping(); err != nil {
			return 0, err
		}
		rtt, err := t.answer(ctx, limit.C)
		if err != nil {
			return 0, err
		}
		rtts = append(rtts, rtt)
	}
	slices.Sort(rtts)
	t.least = rtts[0]
	return rtts[len(rtts)/2], nil
}

// answer waits for the answer to a ping.
func (t *tester) answer(ctx context.Context, limit <-chan time.Time) (time.Duration, error) {
	for {
		select {
		case m := <-t.pongs:
			if rtt := t.pong(m); rtt >= 0 {
				return rtt, nil
			}
		case err := <-t.failed:
			return 0, err
		case <-limit:
			return 0, ErrNothing
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}
