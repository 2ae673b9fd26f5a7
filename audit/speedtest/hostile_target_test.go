package speedtest

import (
	"crypto/rand"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
)

// liar is a target that grants everything and serves payload as it likes.
type liar struct {
	payload func(st net.Conn, key keystream.Key, index uint16)
	started chan message.Start
	pong    func(message.Ping) []message.Pong // nil answers as it should
}

// serve answers a stream.
func (l *liar) serve(st net.Conn) {
	defer st.Close()
	m, err := message.Read(st)
	if err != nil {
		return
	}
	switch m := m.(type) {
	case message.Propose:
		message.Write(st, message.Grant{Runs: 4, Streams: 64, Length: 30 * time.Second, Bytes: 1 << 40})
		l.control(st)
	case message.Attach:
		message.Write(st, message.Attached{})
		s := <-l.started
		l.started <- s
		l.payload(st, s.Key, m.Index)
	}
}

func (l *liar) control(st net.Conn) {
	for {
		m, err := message.Read(st)
		if err != nil {
			return
		}
		switch m := m.(type) {
		case message.Ping:
			if l.pong == nil {
				message.Write(st, message.Pong(m))
				continue
			}
			for _, p := range l.pong(m) {
				message.Write(st, p)
			}
		case message.Start:
			l.started <- m
		case message.Stop:
			message.Write(st, message.Done{Bytes: 1 << 40})
		}
	}
}

// measureLiar measures it one way.
func measureLiar(t *testing.T, way message.Way, payload func(net.Conn, keystream.Key, uint16)) (res Result, err error) {
	return measureThis(t, way, &liar{payload: payload})
}

func measureThis(t *testing.T, way message.Way, l *liar) (res Result, err error) {
	bubble.Run(t, func(t *testing.T) {
		a, b := lab.Pair(lab.Link{Rate: 20 * lab.Mbit, OneWay: 10 * time.Millisecond})
		near, err1 := mux.Client(a, quiet(), options()...)
		far, err2 := mux.Server(b, quiet(), options()...)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		l.started = make(chan message.Start, 1)
		go func() {
			for {
				st, err := far.AcceptStream()
				if err != nil {
					return
				}
				go l.serve(st)
			}
		}()
		res, err = Measure(t.Context(), Config{Near: near, Ways: []message.Way{way}, Length: 5 * time.Second, Prior: 2.5e6})
		near.Close()
		far.Close()
	})
	return res, err
}

// flood writes what fill makes until the stream ends.
func flood(st net.Conn, fill func(p []byte)) {
	buf := make([]byte, chunk)
	for {
		fill(buf)
		if _, err := st.Write(buf); err != nil {
			return
		}
	}
}

// TestForgedPayloadGetsNoCredit: whatever a target sends instead of the payload,
// it has measured nothing.
func TestForgedPayloadGetsNoCredit(t *testing.T) {
	for name, fill := range map[string]func(k keystream.Key, index uint16) func([]byte){
		"zeros, which compress": func(keystream.Key, uint16) func([]byte) { return func(p []byte) { clear(p) } },
		"random bytes":          func(keystream.Key, uint16) func([]byte) { return func(p []byte) { rand.Read(p) } },
		"another stream's":      func(k keystream.Key, i uint16) func([]byte) { return keystream.NewSource(k, i+1).Fill },
		"one chunk repeated": func(k keystream.Key, i uint16) func([]byte) {
			return func(p []byte) { keystream.NewSource(k, i).Fill(p) }
		},
		"a forged byte after a megabyte": func(k keystream.Key, i uint16) func([]byte) {
			src, n := keystream.NewSource(k, i), 0
			return func(p []byte) {
				src.Fill(p)
				if n += len(p); n > 1e6 {
					p[0] ^= 1
				}
			}
		},
	} {
		res, err := measureLiar(t, message.FromTarget, func(st net.Conn, k keystream.Key, i uint16) { flood(st, fill(k, i)) })
		if !errors.Is(err, keystream.ErrForged) || len(res.Runs) != 0 {
			t.Errorf("%s: %v, with %d runs", name, err, len(res.Runs))
		}
	}
}

// TestNothingSentIsNothing: what the target says it has moved counts for nothing.
func TestNothingSentIsNothing(t *testing.T) {
	res, err := measureLiar(t, message.FromTarget, func(net.Conn, keystream.Key, uint16) {})
	if !errors.Is(err, ErrNothing) || len(res.Runs) != 0 {
		t.Errorf("%v, with %d runs", err, len(res.Runs))
	}
}

// TestShortPayloadIsAFewBytes: one that stops early has the rate of what it sent.
func TestShortPayloadIsAFewBytes(t *testing.T) {
	res, err := measureLiar(t, message.FromTarget, func(st net.Conn, k keystream.Key, i uint16) {
		p := make([]byte, 100_000)
		keystream.NewSource(k, i).Fill(p)
		st.Write(p)
	})
	if err != nil || res.Runs[0].Flow.Median != 0 || res.Runs[0].Bytes != 400_000 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestFalseReceiptsGetNoCredit: a target that has not read what it receipts.
func TestFalseReceiptsGetNoCredit(t *testing.T) {
	for name, receipt := range map[string]func(n int64, sum, first *keystream.Sum) message.Receipt{
		"no sum": func(n int64, _, _ *keystream.Sum) message.Receipt { return message.Receipt{Bytes: n} },
		"more than it has read": func(n int64, s, _ *keystream.Sum) message.Receipt {
			return message.Receipt{Bytes: 4 * n, Sum: s.Value()}
		},
		"what was never sent": func(int64, *keystream.Sum, *keystream.Sum) message.Receipt { return message.Receipt{Bytes: 1 << 40} },
		"the same again": func(_ int64, _, first *keystream.Sum) message.Receipt {
			return message.Receipt{Bytes: chunk, Sum: first.Value()}
		},
		"backwards": func(n int64, s, _ *keystream.Sum) message.Receipt {
			return message.Receipt{Bytes: max(0, 3*chunk-n), Sum: s.Value()}
		},
		"no whole unit": func(n int64, s, _ *keystream.Sum) message.Receipt {
			return message.Receipt{Bytes: n - 1, Sum: s.Value()}
		},
	} {
		res, err := measureLiar(t, message.ToTarget, func(st net.Conn, _ keystream.Key, i uint16) {
			var sum, first keystream.Sum
			buf := make([]byte, chunk)
			for {
				for at := 0; at < chunk; {
					n, err := st.Read(buf[at:])
					if err != nil {
						return
					}
					at += n
				}
				sum.Add(buf)
				if first.Len() == 0 {
					first = sum
				}
				if message.Write(st, receipt(sum.Len(), &sum, &first)) != nil {
					return
				}
			}
		})
		if !errors.Is(err, ErrReceipt) || len(res.Runs) != 0 {
			t.Errorf("%s: %v, with %d runs", name, err, len(res.Runs))
		}
	}
}

// TestNoReceiptsEnds: one that takes everything and proves nothing.
func TestNoReceiptsEnds(t *testing.T) {
	_, err := measureLiar(t, message.ToTarget, func(st net.Conn, _ keystream.Key, _ uint16) {
		buf := make([]byte, chunk)
		for {
			if _, err := st.Read(buf); err != nil {
				return
			}
		}
	})
	if !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
}

// TestMarksAreBounded: the memory for what is under way.
func TestMarksAreBounded(t *testing.T) {
	var m marks
	buf := make([]byte, chunk)
	n := 0
	for m.note(buf) {
		n++
	}
	if n != mostMarks*receiptUnit/chunk {
		t.Errorf("%d chunks were noted without a receipt", n)
	}
}

// TestNonsense: a target that answers with something else.
func TestNonsense(t *testing.T) {
	for name, answer := range map[string]message.Message{
		"a pong":             message.Pong{},
		"a grant of nothing": message.Grant{},
	} {
		_, err := against(t, func(st net.Conn) { message.Write(st, answer) })
		if !errors.Is(err, message.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := against(t, func(st net.Conn) {
		message.Write(st, message.Refusal{Code: uint8(policy.TooSoon), RetryAfter: time.Hour})
	})
	if r, ok := errors.AsType[*policy.Refusal](err); !ok || *r != (policy.Refusal{Code: policy.TooSoon, RetryAfter: time.Hour}) {
		t.Errorf("a refusal: %v", err)
	}
	if _, err := against(t, func(st net.Conn) {}); err == nil {
		t.Error("an end is taken for an answer")
	}
}

// against measures one that answers a proposal by itself.
func against(t *testing.T, answer func(net.Conn)) (Result, error) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer b.Close()
		if _, err := message.Read(b); err == nil {
			answer(b)
		}
	}()
	res, err := Measure(t.Context(), Config{Near: opening{a}, Ways: []message.Way{message.FromTarget}})
	a.Close()
	<-done
	return res, err
}

// opening opens always the same stream.
type opening struct{ net.Conn }

func (o opening) Open() (net.Conn, error) { return o.Conn, nil }

// TestForgedRoundTrips: a target cannot make up the round trip, by which what it
// does would pass for what our windows allow, and so for a lower bound.
func TestForgedRoundTrips(t *testing.T) {
	honest := func(st net.Conn, k keystream.Key, i uint16) { flood(st, keystream.NewSource(k, i).Fill) }
	longAgo := func(p message.Ping) message.Pong { return message.Pong{Value: p.Value - uint64(time.Hour)} }
	ahead := func(p message.Ping) message.Pong { return message.Pong{Value: p.Value + uint64(time.Hour)} }
	for name, pong := range map[string]func(message.Ping) []message.Pong{
		"long ago":       func(p message.Ping) []message.Pong { return []message.Pong{longAgo(p), message.Pong(p)} },
		"before we ask":  func(p message.Ping) []message.Pong { return []message.Pong{ahead(p), message.Pong(p)} },
		"the same twice": func(p message.Ping) []message.Pong { return []message.Pong{message.Pong(p), message.Pong(p)} },
	} {
		res, err := measureThis(t, message.FromTarget, &liar{payload: honest, pong: pong})
		if err != nil || len(res.Runs) != 1 {
			t.Fatalf("%s: %v, %d runs", name, err, len(res.Runs))
		}
		r := res.Runs[0]
		if res.RTTIdle < 20*time.Millisecond || res.RTTIdle > 30*time.Millisecond || r.LimitedBy != report.ByPeer || r.LowerBound || r.RTTLoaded > 5*time.Second {
			t.Errorf("%s: round trip %v, loaded %v, limited by %s", name, res.RTTIdle, r.RTTLoaded, r.LimitedBy)
		}
	}
	res, err := measureThis(t, message.FromTarget, &liar{payload: honest, pong: func(p message.Ping) []message.Pong { return []message.Pong{longAgo(p)} }})
	if !errors.Is(err, ErrNothing) || len(res.Runs) != 0 {
		t.Errorf("forged alone: %v, %d runs", err, len(res.Runs))
	}
}
