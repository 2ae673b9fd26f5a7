package kernelpath

import (
	"sync/atomic"
	"time"
)

// packet is one IP packet and when it is due.
type packet struct {
	due time.Duration
	n   int
	buf [mtu]byte
}

// line is a bottleneck with its queue, and the delay behind it. One goroutine
// has it, but for its settings and counters. Instants are offsets from any base.
type line struct {
	set  atomic.Pointer[Direction]
	dice *dice
	free time.Duration // when the bottleneck has sent what it holds
	last time.Duration // when the newest packet is due
	held fifo

	next *line // where packets go from here; nil is the end

	packets, bytes, lost, dropped atomic.Uint64
}

func newLine(d Direction, dice *dice) *line {
	l := &line{dice: dice}
	l.set.Store(&d)
	return l
}

// enter takes a packet in, or says that it is dropped. A change of rate or delay
// holds for packets that enter after it; none overtakes another.
func (l *line) enter(now time.Duration, p *packet) bool {
	d := l.set.Load()
	if l.dice.lost(d.Loss) {
		l.lost.Add(1)
		return false
	}
	l.free = max(l.free, now)
	if d.Rate > 0 {
		if l.free-now > d.queue() {
			l.dropped.Add(1)
			return false
		}
		l.free += d.Rate.Time(p.n)
	}
	l.last = max(l.free+d.Delay, l.last)
	p.due = l.last
	l.held.push(p)
	return true
}

// leave returns the next packet that is due by now, nil if there is none.
func (l *line) leave(now time.Duration) *packet {
	p := l.held.front()
	if p == nil || p.due > now {
		return nil
	}
	l.held.pop()
	l.packets.Add(1)
	l.bytes.Add(uint64(p.n))
	return p
}

// due is when the next packet leaves, false if there is none.
func (l *line) due() (time.Duration, bool) {
	p := l.held.front()
	if p == nil {
		return 0, false
	}
	return p.due, true
}

func (l *line) stats() Stats {
	return Stats{Packets: l.packets.Load(), Bytes: l.bytes.Load(), Lost: l.lost.Load(), Dropped: l.dropped.Load()}
}

// fifo is a queue of packets, a ring that grows.
type fifo struct {
	ring    []*packet
	from, n int
}

func (f *fifo) push(p *packet) {
	if f.n == len(f.ring) {
		ring := make([]*packet, max(64, 2*f.n))
		for i := range f.n {
			ring[i] = f.ring[(f.from+i)%len(f.ring)]
		}
		f.ring, f.from = ring, 0
	}
	f.ring[(f.from+f.n)%len(f.ring)] = p
	f.n++
}

func (f *fifo) front() *packet {
	if f.n == 0 {
		return nil
	}
	return f.ring[f.from]
}

func (f *fifo) pop() {
	f.ring[f.from] = nil
	f.from = (f.from + 1) % len(f.ring)
	f.n--
}
