package mux

import (
	"testing"
	"time"
)

// unused is what is known of a TCP connection over loopback before it is used.
func unused(t *testing.T, opts ...Option) Snapshot {
	t.Helper()
	inner, _ := loopback(t)
	c := Wrap(inner, opts...)
	defer c.Close()
	return c.Meter().Snapshot()
}

// The base round trip is the kernel's before a byte has gone either way: a dial
// that a busy process timed is too long.
func TestTheKernelTimedTheHandshake(t *testing.T) {
	const late = 800 * time.Millisecond
	s := unused(t, WithHandshakeRTT(late))
	if s.Kernel.At <= 0 || s.Kernel.MinRTT <= 0 || s.RTT.Base != s.Kernel.MinRTT || s.RTT.Base >= late || !s.RTT.Confirmed {
		t.Errorf("base %v, kernel %+v", s.RTT.Base, s.Kernel)
	}
	s = unused(t, WithHandshakeRTT(late), WithoutKernel())
	if s.Kernel.At != 0 || s.RTT.Base != late {
		t.Errorf("not asked, yet base %v, kernel %+v", s.RTT.Base, s.Kernel)
	}
}
