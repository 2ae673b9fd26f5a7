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
	honest := ranking.Predict(size+q.Ahead, path).Total
	ask := a.request(request{datum: uint32(q.Datum), critical: q.Critical, size: size}, int(a.asked.Load()))
	s := newScript(a.w.o.Seed, family(a.id), a.spec.Behaviour, ask)
	if s.failAt < size {
		return honest + time.Duration(a.w.s.Workload.Limit)
	}
	if s.honest() {
		return honest
	}
	linkRate := float64(path.Rate)
	return honest + s.extra(size, linkRate, int64(a.buffer()))
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

// extra is how much longer a reply of n bytes takes by the script than by a link
// of so many seconds a byte and with such a buffer.
func (s *script) extra(n int64, slope float64, buffer int64) time.Duration {
	seconds := func(b int64) time.Duration { return time.Duration(float64(b) * slope * float64(time.Second)) }
	at, slept := s.delay, s.delay // when the next piece is written, and pauses so far
	free := time.Duration(0)      // when the link is
	for sent := int64(0); sent < n; {
		pause, most := s.step(sent, sent == 0)
		slept += pause
		at = max(at+pause, s.due(0, sent)+slept)
		piece := max(1, min(most, n-sent, s.piece(sent), buffer))
		free = max(free, at) + seconds(piece)
		at = max(at, free-seconds(buffer))
		sent += piece
	}
	return max(0, free-seconds(n))
}
