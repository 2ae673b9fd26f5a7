package compat

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// Limit is how long one run of one test may take: their slowest needs some
// seconds, and a session that hangs should fail soon.
const Limit = 90 * time.Second

// A Result is one run of one test.
type Result struct {
	Passed bool
	Took   time.Duration
	Output string // what the test printed
}

// Run runs one test once, in a process of its own, so that no test disturbs
// another and each starts from the same state. The tests of Whole are run with
// splitting off.
func (s *Suite) Run(ctx context.Context, test string) Result {
	if _, ok := Whole()[test]; ok {
		return s.run(ctx, test, wholeEnv+"=1")
	}
	return s.run(ctx, test)
}

// RunAsIs is Run without exception for any test.
func (s *Suite) RunAsIs(ctx context.Context, test string) Result { return s.run(ctx, test) }

func (s *Suite) run(ctx context.Context, test string, env ...string) Result {
	ctx, cancel := context.WithTimeout(ctx, Limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary,
		"-test.run", "^"+test+"$", "-test.count", "1", "-test.timeout", Limit.String())
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	return Result{Passed: err == nil, Took: time.Since(began), Output: string(out)}
}
