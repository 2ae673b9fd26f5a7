package mux

import "time"

// loneCookie sends a cookie by itself, because nothing of ours went out for a
// while although a fetch is outstanding. It is the probe that shows whether a
// silent peer is alive. It goes only if nobody is writing and a frame has just
// ended, never before the host's first frame, and not into a full queue.
func (c *Conn) loneCookie(now time.Duration) {
	o := &c.out
	if c.closed.Load() || !o.turn.try() {
		return
	}
	defer o.turn.release()
	if o.err != nil || !o.began || !o.boundary() || o.have != 0 || !c.async.idle() {
		return
	}
	v, ok := c.meter.issue(now)
	if !ok {
		return
	}
	a := assemblies.Get().(*assembly)
	defer assemblies.Put(a)
	a.reset()
	a.head(c.codec, c.codec.cookie(v), 0)
	a.cookie = v
	wire, err := c.send(a, now)
	if err != nil {
		c.failed(o.position, wire, err)
		return
	}
	o.counts.pending.lone++
}
