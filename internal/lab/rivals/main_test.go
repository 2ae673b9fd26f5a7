package rivals

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// The comparison is a test, for virtual time is there for tests only. Each
// scenario and seed is played by a process of its own, as in make lab.
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
			jobs = append(jobs, &job{file: file, seed: seed + 1, out: filepath.Join(t.TempDir(), "round.json"), done: make(chan struct{})})
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
	file, out string
	seed      int
	round     Round
	err       error
	used      time.Duration // of processor time
	done      chan struct{}
}

// runAll runs the jobs, so many at a time, and prints each scenario in its turn.
func runAll(t *testing.T, jobs []*job) []Row {
	queue := make(chan *job, len(jobs))
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	var workers sync.WaitGroup
	for range *procs {
		workers.Go(func() {
			for j := range queue {
				j.run()
				close(j.done)
			}
		})
	}
	var rows []Row
	for same := range slices.Chunk(jobs, *seeds) {
		if r, ok := sum(t, same); ok {
			rows = append(rows, r)
			fmt.Println(r.Text())
		}
	}
	workers.Wait()
	return rows
}

// sum waits for the jobs of one scenario and makes its row. What could not be
// measured, or broke a check of the lab's own, fails the test.
func sum(t *testing.T, jobs []*job) (Row, bool) {
	t.Helper()
	s, err := scenario.Load(jobs[0].file)
	if err != nil {
		t.Error(err)
		return Row{}, false
	}
	var rounds []Round
	for _, j := range jobs {
		<-j.done
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

// run plays it in a process of its own.
func (j *job) run() {
	self, err := os.Executable()
	if err != nil {
		j.err = err
		return
	}
	c := exec.Command(self, "-test.run=^TestPlay$", "-test.timeout="+playLimit.String(), "-rivals.play="+j.file,
		"-rivals.seed="+strconv.Itoa(j.seed), "-rivals.out="+j.out)
	// A bubble runs one goroutine at a time: a second thread only costs.
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	said, err := c.CombinedOutput()
	if c.ProcessState != nil {
		j.used = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if err != nil {
		j.err = fmt.Errorf("%w\n%s", err, said[:min(len(said), 4000)])
		return
	}
	text, err := os.ReadFile(j.out)
	if err == nil {
		err = json.Unmarshal(text, &j.round)
	}
	j.err = err
}
