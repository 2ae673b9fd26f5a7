package bubble

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// session pings over a pipe and opens a stream, each of which takes a timer out
// of yamux's pool and puts it back.
func session(t *testing.T) {
	t.Helper()
	cfg := yamux.DefaultConfig()
	cfg.LogOutput = io.Discard
	a, b := net.Pipe()
	client, err := yamux.Client(a, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := yamux.Server(b, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, err := client.Ping(); err != nil {
		t.Error(err)
	}
	st, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	st.Close()
}

// TestRunAfterRun: the second bubble, or yamux outside one after it, ends the
// process if the pool still holds timers.
func TestRunAfterRun(t *testing.T) {
	for range 10 {
		session(t)
		Run(t, session)
		Run(t, session)
	}
}

func TestRunIsVirtual(t *testing.T) {
	start := time.Now()
	Run(t, func(t *testing.T) {
		inside := time.Now()
		time.Sleep(24 * time.Hour)
		if got := time.Since(inside); got != 24*time.Hour {
			t.Errorf("slept %v", got)
		}
	})
	if took := time.Since(start); took > time.Hour {
		t.Errorf("a virtual day took %v", took)
	}
}

// TestRunsTakeTurns: parallel tests may all call Run.
func TestRunsTakeTurns(t *testing.T) {
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, session)
		})
	}
}

func BenchmarkEmptyPools(b *testing.B) {
	for b.Loop() {
		emptyPools()
	}
}
