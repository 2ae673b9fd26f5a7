package mux

import (
	"net"
	"testing"
	"time"
)

// dialled is what is known of a TCP connection over loopback before it is used.
func dialled(t *testing.T, opts ...Option) Snapshot {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	inner, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := Wrap(inner, opts...)
	defer c.Close()
	return c.Meter().Snapshot()
}

// The base round trip is the kernel's before a byte has gone either way: a dial
// that a busy process timed is too long.
func TestTheKernelTimedTheHandshake(t *testing.T) {
	const late = 800 * time.Millisecond
	s := dialled(t, WithHandshakeRTT(late))
	if s.Kernel.At <= 0 || s.Kernel.MinRTT <= 0 || s.RTT.Base != s.Kernel.MinRTT || s.RTT.Base >= late || !s.RTT.Confirmed {
		t.Errorf("base %v, kernel %+v", s.RTT.Base, s.Kernel)
	}
	s = dialled(t, WithHandshakeRTT(late), WithoutKernel())
	if s.Kernel.At != 0 || s.RTT.Base != late {
		t.Errorf("not asked, yet base %v, kernel %+v", s.RTT.Base, s.Kernel)
	}
}
