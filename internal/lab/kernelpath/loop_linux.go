package kernelpath

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// atOnce is how many packets are taken from one device before others and what is
// due are looked at. More costs exactness, fewer costs calls.
const atOnce = 16

// loop carries the packets of all devices on one thread, for as long as the
// process lives.
type loop struct {
	base  time.Time
	hub   int // its device's file
	peers []*peer
	lines []*line // all
	poll  []unix.PollFd
	spare []*packet
	late  lateness
}

// peer is one peer's device and the lines to it and from it.
type peer struct {
	fd       int
	up, down *line
}

// run carries.
func (l *loop) run() {
	runtime.LockOSThread()
	urgent()
	l.poll = []unix.PollFd{{Fd: int32(l.hub), Events: unix.POLLIN}}
	for _, p := range l.peers {
		l.poll = append(l.poll, unix.PollFd{Fd: int32(p.fd), Events: unix.POLLIN})
	}
	for {
		more := l.takeAll()
		next, some := l.deliver()
		l.wait(next, some, more)
	}
}

// wait sleeps until something is to be read or due.
func (l *loop) wait(next time.Duration, some, more bool) {
	var timeout *unix.Timespec
	switch {
	case more:
		timeout = &unix.Timespec{}
	case some:
		t := unix.NsecToTimespec(int64(max(0, next-time.Since(l.base))))
		timeout = &t
	}
	if _, err := unix.Ppoll(l.poll, timeout, nil); err != nil {
		for i := range l.poll {
			l.poll[i].Revents = 0
		}
	}
}

// takeAll reads what the devices have, and says whether one may have more.
func (l *loop) takeAll() (more bool) {
	for i, p := range l.poll {
		if p.Revents == 0 {
			continue
		}
		for n := range atOnce {
			if !l.take(i) {
				break
			}
			more = more || n == atOnce-1
		}
	}
	return more
}

// take reads one packet of the hub's, which is device 0, or a peer's.
func (l *loop) take(device int) bool {
	pk := l.packet()
	n, err := unix.Read(int(l.poll[device].Fd), pk.buf[:])
	if err != nil || n <= 0 {
		l.spare = append(l.spare, pk)
		return errors.Is(err, unix.EINTR)
	}
	pk.n = n
	if to := l.route(device, pk); to == nil || !to.enter(time.Since(l.base), pk) {
		l.spare = append(l.spare, pk)
	}
	return true
}

// route is the line that a packet takes; nil for what is not ours.
func (l *loop) route(device int, pk *packet) *line {
	if pk.n < 20 || pk.buf[0]>>4 != 4 {
		return nil
	}
	to := pk.buf[16:20]
	switch {
	case device > 0:
		if to[2] != 0 {
			return nil
		}
		return l.peers[device-1].down
	case to[2] == 0 || int(to[2]) > len(l.peers):
		return nil
	}
	return l.peers[to[2]-1].up
}

func (l *loop) packet() *packet {
	if n := len(l.spare); n > 0 {
		pk := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return pk
	}
	return new(packet)
}

// deliver moves what is due, and returns when the next packet is, if there is
// one.
func (l *loop) deliver() (next time.Duration, some bool) {
	for _, line := range l.lines {
		now := time.Since(l.base)
		for pk := line.leave(now); pk != nil; pk = line.leave(now) {
			l.pass(line, pk)
		}
	}
	for _, line := range l.lines {
		if at, ok := line.due(); ok && (!some || at < next) {
			next, some = at, true
		}
	}
	return next, some
}

// pass hands a packet that left a line to the next or to its device. A full
// device drops it, as a router would.
func (l *loop) pass(from *line, pk *packet) {
	if from.next != nil {
		if !from.next.enter(pk.due, pk) {
			l.spare = append(l.spare, pk)
		}
		return
	}
	l.late.note(time.Since(l.base) - pk.due)
	fd := l.hub
	if to := int(pk.buf[18]); to > 0 {
		fd = l.peers[to-1].fd
	}
	_, _ = unix.Write(fd, pk.buf[:pk.n])
	l.spare = append(l.spare, pk)
}
