package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// asProgram makes the test binary the program itself.
const asProgram = "DEMO_NODE_TEST_RUN"

// TestMain: every goroutine ends.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// program is the program as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// lines is a writer that says when a line with a text in it has come.
type lines struct {
	mu   sync.Mutex
	all  bytes.Buffer // guarded by mu
	want string
	seen chan struct{}
}

func awaiting(want string) *lines { return &lines{want: want, seen: make(chan struct{})} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := strings.Contains(l.all.String(), l.want)
	l.all.Write(p)
	if !before && strings.Contains(l.all.String(), l.want) {
		close(l.seen)
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// field is the value that follows a key in what was logged.
func (l *lines) field(key string) string {
	_, rest, _ := strings.Cut(l.String(), " "+key+"=")
	value, _, _ := strings.Cut(rest, "\n")
	value, _, _ = strings.Cut(value, " ")
	return value
}

// call runs the program inside the test.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// serveDir runs serve until the test ends, and returns where it listens.
func serveDir(t *testing.T, dir string, args ...string) (addr string, log *lines) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log = awaiting("msg=serving")
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, append([]string{"serve", dir, "--listen", "127.0.0.1:0"}, args...), log, log)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-done; code != exitOK {
			t.Errorf("serve ended with %d: %s", code, log)
		}
	})
	select {
	case <-log.seen:
	case code := <-done:
		done <- code
		t.Fatalf("serve ended with %d: %s", code, log)
	}
	return log.field("addr"), log
}
