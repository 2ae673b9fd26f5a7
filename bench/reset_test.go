package bench_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/assay-mux/assay/bench/peers"
	"github.com/assay-mux/assay/mux"
)

// Session.Reset has to stop a peer that runs nothing of ours, in the middle of
// its reply, and leave the session as it was.
func TestResetStopsAnUnmodifiedPeer(t *testing.T) {
	for _, p := range unmodified {
		for _, side := range []peers.Side{peers.Client, peers.Server} {
			for _, opener := range []string{"ours", "theirs"} {
				t.Run(fmt.Sprintf("%v of %s, stream of %s", side, p.name, opener), func(t *testing.T) {
					testReset(t, p.start, side, opener == "ours")
				})
			}
		}
	}
}

func testReset(t *testing.T, peer peers.Starter, side peers.Side, ours bool) {
	c, s, err := peers.TCP()
	if err != nil {
		t.Fatal(err)
	}
	if side == peers.Server {
		c, s = s, c
	}
	start := mux.Server
	if side == peers.Client {
		start = mux.Client
	}
	config := mux.DefaultConfig()
	config.LogOutput = io.Discard
	near, err := start(c, config)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	log := new(peers.Log)
	far, err := peer(s, !side, log)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()

	a, b := openEither(t, near, far, ours)
	stopped := flood(b)
	if _, err := io.CopyN(io.Discard, a, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := near.Reset(a); err != nil {
		t.Fatalf("Reset: %v", err)
	}
	select {
	case err := <-stopped:
		if err == nil {
			t.Error("the peer's Write ended without an error")
		}
	case <-time.After(limit):
		t.Fatal("the peer goes on serving a stream that was reset")
	}
	readToError(t, a)
	if err := near.Reset(a); err != nil {
		t.Errorf("resetting again: %v", err)
	}
	// The session goes on, both ways.
	x, y := openEither(t, near, far, ours)
	if err := exchange(x, y, 7, 300<<10); err != nil {
		t.Errorf("after a reset: %v", err)
	}
	if lines := log.Lines(); len(lines) > 0 {
		t.Errorf("the peer logged %d lines, first: %s", len(lines), lines[0])
	}
}

// openEither is open for a mux.Session, whose stream Reset takes.
func openEither(t *testing.T, near *mux.Session, far peers.Session, ours bool) (a *mux.Stream, b peers.Stream) {
	t.Helper()
	host := peers.FromHashicorp(near.Session)
	var x peers.Stream
	var err error
	if ours {
		x, b, err = open(host, far)
	} else {
		b, x, err = open(far, host)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x.(*mux.Stream), b
}

// flood writes without end, and tells the error that ended it.
func flood(w io.Writer) <-chan error {
	stopped := make(chan error, 1)
	go func() {
		b := make([]byte, 32<<10)
		for {
			if _, err := w.Write(b); err != nil {
				stopped <- err
				return
			}
		}
	}()
	return stopped
}

// readToError expects a Read of ours to end with a reset, at the latest after
// what was there already.
func readToError(t *testing.T, a *mux.Stream) {
	t.Helper()
	if _, err := io.Copy(io.Discard, a); !errors.Is(err, mux.ErrConnectionReset) {
		t.Errorf("reading a stream that was reset: %v, want ErrConnectionReset", err)
	}
}
