package engine

import (
	"time"

	"github.com/assay-mux/assay/ranking"
)

// truth is how long a fetch would take if it were asked for now: the path's own
// time by the true figures, and what the peer is about to do to it.
func (a *actor) truth(now time.Duration, q Ask) time.Duration {
	size := q.Size
	if d := a.w.datum(q.Datum); d != nil {
		size = d.size
	}
	path := a.pathNow(now, size+q.Ahead)
	honest := ranking.Predict(size+q.Ahead, path)
	ask := a.request(request{datum: uint32(q.Datum), critical: q.Critical, size: size}, int(a.asked.Load()))
	s := newScript(a.w.o.Seed, family(a.id), a.spec.Behaviour, ask)
	switch {
	case s.failAt < size:
		return honest.Total + time.Duration(a.w.s.Workload.Limit)
	case s.honest():
		return honest.Total
	}
	way := newWay(path, honest, a.buffer())
	way.free = time.Duration(float64(q.Ahead) * way.slope * float64(time.Second))
	return honest.RoundTrip + honest.Waiting + s.finish(size, way)
}

// pathNow is the true path at present, for a reply of n bytes.
func (a *actor) pathNow(now time.Duration, n int64) ranking.Path {
	limit := a.w.s.Node.Ingress
	if b, ok := a.w.s.Bottlenecks[a.link.Through]; ok {
		limit = b.Rate
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.track.path(now, n, int64(a.w.s.Node.Window), limit)
}

// served notes that a reply of so many bytes has come.
func (a *actor) served(now time.Duration, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.track.served(now, bytes)
}

// defaultBuffer is what the lab's links hold at least, in bytes.
const defaultBuffer = 1 << 20

func (a *actor) buffer() int64 {
	if a.link.Buffer > 0 {
		return int64(a.link.Buffer)
	}
	return defaultBuffer
}

// way is a sender on its link: slow start, serializer and send buffer.
type way struct {
	slope  float64 // s/B
	buffer int64
	rtt    time.Duration
	free   time.Duration // when the serializer is

	stalls int64 // windows after which it still waits
	window int64
	left   int64         // of the window
	began  time.Duration // when the window did
}

// newWay is the sender that a prediction has.
func newWay(p ranking.Path, d ranking.Prediction, buffer int64) way {
	w := way{slope: float64(p.Rate), buffer: buffer, rtt: p.BaseRTT, stalls: d.Stalls}
	if w.stalls > 0 && w.slope > 0 { // Ramp = P R - S W (2^P - 1)
		all := (time.Duration(w.stalls)*p.BaseRTT - d.Ramp).Seconds() / w.slope
		w.window = max(1, int64(all/float64(int64(1)<<w.stalls-1)))
	}
	w.left = w.window
	return w
}

func (w *way) seconds(n int64) time.Duration {
	return time.Duration(float64(n) * w.slope * float64(time.Second))
}

// send sends n bytes that are written at an instant, no more than the window has left
// while there is one.
func (w *way) send(at time.Duration, n int64) {
	if w.free = max(w.free, at); w.left == w.window {
		w.began = w.free
	}
	w.free += w.seconds(n)
	if w.stalls == 0 {
		return
	}
	if w.left -= n; w.left > 0 {
		return
	}
	// A window that took a round trip or more was not full, and does not grow.
	if again := w.began + w.rtt; w.free < again {
		w.free, w.window = again, 2*w.window
		w.stalls--
	}
	w.left = w.window
}

// most is how much may be sent at once.
func (w *way) most() int64 {
	if w.stalls > 0 {
		return min(w.left, w.buffer)
	}
	return w.buffer
}

// finish is how long after the request the last of n bytes has left.
func (s *script) finish(n int64, w way) time.Duration {
	at, slept := s.delay, s.delay // when the next piece is written, and pauses so far
	for sent := int64(0); sent < n; {
		wait, most := s.step(sent, sent == 0)
		slept += wait
		at = max(at+wait, s.due(0, sent)+slept)
		piece := max(1, min(most, n-sent, s.piece(sent), w.most()))
		w.send(at, piece)
		at = max(at, w.free-w.seconds(w.buffer))
		sent += piece
	}
	return w.free
}
