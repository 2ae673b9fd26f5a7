package bench_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/bench/peers"
	"github.com/assay-mux/assay/mux"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A host is our end: a multiplexer on a wrapped conn.
type host struct {
	name  string
	start func(conn net.Conn, side peers.Side, log io.Writer, opts ...mux.Option) (peers.Session, *mux.Meter, error)
}

var hosts = []host{
	{"hashicorp", func(conn net.Conn, side peers.Side, log io.Writer, opts ...mux.Option) (peers.Session, *mux.Meter, error) {
		config := mux.DefaultConfig()
		config.LogOutput = log
		start := mux.Server
		if side == peers.Client {
			start = mux.Client
		}
		s, err := start(conn, config, opts...)
		if err != nil {
			return nil, nil, err
		}
		return peers.FromHashicorp(s.Session), s.Meter(), nil
	}},
	{"libp2p", func(conn net.Conn, side peers.Side, log io.Writer, opts ...mux.Option) (peers.Session, *mux.Meter, error) {
		c := mux.Wrap(conn, opts...)
		s, err := peers.Libp2p(c, side, log)
		return s, c.Meter(), err
	}},
}

// Peers run nothing of ours.
var unmodified = []struct {
	name  string
	start peers.Starter
}{
	{"hashicorp", peers.Hashicorp},
	{"libp2p", peers.Libp2p},
}

var variants = []struct {
	name string
	opts []mux.Option
}{
	{"defaults", nil},
	{"async", []mux.Option{mux.WithAsyncWrites()}},
	{"cookie on every frame", []mux.Option{mux.WithCookieInterval(0)}},
}

// every runs f for each host, peer and side.
func every(t *testing.T, f func(t *testing.T, h host, peer peers.Starter, side peers.Side)) {
	for _, h := range hosts {
		for _, p := range unmodified {
			for _, side := range []peers.Side{peers.Client, peers.Server} {
				t.Run(fmt.Sprintf("%s as %v of %s", h.name, side, p.name), func(t *testing.T) {
					f(t, h, p.start, side)
				})
			}
		}
	}
}

// meeting is our wrapped end and the unmodified peer's.
type meeting struct {
	ours, theirs       peers.Session
	meter              *mux.Meter
	ourLog, theirLog   *peers.Log
	ourConn, theirConn net.Conn
}

func (m *meeting) close() {
	m.ours.Close()
	m.theirs.Close()
}

// meet connects a host with a peer over TCP.
func meet(h host, peer peers.Starter, side peers.Side, opts ...mux.Option) (*meeting, error) {
	c, s, err := peers.TCP()
	if err != nil {
		return nil, err
	}
	m := &meeting{ourLog: new(peers.Log), theirLog: new(peers.Log), ourConn: c, theirConn: s}
	if side == peers.Server {
		m.ourConn, m.theirConn = s, c
	}
	var err2 error
	m.ours, m.meter, err = h.start(m.ourConn, side, m.ourLog, opts...)
	m.theirs, err2 = peer(m.theirConn, !side, m.theirLog)
	return m, errors.Join(err, err2)
}

func mustMeet(t *testing.T, h host, peer peers.Starter, side peers.Side, opts ...mux.Option) *meeting {
	t.Helper()
	m, err := meet(h, peer, side, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	return m
}

// limit bounds a test whose streams have come to a stop.
const limit = 60 * time.Second

// fill is a reproducible sequence that no shifted or repeated part of equals.
func fill(seed byte, p []byte) { _, _ = rand.NewChaCha8([32]byte{seed}).Read(p) }

// send writes n bytes of the seed's sequence, in pieces of all sizes.
func send(w io.Writer, seed byte, n int) error {
	p := make([]byte, n)
	fill(seed, p)
	r := rand.New(rand.NewPCG(uint64(seed), 2))
	for len(p) > 0 {
		piece := min(len(p), 1+r.IntN(1<<r.IntN(19)))
		if k, err := w.Write(p[:piece]); err != nil || k != piece {
			return fmt.Errorf("wrote %d of %d: %w", k, piece, err)
		}
		p = p[piece:]
	}
	return nil
}

// receive reads n bytes and compares them with the seed's sequence.
func receive(r io.Reader, seed byte, n int) error {
	want, got := make([]byte, n), make([]byte, n)
	fill(seed, want)
	if k, err := io.ReadFull(r, got); err != nil {
		return fmt.Errorf("read %d of %d: %w", k, n, err)
	}
	if bytes.Equal(got, want) {
		return nil
	}
	first := 0
	for got[first] == want[first] {
		first++
	}
	return fmt.Errorf("byte %d of %d differs", first, n)
}

// open makes a stream from one end to the other. The first byte shows it to the
// accepting side. Only one open may run at a time.
func open(from, to peers.Session) (a, b peers.Stream, err error) {
	if a, err = from.Open(); err != nil {
		return nil, nil, err
	}
	if _, err = a.Write([]byte{1}); err != nil {
		return nil, nil, err
	}
	if b, err = to.Accept(); err != nil {
		return nil, nil, err
	}
	if _, err = io.ReadFull(b, make([]byte, 1)); err != nil {
		return nil, nil, err
	}
	until := time.Now().Add(limit)
	return a, b, errors.Join(a.SetDeadline(until), b.SetDeadline(until))
}

// exchange sends n bytes each way over a stream, at the same time.
func exchange(a, b peers.Stream, seed byte, n int) error {
	done := make(chan error, 4)
	go func() { done <- send(a, seed, n) }()
	go func() { done <- send(b, seed+1, n) }()
	go func() { done <- receive(b, seed, n) }()
	go func() { done <- receive(a, seed+1, n) }()
	var all error
	for range cap(done) {
		all = errors.Join(all, <-done)
	}
	return all
}

// Four streams, two opened by either end, carry data both ways at once. The
// peer must see nothing but yamux, and we must be answered.
func TestInterop(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			every(t, func(t *testing.T, h host, peer peers.Starter, side peers.Side) {
				m := mustMeet(t, h, peer, side, v.opts...)
				stop := watchOutstanding(m.meter)
				talk(t, m)
				if most := stop(); most > 8 {
					t.Errorf("%d cookies were outstanding, the limit is 8", most)
				}
				checkPings(t, m)
				checkMeter(t, settled(t, m.meter))
				m.close()
				for _, line := range m.theirLog.Lines() {
					t.Errorf("the peer logged: %s", line)
				}
			})
		})
	}
}

func talk(t *testing.T, m *meeting) {
	t.Helper()
	const streams, size = 4, 1 << 20
	done := make(chan error, streams)
	for i := range streams {
		from, to := m.ours, m.theirs
		if i%2 == 1 {
			from, to = to, from
		}
		a, b, err := open(from, to)
		if err != nil {
			t.Fatal(err)
		}
		go func() { done <- errors.Join(exchange(a, b, byte(2*i), size), a.Close(), b.Close()) }()
	}
	for range streams {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// watchOutstanding samples how many cookies are unanswered, until stopped.
func watchOutstanding(m *mux.Meter) (most func() int) {
	quit, result := make(chan struct{}), make(chan int)
	go func() {
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		most := 0
		for {
			select {
			case <-tick.C:
				most = max(most, m.Snapshot().Outstanding)
			case <-quit:
				result <- most
				return
			}
		}
	}()
	return func() int {
		close(quit)
		return <-result
	}
}

// settled waits until every cookie is answered or given up, so that none is in
// flight when the session closes, which the peer might log.
func settled(t *testing.T, m *mux.Meter) mux.Snapshot {
	t.Helper()
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if s := m.Snapshot(); s.Outstanding == 0 {
			return s
		}
	}
	t.Error("cookies stayed unanswered")
	return m.Snapshot()
}

// checkPings shows that the multiplexers' own pings are still answered, in
// either direction.
func checkPings(t *testing.T, m *meeting) {
	t.Helper()
	for range 5 {
		if d, err := m.ours.Ping(); err != nil || d <= 0 {
			t.Errorf("our multiplexer's ping: %v, %v", d, err)
		}
		if d, err := m.theirs.Ping(); err != nil || d <= 0 {
			t.Errorf("the peer's ping: %v, %v", d, err)
		}
	}
}

func checkMeter(t *testing.T, s mux.Snapshot) {
	t.Helper()
	c := s.Cookies
	t.Logf("cookies %+v, base RTT %v, p50 %v of %d, loaded %v of %d",
		c, s.RTT.Base, s.RTT.P50, s.RTT.Samples, s.RTT.LoadedP50, s.RTT.LoadedSamples)
	if c.Echoed == 0 || s.RTT.Samples+s.RTT.LoadedSamples == 0 || s.RTT.Base <= 0 {
		t.Error("no cookie was echoed, so nothing was measured")
	}
	if c.Replayed+c.Forged > 0 {
		t.Errorf("an honest peer's echoes were taken for a liar's: %+v", c)
	}
	// hashicorp answers each ping in a goroutine of its own. On a starved
	// machine one may be passed by so many others that we give its cookie up.
	if c.Late > c.Skipped || c.Skipped > 2+c.Issued/20 {
		t.Errorf("an honest peer's echoes were not taken as samples: %+v", c)
	}
	if s.Counts.ForeignEchoes > 0 {
		t.Errorf("%d foreign echoes", s.Counts.ForeignEchoes)
	}
	if s.Counts.TransparentIn || s.Counts.TransparentOut {
		t.Error("the shim gave up on frames of a yamux")
	}
	if s.Counts.PayloadIn < 4<<20 || s.Counts.UncountedIn > 0 {
		t.Errorf("%d payload bytes counted and %d not, want all 4 MiB and none",
			s.Counts.PayloadIn, s.Counts.UncountedIn)
	}
}

// go-yamux queues 32 answers and drops the rest with a line in its log. Even
// at the hard limit of unanswered cookies none may be dropped.
func TestPeerDropsNoPingReply(t *testing.T) {
	for _, p := range unmodified {
		t.Run(p.name, func(t *testing.T) {
			m := mustMeet(t, hosts[0], p.start, peers.Client, mux.WithCookieInterval(0), mux.WithCookieLimit(1000))
			a, b, err := open(m.ours, m.theirs)
			if err != nil {
				t.Fatal(err)
			}
			// How many cookies ride on so many frames depends on how soon echoes come.
			s := mux.Snapshot{}
			for tries := 0; s.Cookies.Issued < 1000 && tries < 20; tries++ {
				if err := manySmall(a, b, 20_000); err != nil {
					t.Fatal(err)
				}
				s = settled(t, m.meter)
			}
			t.Logf("%+v", s.Cookies)
			if s.Cookies.Issued < 1000 {
				t.Errorf("only %d cookies were sent: the test shows nothing", s.Cookies.Issued)
			}
			m.close()
			if lines := m.theirLog.Lines(); len(lines) > 0 {
				t.Errorf("the peer logged %d lines, first: %s", len(lines), lines[0])
			}
		})
	}
}

// manySmall sends n frames of 64 bytes from a to b.
func manySmall(a, b peers.Stream, n int) error {
	done := make(chan error, 1)
	go func() {
		p := make([]byte, 64)
		for range n {
			if _, err := a.Write(p); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	_, err := io.CopyN(io.Discard, b, int64(64*n))
	return errors.Join(err, <-done)
}
