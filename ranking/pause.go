package ranking

import (
	"sync/atomic"
	"time"
)

const (
	// pauseLeast is the shortest pause of ours that is looked into. Shorter costs readings of the meter
	// where a host writes each piece to a disk; longer holds as much against the peer. Nobody notices
	// less, and a stall is twenty times that.
	pauseLeast = 50 * time.Millisecond
	// atOnce is how soon after a pause something must be read to show that it had waited. Longer excuses
	// what has just come after a silence of the peer's; shorter blames it on a busy machine. A peer
	// does not learn that we read again before we have read what there is, so it can only guess.
	atOnce = 10 * time.Millisecond
)

// pause is the time in which we ourselves read nothing of a reply. Whether we read is known to us
// alone and nothing a peer sends can change it, unlike what has come over its connection: that may be
// on another stream, part of a frame, or read and not counted. The zero value is none yet.
type pause struct {
	// since is the instant at which reading stopped, and a nanosecond; 0 while the host reads. It is set
	// twice for each read, so without the ranker's lock, by the one goroutine that reads.
	since atomic.Int64

	began, ended time.Duration // of the last one that was long
	fresh        bool          // it has ended, and nothing was read since
	idle         time.Duration // of that one, the end in which nothing came
	ours         time.Duration // the idle parts of all that bytes had waited for
}

// Pause says that the host reads no more of the reply for now: it is busy with what came, or has no
// room for more. Until [Fetch.Resume] nothing that the peer does or doesn't can be seen, so that it has
// not stalled and nobody else is asked in its place; what else arrives at this host would wait as well.
// A [Reader] says so by itself. A host that never does is taken to read all the time. Whoever calls
// Progress calls it, and Resume: they are for one goroutine.
func (f *Fetch) Pause(now time.Duration) { f.pause.since.CompareAndSwap(0, int64(now)+1) }

// Resume says that the host reads again. If something had waited, which shows in that it is read at
// once, the end of the pause in which nothing came was our own doing. If the host has to wait, the
// peer is held to all of it.
func (f *Fetch) Resume(now time.Duration) {
	p := &f.pause
	length := p.length(now)
	if length < pauseLeast {
		p.since.Store(0)
		return
	}
	silence := f.conn.meter.Reading().Silence
	f.r.mu.Lock()
	p.fresh, p.began, p.ended, p.idle = true, now-length, now, min(length, silence)
	p.since.Store(0)
	f.r.mu.Unlock()
}

// start is when it began, if it goes on.
func (p *pause) start() (at time.Duration, on bool) {
	since := p.since.Load()
	return time.Duration(since - 1), since != 0
}

// length is how long it has gone on; 0 if there is none.
func (p *pause) length(now time.Duration) time.Duration {
	at, on := p.start()
	if !on {
		return 0
	}
	return max(now-at, 0)
}

// read notes that something was read. It returns how much of the silence before it was a pause, and
// how much of that was lost for nothing came: none of it, if nothing had waited.
func (p *pause) read(now time.Duration) (paused, lost time.Duration) {
	if p.fresh && now-p.ended <= atOnce {
		paused, lost = p.ended-p.began, p.idle
		p.ours += lost
	}
	p.since.Store(0)
	p.fresh = false
	return paused, lost
}

// cut ends a pause together with its fetch: that nothing was read any more was not the peer's doing.
func (p *pause) cut(now, silence time.Duration) {
	if length := p.length(now); length >= pauseLeast {
		p.ours += min(length, silence)
	}
}

// seen is the last instant at which we would have seen what came: while we read, and a moment after
// we began to again, that of now.
func (f *Fetch) seen(now time.Duration) time.Duration {
	p := &f.pause
	if at, on := p.start(); on {
		return min(now, at)
	}
	if p.fresh && now-p.ended <= atOnce {
		return min(now, p.began)
	}
	return now
}

// silence is how long nothing has come, as far as we would have seen it.
func (f *Fetch) silence(now time.Duration) time.Duration { return max(f.seen(now)-f.lastAt, 0) }
