package rivals

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/internal/lab/child"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// The comparison is a test that plays each scenario and seed in a process of its own,
// see package child.
var (
	dir    = flag.String("rivals.dir", "", "compare on the scenarios of this folder, as make rivals does")
	only   = flag.String("rivals.only", "*", "only those whose names match")
	seeds  = flag.Int("rivals.seeds", 3, "by so many seeds")
	out    = flag.String("rivals.out", "", "write the figures to this file")
	strict = flag.Bool("rivals.strict", false, "fail where Assay is not best, or within 2 % without an adversary")
	procs  = flag.Int("rivals.procs", runtime.NumCPU(), "in so many processes at a time")

	playFile = flag.String("rivals.play", "", "play this scenario, and write its round to -rivals.out")
	playSeed = flag.Uint64("rivals.seed", 1, "by this seed")
)

// playLimit is how long one scenario by one seed may take, all choosers together,
// before it counts as hung.
const playLimit = 8 * time.Minute

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play runs all choosers in the worlds of one seed.
func play(t *testing.T, s *scenario.Scenario, seed uint64) Round {
	t.Helper()
	runs := map[string]*engine.Result{}
	for _, e := range Entrants() {
		var err error
		bubble.Run(t, func(t *testing.T) {
			runs[e.Name], err = engine.Run(t.Context(), s, engine.Options{Seed: seed, New: e.New})
		})
		if err != nil {
			t.Fatalf("%s, by %s: %v", s.Name, e.Name, err)
		}
	}
	return NewRound(seed, runs)
}

// TestPlay plays one scenario, for TestRivals.
func TestPlay(t *testing.T) {
	if *playFile == "" {
		t.Skip("-rivals.play names no scenario")
	}
	s, err := scenario.Load(*playFile)
	if err != nil {
		t.Fatal(err)
	}
	write(t, *out, play(t, s, *playSeed))
}

func write(t *testing.T, file string, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRivals compares on all scenarios of a folder. It fails where something
// could not be measured, and if it is strict where Assay falls short.
func TestRivals(t *testing.T) {
	if *dir == "" {
		t.Skip("-rivals.dir names no folder of scenarios")
	}
	files, err := filepath.Glob(filepath.Join(*dir, *only+".yaml"))
	if err != nil || len(files) == 0 || *seeds < 1 {
		t.Fatalf("no scenarios in %s, or no seeds (%v)", *dir, err)
	}
	var jobs []*job
	for _, file := range files {
		for seed := range *seeds {
			jobs = append(jobs, &job{file: file, seed: seed + 1, run: child.Run{
				Test: "TestPlay", Out: filepath.Join(t.TempDir(), "round.json"), Limit: playLimit,
			}})
		}
	}
	began := time.Now()
	rows := runAll(t, jobs)
	fmt.Print(Summary(rows))
	var used time.Duration
	for _, j := range jobs {
		used += j.used
	}
	fmt.Printf("it took %v, and %v of processor time\n", time.Since(began).Round(time.Second), used.Round(time.Second))
	if *out != "" {
		write(t, *out, rows)
		fmt.Printf("the figures of each seed are in %s\n", *out)
	}
	for _, r := range rows {
		if *strict && !r.Holds {
			t.Errorf("%s: %s", r.Scenario, r.Verdict())
		}
	}
}

// job is one scenario by one seed.
type job struct {
	file  string
	seed  int
	run   child.Run
	round Round
	err   error
	used  time.Duration // of processor time
}

// play plays it in a process of its own.
func (j *job) play() {
	j.run.Flags = []string{"-rivals.play=" + j.file, fmt.Sprint("-rivals.seed=", j.seed), "-rivals.out=" + j.run.Out}
	j.used, j.err = j.run.Do(&j.round)
}

// runAll runs the jobs, so many at a time, and prints each scenario in its turn.
func runAll(t *testing.T, jobs []*job) []Row {
	t.Helper()
	var rows []Row
	var same []*job // of one scenario
	child.All(jobs, *procs, (*job).play, func(j *job) {
		if same = append(same, j); len(same) < *seeds {
			return
		}
		if r, ok := sum(t, same); ok {
			rows = append(rows, r)
			fmt.Println(r.Text())
		}
		same = nil
	})
	return rows
}

// sum makes the row of the jobs of one scenario. What could not be measured, or broke a
// check of the lab's own, fails the test.
func sum(t *testing.T, jobs []*job) (Row, bool) {
	t.Helper()
	s, err := scenario.Load(jobs[0].file)
	if err != nil {
		t.Error(err)
		return Row{}, false
	}
	var rounds []Round
	for _, j := range jobs {
		if j.err != nil {
			t.Errorf("%s, seed %d: %v", s.Name, j.seed, j.err)
			continue
		}
		if len(j.round.Broken) > 0 {
			t.Errorf("%s, seed %d: %d checks of the lab failed", s.Name, j.seed, len(j.round.Broken))
		}
		rounds = append(rounds, j.round)
	}
	if len(rounds) == 0 {
		return Row{}, false
	}
	return Compare(s, rounds), true
}
