package mux

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func data(stream uint32, flags uint16, n uint32) header {
	return header{kind: kindData, flags: flags, stream: stream, length: n}
}

func window(stream uint32, flags uint16, n uint32) header {
	return header{kind: kindWindow, flags: flags, stream: stream, length: n}
}

// receive books a whole Data frame.
func (l *ledger) receive(h header, at time.Duration) bool {
	a, _ := l.arrived(h, at)
	if a == nil {
		return false
	}
	l.payload(a, at, int(h.length))
	return true
}

func TestPayloadCountsOnlyOnOpenStreamsWithinCredit(t *testing.T) {
	var l ledger
	if l.receive(data(1, 0, 10), 0) {
		t.Error("counted on an unknown stream")
	}
	l.sent(window(1, flagSYN, 0), 0)
	l.arrived(window(2, flagSYN, 0), 0)
	for _, stream := range []uint32{1, 2} {
		if !l.receive(data(stream, 0, initialCredit-1), ms) || !l.receive(data(stream, 0, 1), ms) {
			t.Errorf("stream %d: refused within the first window", stream)
		}
		if l.receive(data(stream, 0, 1), ms) {
			t.Errorf("stream %d: counted beyond credit", stream)
		}
		l.sent(window(stream, 0, 100), ms)
		if l.receive(data(stream, 0, 101), ms) || !l.receive(data(stream, 0, 100), ms) {
			t.Errorf("stream %d: the grant is not booked", stream)
		}
	}
	l.arrived(data(2, flagFIN, 0), ms)
	l.sent(window(2, 0, 100), ms)
	if l.receive(data(2, 0, 1), ms) {
		t.Error("counted after the peer was done")
	}
	l.arrived(window(1, flagRST, 0), ms)
	if l.receive(data(1, 0, 1), ms) {
		t.Error("counted after a reset")
	}
}

func TestPayloadOfTheFrameThatEndsAStreamCounts(t *testing.T) {
	for name, flag := range map[string]uint16{"FIN": flagFIN, "RST": flagRST} {
		var l ledger
		l.arrived(window(2, flagSYN, 0), 0)
		if !l.receive(data(2, flag, 10), ms) {
			t.Errorf("%s: not counted", name)
		}
		if l.busy != 0 {
			t.Errorf("%s: %d streams busy", name, l.busy)
		}
	}
}

func TestControlFramesMoveNothing(t *testing.T) {
	var l ledger
	for _, k := range []kind{kindPing, kindGoAway} {
		h := header{kind: k, flags: flagSYN, stream: 5, length: 9}
		l.sent(h, 0)
		if a, _ := l.arrived(h, 0); a != nil {
			t.Errorf("kind %d has an account", k)
		}
	}
	if len(l.streams) != 0 {
		t.Errorf("%d streams open", len(l.streams))
	}
}

func TestFirstAnswerToOurStreamIsARoundTrip(t *testing.T) {
	var l ledger
	l.sent(window(1, flagSYN, 0), 10*ms)
	if _, answer := l.arrived(window(1, flagACK, 0), 35*ms); answer != 25*ms {
		t.Errorf("got %v", answer)
	}
	if _, answer := l.arrived(data(1, 0, 5), 90*ms); answer != 0 {
		t.Errorf("a later frame is %v", answer)
	}
	l.arrived(window(2, flagSYN, 0), 0)
	if _, answer := l.arrived(data(2, 0, 5), 90*ms); answer != 0 {
		t.Errorf("on the peer's own stream %v", answer)
	}
}

func TestStreamsThatAreDoneAreForgotten(t *testing.T) {
	both := [][2]header{ // ours, the peer's
		{data(1, flagFIN, 0), data(1, flagFIN, 0)},
		{window(1, flagFIN, 0), data(1, flagFIN, 9)},
		{window(1, flagRST, 0), window(7, 0, 0)},
		{window(7, 0, 0), data(1, flagRST, 0)},
	}
	for i, frames := range both {
		var l ledger
		l.sent(window(1, flagSYN, 0), 0)
		l.receive(data(1, 0, 100), 0)
		l.sent(frames[0], ms)
		l.arrived(frames[1], ms)
		if len(l.streams) != 0 || l.busy != 0 {
			t.Errorf("case %d: %d open, %d busy", i, len(l.streams), l.busy)
		}
	}
}

func TestLedgerIsBoundedAgainstStreamsWithoutEnd(t *testing.T) {
	var l ledger
	for i := range uint32(maxStreams + 100) {
		l.arrived(window(i, flagSYN, 0), 0)
	}
	if len(l.streams) != maxStreams {
		t.Errorf("%d streams kept", len(l.streams))
	}
	if l.receive(data(maxStreams+1, 0, 5), 0) {
		t.Error("payload counted on a stream that is not kept")
	}
}

func TestExhausted(t *testing.T) {
	const rtt, now = 100 * ms, 5000 * ms
	full := func(l *ledger, stream uint32, at time.Duration) {
		l.arrived(window(stream, flagSYN, 0), at)
		l.receive(data(stream, 0, initialCredit), at)
	}
	tests := []struct {
		name string
		do   func(l *ledger)
		want time.Duration
	}{
		{"no stream", func(*ledger) {}, 1000 * ms},
		{"credit left", func(l *ledger) {
			l.arrived(window(1, flagSYN, 0), 0)
			l.receive(data(1, 0, initialCredit-1), 1000*ms)
		}, 1000 * ms},
		{"never granted", func(l *ledger) { full(l, 1, 1000*ms) }, now},
		{"granted later", func(l *ledger) {
			full(l, 1, 1000*ms)
			l.sent(window(1, 0, 100), 2000*ms)
		}, 2100 * ms},
		{"granted before the last payload", func(l *ledger) {
			l.arrived(window(1, flagSYN, 0), 0)
			l.sent(window(1, 0, 100), 500*ms)
			l.receive(data(1, 0, initialCredit), 1000*ms)
		}, 1000 * ms},
		{"grant under way when the last came", func(l *ledger) {
			l.arrived(window(1, flagSYN, 0), 0)
			l.receive(data(1, 0, initialCredit-5), 900*ms)
			l.sent(window(1, 0, 100), 950*ms)
			l.receive(data(1, 0, 5), 1000*ms)
		}, 1050 * ms},
		{"granted within a round trip of now", func(l *ledger) {
			full(l, 1, 1000*ms)
			l.sent(window(1, 0, 100), now-10*ms)
		}, now},
		{"one of two has credit", func(l *ledger) {
			full(l, 1, 1000*ms)
			l.arrived(window(2, flagSYN, 0), 0)
			l.receive(data(2, 0, 5), 900*ms)
		}, 1000 * ms},
		{"the sooner of two", func(l *ledger) {
			full(l, 1, 1000*ms)
			full(l, 2, 900*ms)
			l.sent(window(1, 0, 1), 3000*ms)
			l.sent(window(2, 0, 1), 2000*ms)
		}, 2100 * ms},
		{"the other is done", func(l *ledger) {
			full(l, 1, 1000*ms)
			l.arrived(window(2, flagSYN, 0), 0)
			l.receive(data(2, flagFIN, 5), 900*ms)
		}, now},
		{"the other has not sent in this burst", func(l *ledger) {
			full(l, 1, 1000*ms)
			l.arrived(window(2, flagSYN, 0), 0)
			l.receive(data(2, 0, 5), 100*ms)
		}, now},
		{"empty grants are none", func(l *ledger) {
			full(l, 1, 1000*ms)
			l.sent(window(1, 0, 0), 2000*ms)
		}, now},
	}
	for _, tt := range tests {
		var l ledger
		tt.do(&l)
		if got := l.exhausted(500*ms, 1000*ms, now, rtt, false); got != tt.want {
			t.Errorf("%s: until %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestExhaustedWhileFetching: a stream that the peer opened and used up is no excuse for silence on ours.
func TestExhaustedWhileFetching(t *testing.T) {
	const rtt, now = 100 * ms, 5000 * ms
	var l ledger
	l.arrived(window(2, flagSYN, 0), 0)
	l.receive(data(2, 0, initialCredit), 900*ms)
	if got := l.exhausted(500*ms, 1000*ms, now, rtt, true); got != now {
		t.Errorf("no stream of ours: until %v, want %v, for its streams may be what we fetch", got, now)
	}
	l.sent(window(1, flagSYN, 0), 950*ms)
	if got := l.exhausted(500*ms, 1000*ms, now, rtt, true); got != 1000*ms {
		t.Errorf("ours unanswered: until %v, nothing is ours", got)
	}
	l.receive(data(1, 0, initialCredit), 1000*ms)
	if got := l.exhausted(500*ms, 1000*ms, now, rtt, true); got != now {
		t.Errorf("ours exhausted too: until %v, want %v", got, now)
	}
	l.sent(window(1, 0, 100), 2000*ms)
	if got := l.exhausted(500*ms, 1000*ms, now, rtt, true); got != 2100*ms {
		t.Errorf("ours granted: until %v, want 2.1s", got)
	}
	if got := l.exhausted(500*ms, 1000*ms, now, rtt, false); got != 2100*ms {
		t.Errorf("with no fetch: until %v, want 2.1s", got)
	}
}

// book is the brute-force model of one stream: every grant is kept.
type book struct {
	received, granted uint64
	grants            []grant
	last              time.Duration
	done              bool
}

// heard is the first instant, after the last payload, at which the peer's next
// byte can have come.
func (b *book) heard(last, now, rtt time.Duration) time.Duration {
	if b.received < initialCredit {
		return last
	}
	for _, g := range b.grants {
		if g.total > b.received {
			return max(last, g.at+rtt)
		}
	}
	return now
}

// unused is how many grants the peer has not used up.
func (b *book) unused() (n int) {
	for _, g := range b.grants {
		if g.total > b.received {
			n++
		}
	}
	return n
}

func TestLedgerNeverClaimsMoreThanItCanProve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l ledger
		books := map[uint32]*book{}
		var now, last time.Duration
		crowded := false // a grant had to be merged with another
		from := time.Duration(rapid.IntRange(0, 300).Draw(rt, "from")) * ms
		for range rapid.IntRange(1, 60).Draw(rt, "events") {
			now += time.Duration(rapid.IntRange(1, 40).Draw(rt, "gap")) * ms
			stream := rapid.Uint32Range(1, 3).Draw(rt, "stream")
			b := books[stream]
			if b == nil {
				b = &book{granted: initialCredit}
				books[stream] = b
				l.arrived(window(stream, flagSYN, 0), now)
			}
			switch rapid.IntRange(0, 5).Draw(rt, "event") {
			case 0, 1:
				if b.done {
					continue
				}
				n := rapid.SampledFrom([]uint32{1, 50_000, initialCredit / 2}).Draw(rt, "grant")
				crowded = crowded || b.unused() >= grantsKept
				b.granted += uint64(n)
				b.grants = append(b.grants, grant{now, b.granted})
				l.sent(window(stream, 0, n), now)
			case 2:
				if rapid.IntRange(0, 9).Draw(rt, "fin") == 0 && !b.done {
					b.done = true
					l.arrived(data(stream, flagFIN, 0), now)
				}
			default:
				left := b.granted - b.received
				n := rapid.SampledFrom([]uint64{left, left / 2, min(left, 1)}).Draw(rt, "payload")
				if n == 0 || b.done {
					continue
				}
				if !l.receive(data(stream, 0, uint32(n)), now) {
					rt.Fatalf("%d bytes of %d refused", n, left)
				}
				b.received += n
				b.last, last = now, now
			}
			at := now + time.Duration(rapid.IntRange(0, 500).Draw(rt, "silence"))*ms
			rtt := time.Duration(rapid.IntRange(0, 100).Draw(rt, "rtt")) * ms
			got := l.exhausted(from, last, at, rtt, false)
			want := provable(books, from, last, at, rtt)
			if got > want || got < last || !crowded && got != want {
				rt.Fatalf("claims %v to %v, provable is %v (crowded %v)", last, got, want, crowded)
			}
		}
		busy := 0
		for _, b := range books {
			if b.received > 0 && !b.done {
				busy++
			}
		}
		if l.busy != busy {
			rt.Fatalf("%d busy, want %d", l.busy, busy)
		}
	})
}

// provable is the end of the silence that was for want of credit.
func provable(books map[uint32]*book, from, last, now, rtt time.Duration) time.Duration {
	until, some := now, false
	for _, b := range books {
		if b.received == 0 || b.done || b.last < from {
			continue
		}
		some = true
		until = min(until, b.heard(last, now, rtt))
	}
	if !some {
		return last
	}
	return until
}

func TestUnfinished(t *testing.T) {
	var l ledger
	if l.unfinished(0) {
		t.Error("no stream is open")
	}
	l.sent(window(1, flagSYN, 0), 0)
	if l.unfinished(0) {
		t.Error("the stream has carried nothing")
	}
	l.receive(data(1, 0, 5), 10*ms)
	if !l.unfinished(10*ms) || l.unfinished(11*ms) {
		t.Error("want it unfinished since 10 ms and not since 11")
	}
	l.receive(data(1, flagFIN, 5), 20*ms)
	if l.unfinished(0) {
		t.Error("the peer is done")
	}
}
