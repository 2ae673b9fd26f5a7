package engine_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// The lab is a test, for virtual time is there for tests only. Each scenario and
// seed is played by a process of its own: bubbles of one process take turns, for
// they share yamux's timers, and a scenario that hangs takes no other along.
var (
	labDir   = flag.String("lab.dir", "", "play the scenarios of this folder, as make lab does")
	labSeeds = flag.Int("lab.seeds", 1, "by so many seeds")
	labOut   = flag.String("lab.out", "", "write the results to this file, and the series of each to a folder beside it")
	labProcs = flag.Int("lab.procs", runtime.NumCPU(), "in so many processes at a time")
	labOnly  = flag.String("lab.only", "*", "only those whose names match")

	playFile = flag.String("lab.play", "", "play this scenario, and write its document to -lab.out")
	playSeed = flag.Uint64("lab.seed", 1, "by this seed")
)

// playLimit is how long one may take before it counts as hung.
const playLimit = 3 * time.Minute

// TestPlay plays one scenario, for TestLab.
func TestPlay(t *testing.T) {
	if *playFile == "" {
		t.Skip("-lab.play names no scenario")
	}
	s, err := scenario.Load(*playFile)
	if err != nil {
		t.Fatal(err)
	}
	d := playAll(t, s, *playSeed, nil)
	if *labOut == "" {
		t.Log("\n" + engine.Header() + "\n" + d.Line())
		return
	}
	write(t, *labOut, d)
}

func write(t *testing.T, file string, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLab plays all scenarios of a folder and prints a line for each. It fails
// where a bar does.
func TestLab(t *testing.T) {
	if *labDir == "" {
		t.Skip("-lab.dir names no folder of scenarios")
	}
	files, err := filepath.Glob(filepath.Join(*labDir, *labOnly+".yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %s (%v)", *labDir, err)
	}
	out := cmp.Or(*labOut, filepath.Join(t.TempDir(), "lab.json"))
	series := out[:len(out)-len(filepath.Ext(out))]
	if err := os.MkdirAll(series, 0o755); err != nil {
		t.Fatal(err)
	}
	fmt.Println(engine.Header())
	var jobs []*labJob
	for _, file := range files {
		for seed := range *labSeeds {
			name := filepath.Base(file[:len(file)-len(filepath.Ext(file))])
			jobs = append(jobs, &labJob{file: file, seed: seed + 1, name: name, out: filepath.Join(series, fmt.Sprintf("%s-%d.json", name, seed+1))})
		}
	}
	runAll(jobs)
	report(t, jobs, out)
}

// report sums the jobs up.
func report(t *testing.T, jobs []*labJob, out string) {
	var slim []*engine.Document
	failed := 0
	for _, j := range jobs {
		if j.err != nil || !j.doc.Pass {
			failed++
		}
		if j.doc != nil {
			slim = append(slim, j.doc)
		}
	}
	write(t, out, slim)
	fmt.Printf("%d of %d pass, results in %s\n", len(jobs)-failed, len(jobs), out)
	if failed > 0 {
		t.Fail()
	}
}

// labJob is one scenario by one seed.
type labJob struct {
	file, name, out string
	seed            int
	doc             *engine.Document
	err             error
	done            chan struct{}
}

// runAll runs the jobs, so many at a time, and prints each in its turn.
func runAll(jobs []*labJob) {
	queue := make(chan *labJob, len(jobs))
	for _, j := range jobs {
		j.done = make(chan struct{})
		queue <- j
	}
	close(queue)
	var workers sync.WaitGroup
	for range *labProcs {
		workers.Go(func() {
			for j := range queue {
				j.run()
				close(j.done)
			}
		})
	}
	for _, j := range jobs {
		<-j.done
		if j.err != nil {
			fmt.Printf("%-28s %4d  FAIL: %v\n", j.name, j.seed, j.err)
			continue
		}
		fmt.Println(j.doc.Line())
	}
	workers.Wait()
}

// run plays it in a process of its own.
func (j *labJob) run() {
	self, err := os.Executable()
	if err != nil {
		j.err = err
		return
	}
	c := exec.Command(self, "-test.run=^TestPlay$", "-test.timeout="+playLimit.String(),
		"-lab.play="+j.file, "-lab.seed="+strconv.Itoa(j.seed), "-lab.out="+j.out)
	// A bubble runs one goroutine at a time: a second thread only costs.
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	if said, err := c.CombinedOutput(); err != nil {
		j.err = fmt.Errorf("%w\n%s", err, said[:min(len(said), 4000)])
		return
	}
	text, err := os.ReadFile(j.out)
	if err != nil {
		j.err = err
		return
	}
	j.doc = new(engine.Document)
	if j.err = json.Unmarshal(text, j.doc); j.err == nil {
		j.doc = j.doc.Slim()
	}
	if j.doc == nil || j.doc.Assay == nil {
		j.err = errors.Join(j.err, errors.New("the document is empty"))
	}
}
