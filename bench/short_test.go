package bench_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/bench/peers"
	"github.com/assay-mux/assay/bench/stats"
	"github.com/assay-mux/assay/mux"
)

// bare is a host without the shim.
func bare(start peers.Starter) func(net.Conn, peers.Side, io.Writer, ...mux.Option) (peers.Session, *mux.Meter, error) {
	return func(conn net.Conn, side peers.Side, log io.Writer, _ ...mux.Option) (peers.Session, *mux.Meter, error) {
		s, err := start(conn, side, log)
		return s, nil, err
	}
}

// outcome is what came of many short sessions.
type outcome struct {
	noisy int // sessions in which the peer logged something
	lost  int // sessions that did not deliver the reply whole
	lines map[string]int
	err   error // of the last that did not
}

func (o outcome) String() string {
	return fmt.Sprintf("%d noisy, %d lost (%v), lines %v", o.noisy, o.lost, o.err, o.lines)
}

// Sessions that are closed as soon as the reply is in have cookies in flight.
// The peer must not log more for that than it does for a bare session, which is
// mostly nothing. (hashicorp complains of an answer that it could not send.)
func TestShortSessions(t *testing.T) {
	every(t, func(t *testing.T, h host, peer peers.Starter, side peers.Side) {
		plain := host{start: bare(peers.Hashicorp)}
		if h.name == "libp2p" {
			plain.start = bare(peers.Libp2p)
		}
		var without, with outcome
		for range sessions {
			without.add(short(plain, peer, side))
			with.add(short(h, peer, side))
		}
		t.Logf("bare:    %v", without)
		t.Logf("wrapped: %v", with)
		if p := stats.Worse(without.noisy, sessions, with.noisy, sessions); p < 0.001 {
			t.Errorf("the peer logged in %d wrapped sessions, in %d bare ones (p = %.5f)", with.noisy, without.noisy, p)
		}
		if p := stats.Worse(without.lost, sessions, with.lost, sessions); p < 0.001 {
			t.Errorf("%d wrapped sessions lost data, %d bare ones (p = %.5f)", with.lost, without.lost, p)
		}
	})
}

func (o *outcome) add(lines []string, err error) {
	if o.lines == nil {
		o.lines = map[string]int{}
	}
	if len(lines) > 0 {
		o.noisy++
	}
	for _, line := range lines {
		o.lines[text(line)]++
	}
	if err != nil {
		o.lost++
		o.err = err
	}
}

// text is a log line without its date and addresses.
func text(line string) string {
	if i := strings.Index(line, "["); i >= 0 {
		line = line[i:]
	}
	if i := strings.Index(line, " tcp "); i >= 0 {
		if j := strings.LastIndex(line, ": "); j > i {
			line = line[:i] + line[j:]
		}
	}
	return line
}

// short is a session of one request and one reply, closed by us at once. It
// returns what the peer logged.
func short(h host, peer peers.Starter, side peers.Side) ([]string, error) {
	m, err := meet(h, peer, side)
	if err != nil {
		return nil, err
	}
	defer m.close()
	a, b, err := open(m.ours, m.theirs)
	if err != nil {
		return nil, err
	}
	const size = 64 << 10
	served := make(chan struct{})
	go func() {
		defer close(served)
		// That its last Write or its Close may fail, because we are gone with
		// what we wanted, is no loss.
		if receive(b, 1, 128) == nil && send(b, 2, size) == nil {
			b.Close()
		}
	}()
	err = errors.Join(send(a, 1, 128), receive(a, 2, size))
	a.Close()
	m.ours.Close()
	<-served
	waitForEnd(m.theirs)
	return m.theirLog.Lines(), err
}

// waitForEnd waits until the peer has seen the end of the connection, so that
// all it has to say is in its log.
func waitForEnd(s peers.Session) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			st, err := s.Accept()
			if err != nil {
				return
			}
			st.Close()
		}
	}()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
	}
}

// Data that is written, closed, and followed at once by the end of the session
// must arrive whole: the hazard of a reset behind unread bytes.
func TestLastBytesArrive(t *testing.T) {
	for _, p := range unmodified {
		for _, side := range []peers.Side{peers.Client, peers.Server} {
			t.Run(fmt.Sprintf("%v of %s", side, p.name), func(t *testing.T) {
				var without, with outcome
				for range sessions {
					without.add(nil, last(host{start: bare(peers.Hashicorp)}, p.start, side))
					with.add(nil, last(hosts[0], p.start, side))
				}
				t.Logf("bare:    %v", without)
				t.Logf("wrapped: %v", with)
				if p := stats.Worse(without.lost, sessions, with.lost, sessions); p < 0.001 {
					t.Errorf("%d wrapped sessions lost their last bytes, %d bare ones (p = %.5f)", with.lost, without.lost, p)
				}
			})
		}
	}
}

// last has the peer read while we write most of a window and close everything.
func last(h host, peer peers.Starter, side peers.Side) error {
	m, err := meet(h, peer, side)
	if err != nil {
		return err
	}
	defer m.close()
	a, b, err := open(m.ours, m.theirs)
	if err != nil {
		return err
	}
	const size = 200 << 10
	got := make(chan error, 1)
	go func() { got <- receive(patient{b}, 3, size) }()
	err = errors.Join(send(a, 3, size), a.Close(), m.ours.Close())
	return errors.Join(err, <-got)
}

// patient reads past errors that came with bytes. go-yamux returns the error
// of the window update it could not send, although there is more to read.
type patient struct{ io.Reader }

func (p patient) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		err = nil
	}
	return n, err
}
