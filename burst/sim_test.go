package burst

import (
	"math"
	"testing"
	"time"
)

const (
	ms      = time.Millisecond
	segment = 1448
	mbit    = 125000.0 // bytes per second
)

// read is one arrival as a simulated peer causes it.
type read struct {
	at    time.Duration
	bytes int
	ours  time.Duration
}

// link is a path with a bottleneck and a sender in slow start; see cold.
type link struct {
	rtt     time.Duration
	speed   float64       // bytes per second
	delayed bool          // the receiver acknowledges every second segment: the window grows by half a round
	late    time.Duration // how long the receiver waits for a second segment to acknowledge with the first; 0 not at all
}

func (l link) tx(bytes int) time.Duration {
	return time.Duration(float64(bytes) / l.speed * 1e9)
}

func (l link) path(confirmed bool) Path { return Path{BaseRTT: l.rtt, Confirmed: confirmed} }

// send returns the segments of n bytes requested at start, from a sender whose congestion window is
// cwnd and grows by what is acknowledged. The bottleneck is at the sender.
func (l link) send(start time.Duration, n, cwnd int) []read {
	type ack struct {
		at    time.Duration
		bytes int
	}
	var out []read
	var acks []ack
	free, flight := start+l.rtt/2, 0
	odd := false // the last segment waits for another
	for n > 0 {
		size := min(segment, n)
		for flight+size > cwnd {
			free = max(free, acks[0].at)
			flight -= acks[0].bytes
			if l.delayed {
				cwnd += acks[0].bytes / 2
			} else {
				cwnd += acks[0].bytes
			}
			acks = acks[1:]
		}
		free += l.tx(size)
		flight += size
		n -= size
		out = append(out, read{at: free + l.rtt/2, bytes: size})
		last := len(acks) - 1
		switch odd = !odd && l.late > 0; {
		case odd:
			acks = append(acks, ack{free + l.rtt + l.late, size})
		case l.late > 0 && last >= 0:
			acks[last].at = min(acks[last].at, free+l.rtt)
			fallthrough
		default:
			acks = append(acks, ack{free + l.rtt, size})
		}
	}
	return out
}

func (l link) cold(start time.Duration, n int) []read { return l.send(start, n, 14600) }
func (l link) warm(start time.Duration, n int) []read { return l.send(start, n, 1<<30) }

// merge reads up to size bytes at once, as a reader does that is a few segments behind.
func merge(in []read, size int) []read {
	var out []read
	for _, r := range in {
		if k := len(out) - 1; k >= 0 && out[k].bytes+r.bytes <= size && r.at-out[k].at <= 300*time.Microsecond {
			out[k] = read{at: r.at, bytes: out[k].bytes + r.bytes, ours: out[k].ours + r.ours}
			continue
		}
		out = append(out, r)
	}
	return out
}

// stalled inserts silence before each further burst of size bytes.
func stalled(in []read, size int, silence time.Duration) []read {
	out := make([]read, 0, len(in))
	var shift time.Duration
	sent := 0
	for _, r := range in {
		if sent > 0 && sent+r.bytes > size {
			shift += silence
			sent = 0
		}
		sent += r.bytes
		r.at += shift
		out = append(out, r)
	}
	return out
}

func total(in []read) (n int) {
	for _, r := range in {
		n += r.bytes
	}
	return n
}

// echoes is a queue of which a test says what has been echoed.
type echoes struct {
	sentAt time.Duration
	ok     bool
}

func (e *echoes) NewestEchoed() (time.Duration, bool) { return e.sentAt, e.ok }

// host drives a Window as the shim does: it ticks at deadlines and, if the peer answers, delivers
// the echo of a lone cookie sent every 100 ms while a fetch is open.
type host struct {
	w       *Window
	echoes  echoes
	rtt     time.Duration
	prompt  bool
	noTicks bool
	lone    time.Duration // when the next lone cookie goes out
	out     []Sample
	est     *Estimate
}

func newHost(p Path) *host {
	h := &host{rtt: p.BaseRTT, est: NewEstimate(0)}
	h.w = NewWindow(DefaultConfig(), &h.echoes)
	h.w.SetPath(p)
	return h
}

func (h *host) got(s Sample, ok bool) {
	if ok {
		h.out = append(h.out, s)
		h.est.Fold(s, s.Closed)
	}
}

// until lets time pass without payload.
func (h *host) until(t time.Duration) {
	for {
		next := t
		echo := h.lone + h.rtt
		if h.prompt && len(h.w.fetches) > 0 && echo < next {
			next = echo
		}
		if d, ok := h.w.Deadline(); ok && !h.noTicks && d+1 < next {
			h.got(h.w.Tick(d+1, 0))
			continue
		}
		if next == t {
			return
		}
		h.echoes = echoes{h.lone, true}
		h.w.Echoed(echo)
		h.lone = max(h.lone+100*ms, echo-h.rtt+100*ms)
	}
}

func (h *host) reads(in []read) {
	for _, r := range in {
		if r.ours == 0 {
			h.until(r.at)
		}
		h.got(h.w.Arrive(Arrival{At: r.at, Bytes: r.bytes, Ours: r.ours}))
	}
}

// fetch runs one declared fetch from start over the given reads, and returns when it ended.
func (h *host) fetch(start time.Duration, in []read) time.Duration {
	h.lone = start
	id, s, ok := h.w.Begin(start)
	h.got(s, ok)
	h.w.Asked(start)
	h.reads(in)
	end := in[len(in)-1].at
	h.got(h.w.End(end, id, 0, true))
	return end
}

func (h *host) now() time.Duration { return h.w.from }

func (h *host) rate() float64 { return h.est.Reading(h.now()).Rate.BytesPerSecond() }

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: got %.5g, want %.5g within %.1f %%", what, got, want, 100*tolerance)
	}
}

func bySum(in []Sample, f func(Sample) time.Duration) (d time.Duration) {
	for _, s := range in {
		d += f(s)
	}
	return d
}

func bytesOf(in []Sample, f func(Sample) int64) (n int64) {
	for _, s := range in {
		n += f(s)
	}
	return n
}
