package mux

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"pgregory.net/rapid"
)

// drawAssembly makes an assembly of headers of ours, headers of the host's and
// host bytes, and returns what of the wire is the host's, byte by byte.
func drawAssembly(rt *rapid.T) (a *assembly, wire []byte, hosts []bool) {
	a = new(assembly)
	mine := func(b []byte, host bool) {
		wire = append(wire, b...)
		for range b {
			hosts = append(hosts, host)
		}
	}
	for !a.full(vectored) && rapid.IntRange(0, 9).Draw(rt, "more") > 0 {
		host := rapid.Bool().Draw(rt, "host header")
		share := 0
		if host {
			share = headerSize
		}
		h := header{kind: kindData, stream: uint32(a.pieces), length: 9}
		a.head(yamuxCodec{}, h, share)
		mine(a.vec[a.pieces-1], host)
		body := pattern(rapid.IntRange(1, 3000).Draw(rt, "body"), uint32(a.pieces))
		a.add(body, len(body))
		mine(body, true)
	}
	return a, wire, hosts
}

func TestDoneCountsTheHostsBytesAmongThoseWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, wire, hosts := drawAssembly(rt)
		if a.size != len(wire) {
			rt.Fatalf("size %d, want %d", a.size, len(wire))
		}
		n := rapid.IntRange(0, len(wire)).Draw(rt, "written")
		want := 0
		for _, host := range hosts[:n] {
			if host {
				want++
			}
		}
		if got := a.done(n); got != want {
			rt.Fatalf("%d of %d bytes are the host's, want %d", got, n, want)
		}
	})
}

func TestFlushWritesTheSameBytesEveryWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, wire, _ := drawAssembly(rt)
		if len(wire) == 0 {
			return
		}
		for _, vector := range []bool{false, true} {
			f := newFake()
			n, err := a.flush(f, vector)
			if n != len(wire) || err != nil || !bytes.Equal(f.wire(), wire) {
				rt.Fatalf("vector %v: %d of %d, %v", vector, n, len(wire), err)
			}
			if !vector && f.written() != 1 {
				rt.Fatalf("%d writes", f.written())
			}
			if got := a.done(n); got != a.done(len(wire)) {
				rt.Fatal("the pieces were consumed")
			}
		}
	})
}

func TestFlushReportsWhatLeftBeforeAnError(t *testing.T) {
	for _, vector := range []bool{false, true} {
		a := new(assembly)
		for i := range 4 {
			a.head(yamuxCodec{}, header{length: 2000}, 0)
			a.add(pattern(2000, uint32(i)), 2000)
		}
		f := newFake()
		f.setOnWrite(failAfter(5000, errBroken))
		if n, err := a.flush(f, vector); n != 5000 || !errors.Is(err, errBroken) {
			t.Errorf("vector %v: %d, %v", vector, n, err)
		}
	}
}

func TestAssemblyHasRoomForACookieAHeaderAndABody(t *testing.T) {
	add := func(a *assembly, body bool) {
		a.head(yamuxCodec{}, header{kind: kindPing}, headerSize)
		if body {
			a.add([]byte{1}, 1)
		}
	}
	for name, body := range map[string]bool{"headers": false, "headers and bodies": true} {
		a := new(assembly)
		for !a.full(vectored) {
			add(a, body)
		}
		for _, limit := range []int{vectored, flattened} {
			if !a.full(limit) {
				t.Errorf("%s: not full for %d", name, limit)
			}
		}
		a.reset()
		for !a.full(vectored) {
			before := *a
			a.head(yamuxCodec{}, header{kind: kindPing}, 0) // panics without room
			add(a, true)
			*a = before
			add(a, body)
		}
	}
}

func TestWholeDefaultWindowGoesInOneWrite(t *testing.T) {
	c, f := wrapFake(t, eager())
	c.vector, c.limit = true, vectored
	host := wireFrame(0, 1, pattern(initialCredit, 1))
	mustWrite(t, c, host)
	if n := c.Meter().Snapshot().Counts.Writes; n != 1 {
		t.Errorf("%d vectored writes", n)
	}
	if err := checkWire(host, f.wire(), defaultSDU, true); err != nil {
		t.Error(err)
	}
}

func TestVectoredWritesAreForKernelSocketsOnly(t *testing.T) {
	for name, pair := range pairs {
		a, _ := pair(t)
		c := Wrap(a)
		// net.Buffers makes a write of each piece on any other conn.
		if want := name == "tcp" || name == "unix"; c.vector != want {
			t.Errorf("%s: %v", name, c.vector)
		}
		c.Close()
	}
	_ = net.Buffers{}
}
