package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// job is what to run.
type job struct {
	race    string
	timeout time.Duration
	unraced string   // tests that run without the race detector, a regexp
	flags   []string // more flags of go test
	modules []string // directories
}

// run is main with its edges as arguments. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	j, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	detector := raceFlag(j.race, stdout)
	t := newTally(stdout)
	for _, dir := range j.modules {
		j.testModule(dir, detector, t, stderr)
	}
	fmt.Fprintln(stdout, t.counts)
	return exitCode(t.counts, stderr)
}

func parse(args []string, stderr io.Writer) (job, error) {
	var j job
	var more string
	f := flag.NewFlagSet("testcount", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&j.race, "race", "auto", "the race detector: on, off, or auto, on wherever it works")
	f.DurationVar(&j.timeout, "timeout", 2*time.Minute, "how long one package's tests may take")
	f.StringVar(&j.unraced, "unraced", "", "where the race detector is on, run the tests that match this `regexp` again without")
	f.StringVar(&more, "flags", "", "more flags of go test, separated by spaces")
	if err := f.Parse(args); err != nil {
		return j, err
	}
	if !slices.Contains([]string{"auto", "on", "off"}, j.race) {
		err := fmt.Errorf("testcount: -race is %q; use auto, on or off", j.race)
		fmt.Fprintln(stderr, err)
		return j, err
	}
	j.flags = strings.Fields(more)
	j.modules = f.Args()
	if len(j.modules) == 0 {
		j.modules = []string{"."}
	}
	return j, nil
}

// testModule tests the module in dir. What keeps go from doing so counts as a
// failure.
func (j job) testModule(dir, detector string, t *tally, stderr io.Writer) {
	runs := [][]string{j.arguments(detector)}
	if detector != "" && j.unraced != "" {
		runs = append(runs, j.arguments("-run="+j.unraced))
	}
	for _, args := range runs {
		if err := goTest(dir, args, t, stderr); err != nil {
			fmt.Fprintf(stderr, "testcount: module %s: %v\n", dir, err)
			t.failed++
		}
	}
}

// arguments are those of go, with one more flag unless it is "".
func (j job) arguments(flag string) []string {
	args := []string{"test", "-json", "-timeout", j.timeout.String()}
	if flag != "" {
		args = append(args, flag)
	}
	return append(append(args, j.flags...), "./...")
}

// goTest runs go in dir, and counts what it prints. The error is of go itself,
// not of a test.
func goTest(dir string, args []string, t *tally, stderr io.Writer) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	before := t.failed
	readErr := eachEvent(stdout, t.add)
	io.Copy(io.Discard, stdout) // after a read error, or go would block
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && t.failed > before {
		err = nil // counted already
	}
	return errors.Join(readErr, err)
}

func exitCode(c counts, stderr io.Writer) int {
	if c.ran() == 0 {
		fmt.Fprintln(stderr, "testcount: no test ran; check the directories and -flags")
		return 1
	}
	if c.failed > 0 {
		return 1
	}
	return 0
}
