package engine

import (
	"math"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// bottlenecks makes those of the file.
func (w *world) bottlenecks() {
	w.shared = make(map[string]*lab.Bottleneck, len(w.s.Bottlenecks))
	for name, b := range w.s.Bottlenecks {
		w.shared[name] = lab.NewBottleneck(lab.BitRate(b.Rate), rateChanges(b)...)
	}
	if r := w.s.Node.Ingress; r > 0 {
		w.ingress = lab.NewBottleneck(lab.BitRate(r))
	}
}

func rateChanges(b scenario.Bottleneck) []lab.Change {
	rate := b.Rate
	var out []lab.Change
	for _, c := range b.Changes {
		if c.Rate > 0 {
			rate = c.Rate
		}
		out = append(out, lab.Change{At: time.Duration(c.At), Rate: lab.BitRate(rate)})
	}
	return out
}

// pair makes the two ends of a peer's link: ours, and the peer's.
func (w *world) pair(a *actor) (ours, theirs *lab.Conn) {
	now, l := w.now(), a.link
	up, down := w.direction(l, l.Up, now), w.direction(l, l.Rate, now)
	up.OneWay += a.offset()
	a.mu.Lock()
	a.dials++
	down.Seed = uint64(draw(w.o.Seed, a.id, a.dials, -1) * math.MaxUint32)
	a.mu.Unlock()
	down.Jitter = time.Duration(l.Jitter)
	if x := l.Loss; x != nil {
		down.Loss = lab.Loss{Rate: float64(x.Random), Bursts: float64(x.Bursts), Length: x.Length, Within: float64(x.Within)}
	}
	if b := l.Bucket; b != nil {
		down.Burst, down.Peak = int(b.Bytes), lab.BitRate(b.Peak)
	}
	if down.Bottleneck = w.ingress; l.Through != "" {
		down.Bottleneck = w.shared[l.Through]
	}
	return lab.PairOf(up, down)
}

// offset is by how much a peer's answers are later than its link says, below any effect: no two peers
// answer at the same instant. Which of equals comes a hair sooner is drawn from the seed. The order of
// the file would be a hint, as the honest mostly come first there: whoever takes the very best of equals
// would never meet an adversary among them.
func (a *actor) offset() time.Duration {
	turn := int64(draw(a.w.o.Seed, a.id, 0, -2) * offsets)
	return time.Duration(turn*int64(apart)/10) + time.Duration(a.index)
}

// offsets is how many offsets there are, a tenth of apart from each other. More makes the last of them
// later, fewer leaves more peers to the order of the file, a nanosecond apart.
const offsets = 128

// direction is one way of a link that is made now.
func (w *world) direction(l scenario.Link, rate scenario.Rate, now time.Duration) lab.Link {
	out := lab.Link{SlowStart: !l.Full, IdleRestart: !l.Full, Buffer: int(l.Buffer)}
	rtt := l.RTT
	out.Rate, out.OneWay = lab.BitRate(rate), time.Duration(rtt)/2
	for _, c := range l.Changes {
		if c.Rate > 0 {
			rate = c.Rate
		}
		if c.RTT > 0 {
			rtt = c.RTT
		}
		if at := time.Duration(c.At) - now; at > 0 {
			out.Changes = append(out.Changes, lab.Change{At: at, Rate: lab.BitRate(rate), OneWay: time.Duration(rtt) / 2})
		} else {
			out.Rate, out.OneWay = lab.BitRate(rate), time.Duration(rtt)/2
		}
	}
	return out
}

// mathis is the constant of TCP's throughput under random loss:
// MSS/RTT x mathis/sqrt(p) (Mathis, Semke, Mahdavi and Ott, CCR 1997).
const mathis = 1.22

// track is what is known of a link's sender, to say what the next reply takes.
type track struct {
	link   scenario.Link
	window int64         // its congestion window when it last sent
	last   time.Duration // when that was
	tokens float64       // of the bucket then
}

func newTrack(l scenario.Link) track {
	t := track{link: l}
	if l.Bucket != nil {
		t.tokens = float64(l.Bucket.Bytes)
	}
	if l.Full {
		t.window = 1 << 40
	}
	return t
}

// path is the link at an instant as a prediction with perfect knowledge has it, for
// a reply of n bytes.
func (t *track) path(now time.Duration, n, credit int64, limit scenario.Rate) ranking.Path {
	rate, rtt := t.link.Rate, t.link.RTT
	for _, c := range t.link.Changes {
		if time.Duration(c.At) <= now {
			if c.Rate > 0 {
				rate = c.Rate
			}
			if c.RTT > 0 {
				rtt = c.RTT
			}
		}
	}
	p := ranking.Path{BaseRTT: time.Duration(rtt), StreamWindow: credit, LastWindow: t.window, Idle: max(0, now-t.last)}
	if limit > 0 {
		rate = min(rate, limit)
	}
	if x := t.link.Loss; x != nil {
		loss := lab.Loss{Rate: float64(x.Random), Bursts: float64(x.Bursts), Length: x.Length, Within: float64(x.Within)}.Mean()
		if loss > 0 && rtt > 0 {
			rate = min(rate, scenario.Rate(lab.DefaultMSS*8/rtt.Seconds()*mathis/math.Sqrt(loss)))
		}
	}
	if rate > 0 {
		p.Rate = burst.SecondsPerByte(8 / float64(rate))
		p.Rate = t.withBucket(now, n, p.Rate)
	}
	return p
}

// withBucket is the mean slope over n bytes, the first of which the bucket lets
// through.
func (t *track) withBucket(now time.Duration, n int64, slope burst.SecondsPerByte) burst.SecondsPerByte {
	b := t.link.Bucket
	if b == nil || n <= 0 {
		return slope
	}
	peak := 0.0
	if b.Peak > 0 {
		peak = 8 / float64(b.Peak)
	}
	free := min(float64(n), t.filled(now))
	return burst.SecondsPerByte((free*peak + (float64(n)-free)*float64(slope)) / float64(n))
}

// filled is how many tokens there are.
func (t *track) filled(now time.Duration) float64 {
	b := t.link.Bucket
	return min(float64(b.Bytes), t.tokens+t.link.Rate.BytesPerSecond()*max(0, now-t.last).Seconds())
}

// served notes that a reply of n bytes has just come.
func (t *track) served(now time.Duration, n int64) {
	if t.link.Bucket != nil {
		t.tokens = max(0, t.filled(now)-float64(n))
	}
	if !t.link.Full {
		p := t.path(now, n, 0, 0)
		t.window = p.WindowAfter(n)
	}
	t.last = now
}
