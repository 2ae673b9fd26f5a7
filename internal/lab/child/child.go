package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// ErrHung says that it was still running when its time was over.
var ErrHung = errors.New("it hangs: stopped after its time was over")

// ErrNothing says that it ended well and wrote nothing, so it did not run what it was asked for.
var ErrNothing = errors.New("it wrote no result")

const (
	// grace is how much longer than its limit a process is borne with, in which it should
	// end by itself and say where it hangs.
	grace = 10 * time.Second
	// mostSaid is how much of what it said is kept, in bytes: where it failed, and no more
	// of the goroutines than a page can bear.
	mostSaid = 2000
)

// Run is one test of this binary, to be run in a process of its own.
type Run struct {
	// Test is its name, and Flags are what it is told beside.
	Test  string
	Flags []string
	// Out is the file that it writes its result to, as JSON. What is there from before is
	// removed first: a result that was not written must not be read.
	Out string
	// Limit is how long it may take before it counts as hung.
	Limit time.Duration
}

// Do runs it and reads its result. used is the processor time it took. The error, which
// is ErrHung or ErrNothing or has what it said, is for people.
func (r Run) Do(result any) (used time.Duration, err error) {
	if err := os.Remove(r.Out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Limit+grace)
	defer cancel()
	flags := append([]string{"-test.run=^" + r.Test + "$", "-test.timeout=" + r.Limit.String()}, r.Flags...)
	c := exec.CommandContext(ctx, self, flags...)
	// A bubble runs one goroutine at a time: a second thread only costs.
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	said, err := c.CombinedOutput()
	if c.ProcessState != nil {
		used = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if err != nil {
		return used, failure(string(said), err, ctx.Err() != nil)
	}
	text, err := os.ReadFile(r.Out)
	if errors.Is(err, os.ErrNotExist) {
		return used, ErrNothing
	}
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	return used, err
}

// failure is what went wrong with a process, with the best of what it said.
func failure(said string, err error, killed bool) error {
	if killed || strings.Contains(said, "panic: test timed out") {
		err = ErrHung
	}
	for _, mark := range []string{"panic: ", "fatal error: ", "--- FAIL"} {
		if i := strings.Index(said, mark); i >= 0 {
			said = said[i:]
			break
		}
	}
	if len(said) > mostSaid {
		said = strings.ToValidUTF8(said[:mostSaid], "") + " ..."
	}
	return fmt.Errorf("%w\n%s", err, strings.TrimSpace(said))
}

// All does jobs, so many at a time, and calls then for each in their order, as soon as it
// and all before it are done.
func All[J any](jobs []J, atOnce int, do, then func(J)) {
	queue := make(chan int, len(jobs))
	done := make([]chan struct{}, len(jobs))
	for i := range jobs {
		done[i] = make(chan struct{})
		queue <- i
	}
	close(queue)
	var workers sync.WaitGroup
	for range max(atOnce, 1) {
		workers.Go(func() {
			for i := range queue {
				do(jobs[i])
				close(done[i])
			}
		})
	}
	for i, j := range jobs {
		<-done[i]
		then(j)
	}
	workers.Wait()
}
