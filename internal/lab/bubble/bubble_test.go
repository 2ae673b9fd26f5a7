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
// process if the pool is not replaced.
func TestRunAfterRun(t *testing.T) {
	session(t)
	for range 3 {
		Run(t, session)
		session(t)
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
	if real := time.Since(start); real > time.Hour {
		t.Errorf("a virtual day took %v", real)
	}
}

// TestPoolIsYamuxs: the name still reaches yamux's variable. A pool of our own
// instead would hand out nothing that yamux put back.
func TestPoolIsYamuxs(t *testing.T) {
	made := 0
	old := timerPool
	defer func() { timerPool = old }()
	timerPool = freshPool()
	fresh := timerPool.New
	timerPool.New = func() any { made++; return fresh() }
	session(t)
	if made == 0 {
		t.Error("yamux took no timer out of the pool")
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
