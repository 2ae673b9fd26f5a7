package ranking

import (
	"math"
	"math/bits"
	"time"

	"github.com/assay-mux/assay/burst"
)

// sizeClasses is how many classes of size completions are kept in, by powers of four around 4 KiB.
// Completions of like sizes are one mean; the rest is extrapolated.
const (
	sizeClasses   = 10
	leastSizeBits = 12
)

const (
	// mostWait is how many completions a mean rests on. More is steadier and forgets later.
	mostWait = 8
	// upStep and downStep are the least part that a slower and a faster completion have in the mean, of
	// the logarithms. Larger follows sooner, and takes honest peers with heavy tails out of use: with a
	// quarter instead of an eighth, and one serve spike in a hundred, choices cost up to 5 % more than
	// an oracle's, with an eighth up to 3 %. The quick punishment is the penalty's (see peak).
	upStep, downStep = 0.125, 0.125
)

// wait is what completions of one class of sizes say together.
type wait struct {
	weight float64 // how many completions, aged to aged
	aged   time.Duration
	size   int64   // that of the completion it began with
	time   float64 // seconds from request to last byte, at that size
	first  float64 // seconds of it until the first byte
	tail   float64 // s/B at which it went on in the end, and would have for more bytes
}

// waits are the measured completions of a peer, by class of size.
type waits struct {
	used  uint16 // the classes that have one, a bit each: most peers have one or two
	class [sizeClasses]wait
}

// completed is one completion. What was our own doing is taken out of its times.
type completed struct {
	bytes int64
	time  time.Duration
	first time.Duration
	tail  time.Duration // of the second half of its bytes; 0 unknown
}

// sizeClass is the class of a size: of 2 KiB to 8 KiB the first, and so on.
func sizeClass(n int64) int {
	b := bits.Len64(uint64(max(n, 1)))
	return min(max((b-leastSizeBits)/2, 0), sizeClasses-1)
}

// sample is a completion as evidence of its own.
func (c completed) sample() wait {
	t := c.time.Seconds()
	return wait{
		weight: 1, size: max(c.bytes, 1), time: t,
		first: min(max(c.first.Seconds(), 0), t), tail: c.slope(),
	}
}

// resized is w as it would be at another size.
func (w wait) resized(size int64, p Path) wait {
	w.time, w.size = w.at(size, p), size
	w.first = min(w.first, w.time)
	return w
}

// slope is the s/B of the second half, within those of the whole without its first byte: a window
// that comes at once looks infinitely fast, and one that doesn't looks slower than it is.
func (c completed) slope() float64 {
	rest := c.time - c.first
	if rest <= 0 { // what was ours reaches into the wait for the first byte: no better guess than the whole
		rest = max(c.time, 0)
	}
	mean := rest.Seconds() / float64(max(c.bytes, 1))
	if c.tail <= 0 {
		return mean
	}
	return min(max(c.tail.Seconds()/float64(max(c.bytes/2, 1)), mean/4), mean)
}

// at is the time that w says another size takes. For more bytes it goes on at the tail, with what slow
// start is still to come: neither that nor the time at its own size becomes less with the round trip,
// which a peer can inflate. For fewer the time after the first byte shrinks as the prediction's for a
// cold connection would.
func (w *wait) at(want int64, p Path) float64 {
	p = Path{BaseRTT: p.BaseRTT, Rate: burst.SecondsPerByte(w.tail), StreamWindow: p.StreamWindow}
	if want == w.size {
		return w.time
	}
	if want > w.size {
		return w.time + (Predict(want, p).Total - Predict(w.size, p).Total).Seconds()
	}
	rest := w.time - w.first
	if rest <= 0 {
		return w.time
	}
	p.Rate = burst.SecondsPerByte(rest / float64(w.size))
	whole := Predict(w.size, p).Total - p.BaseRTT
	part := Predict(want, p).Total - p.BaseRTT
	if whole <= 0 {
		return w.time
	}
	return w.first + rest*min(float64(part)/float64(whole), 1)
}

// add takes a completion in, and returns how many times longer it took than the mean before it; 1 for
// the first.
func (ws *waits) add(now time.Duration, c completed, p Path, half time.Duration) float64 {
	k := sizeClass(c.bytes)
	w, x := &ws.class[k], c.sample()
	old := w.weight * decay(now-w.aged, half)
	if old < 0.01 {
		*w = x
		w.aged = now
		ws.used |= 1 << k
		return 1
	}
	x = x.resized(w.size, p)
	excess := x.time / max(w.time, 1e-9)
	step := max(downStep, 1/(1+4*old))
	if excess > 1 {
		step = max(upStep, 1/(1+old))
	}
	w.time = blend(w.time, x.time, step)
	w.first += step * (x.first - w.first)
	w.first = min(w.first, w.time)
	w.tail += step * (x.tail - w.tail)
	w.weight, w.aged = min(old+1, mostWait), now
	return excess
}

// punish makes the mean of a failed fetch's class no better than its mean with that fetch in it. It
// adds no weight: a failure is no evidence of how long a completion takes.
func (ws *waits) punish(now time.Duration, c completed, p Path, half time.Duration) {
	w := &ws.class[sizeClass(c.bytes)]
	old := w.weight * decay(now-w.aged, half)
	if old < 0.01 {
		return
	}
	x := c.sample().resized(w.size, p)
	if x.time <= w.time {
		return
	}
	w.time = blend(w.time, x.time, max(upStep, 1/(1+old)))
}

// blend is a mean of times whose errors are factors.
func blend(a, b, step float64) float64 {
	if a <= 0 || b <= 0 {
		return a + step*(b-a)
	}
	return a * math.Exp(step*math.Log(b/a))
}

// of is the time that completions say n bytes take, in seconds, and how many of them say so: one of s
// bytes counts for n with the weight min(1, 4 s/n). Completions of other classes fill in as far as those
// of n's own are few: else a peer that serves some sizes fast and dribbles others would keep half of
// what that fakes. They count as evidence all the same, against what is supposed of a stranger: more
// completions never make for less.
func (ws *waits) of(now time.Duration, n int64, p Path, half time.Duration) (t, weight float64) {
	own, sum := sizeClass(n), 0.0
	fill := measuredPrior / (measuredPrior + ws.class[own].left(now, half))
	for left := ws.used; left != 0; left &= left - 1 {
		class := bits.TrailingZeros16(left)
		w := &ws.class[class]
		x := w.left(now, half) * w.share(n)
		weight += x
		if class != own {
			x *= fill
		}
		if x < 1e-6 {
			continue
		}
		t += x * w.at(n, p)
		sum += x
	}
	if sum == 0 {
		return 0, 0
	}
	return t / sum, weight
}

// vouch says whether so many completions say how long n bytes take, as of weighs them. It looks at the
// largest first, which settle it for most.
func (ws *waits) vouch(now time.Duration, n int64, half time.Duration, least float64) bool {
	sum := 0.0
	for left := ws.used; left != 0; {
		k := bits.Len16(left) - 1
		left &^= 1 << k
		w := &ws.class[k]
		if sum += w.left(now, half) * w.share(n); sum >= least {
			return true
		}
	}
	return false
}

// share is the part that a completion has as evidence for n bytes.
func (w *wait) share(n int64) float64 { return min(1, 4*float64(w.size)/float64(max(n, 1))) }

// count is how many completions the means rest on, aged.
func (ws *waits) count(now time.Duration, half time.Duration) float64 {
	n := 0.0
	for left := ws.used; left != 0; left &= left - 1 {
		w := &ws.class[bits.TrailingZeros16(left)]
		n += w.left(now, half)
	}
	return n
}

// left is how many completions a mean rests on, aged.
func (w *wait) left(now, half time.Duration) float64 { return w.weight * decay(now-w.aged, half) }

// decay is what is left of a weight after a time.
func decay(age, half time.Duration) float64 {
	if age <= 0 {
		return 1
	}
	x := float64(age) / float64(half) * math.Ln2
	if x < 1.0/64 {
		// The usual case, for a fifth of Exp's cost; the next term is below 1e-11.
		return 1 - x*(1-x/2*(1-x/3*(1-x/4)))
	}
	return math.Exp(-x)
}

// put sets the mean of a class, of a state file.
func (ws *waits) put(class int, w wait) {
	ws.class[class] = w
	ws.used |= 1 << class
}

// largest is the mean of the largest class from one on; nil if there is none.
func (ws *waits) largest(from int) *wait {
	if high := ws.used >> from; high != 0 {
		return &ws.class[from+bits.Len16(high)-1]
	}
	return nil
}
