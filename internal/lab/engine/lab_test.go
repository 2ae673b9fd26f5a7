package engine_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/child"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// The lab is a test that plays each scenario and seed in a process of its own, see
// package child.
var (
	labDir   = flag.String("lab.dir", "", "play the scenarios of this folder, as make lab does")
	labSeeds = flag.Int("lab.seeds", 1, "by so many seeds")
	labOut   = flag.String("lab.out", "", "write the results to this file, and the series of each to a folder beside it")
	labProcs = flag.Int("lab.procs", runtime.NumCPU(), "in so many processes at a time")
	labOnly  = flag.String("lab.only", "*", "only those whose names match")

	playFile  = flag.String("lab.play", "", "play this scenario, and write its document to -lab.out")
	playSeed  = flag.Uint64("lab.seed", 1, "by this seed")
	playBreak = flag.String("lab.break", "", "with a rival who panics or hangs")
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
	d := playAll(t, s, *playSeed, breaking(*playBreak))
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
	if passed, of := lab(t, files, out, playLimit); passed < of {
		t.Fail()
	}
}

// lab plays scenarios, prints a line for each, and writes all results to a file, and
// each with its series to a folder beside it.
func lab(t *testing.T, files []string, out string, limit time.Duration, flags ...string) (passed, of int) {
	t.Helper()
	series := out[:len(out)-len(filepath.Ext(out))]
	if err := os.MkdirAll(series, 0o755); err != nil {
		t.Fatal(err)
	}
	var jobs []*labJob
	for _, file := range files {
		for seed := range *labSeeds {
			name := filepath.Base(file[:len(file)-len(filepath.Ext(file))])
			jobs = append(jobs, &labJob{file: file, seed: uint64(seed + 1), run: child.Run{
				Test: "TestPlay", Limit: limit, Out: filepath.Join(series, fmt.Sprintf("%s-%d.json", name, seed+1)), Flags: flags,
			}})
		}
	}
	fmt.Println(engine.Header())
	docs := []*engine.Document{}
	child.All(jobs, *labProcs, (*labJob).play, func(j *labJob) {
		if docs = append(docs, j.doc); j.doc.Pass {
			passed++
		}
		fmt.Println(j.doc.Line())
	})
	write(t, out, docs)
	fmt.Printf("%d of %d pass, results in %s\n", passed, len(docs), out)
	return passed, len(docs)
}

// labJob is one scenario by one seed.
type labJob struct {
	file string
	seed uint64
	run  child.Run
	doc  *engine.Document // that failed, where it did not come to an end
}

// play plays it in a process of its own.
func (j *labJob) play() {
	j.run.Flags = append([]string{"-lab.play=" + j.file, fmt.Sprint("-lab.seed=", j.seed), "-lab.out=" + j.run.Out}, j.run.Flags...)
	whole := new(engine.Document)
	_, err := j.run.Do(whole)
	if err == nil && whole.Assay == nil {
		err = child.ErrNothing
	}
	if err == nil {
		j.doc = whole.Slim()
		return
	}
	s, bad := scenario.Load(j.file)
	if bad != nil { // which is all there is to say
		name := filepath.Base(j.file)
		s, err = &scenario.Scenario{Name: name[:len(name)-len(filepath.Ext(name))]}, bad
	}
	j.doc = engine.Broken(s, j.seed, err)
}

// breaking makes choosers that crash or hang, to see what the lab makes of it.
func breaking(how string) map[string]engine.New {
	if how == "" {
		return nil
	}
	return map[string]engine.New{"breaking": func(engine.Setting) (engine.Chooser, error) {
		return engine.NewSimple(watching(func(c []engine.Candidate) int {
			if how == "panic" {
				panic("the chooser is broken")
			}
			for { // and virtual time stands still
				runtime.Gosched()
			}
		})), nil
	}}
}

// tiny is the least there is to play.
const tiny = "links: {l: {rate: 20Mbit/s, rtt: 10ms}}\npeers: [{name: a, link: l}]\nworkload: {fetches: 2, sizes: [50kB]}\n"

// TestBroken: what crashes, hangs or cannot be read is in the results as failed, with the reason, and what came of it
// before is not.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "about: Well.\n"+tiny)
	for how, want := range map[string]string{"": "", "panic": "the chooser is broken", "hang": "hangs"} {
		t.Run("breaks by "+cmp.Or(how, "nothing"), func(t *testing.T) {
			limit := playLimit
			if how == "hang" {
				limit = time.Second
			}
			d := results(t, []string{good}, limit, "-lab.break="+how)[0]
			if d.Pass != (want == "") || !strings.Contains(d.Broken, want) || d.Scenario != "good" || d.About != "Well." || d.Seed != 1 {
				t.Errorf("%+v", d)
			}
			if line := d.Line(); want != "" && (!strings.Contains(line, "FAIL") || !strings.Contains(line, want)) {
				t.Error(line)
			}
		})
	}
	ds := results(t, []string{file("misspelt", "abuot: x\n"+tiny), good}, playLimit)
	if d := ds[0]; d.Pass || d.Scenario != "misspelt" || !strings.Contains(d.Broken, "abuot") {
		t.Errorf("%+v", d)
	}
	if !ds[1].Pass {
		t.Error("what is good failed with it")
	}
}

// results plays files and reads what was written of them.
func results(t *testing.T, files []string, limit time.Duration, flags ...string) []*engine.Document {
	t.Helper()
	out := filepath.Join(t.TempDir(), "lab.json")
	lab(t, files, out, limit, flags...)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var docs []*engine.Document
	if err := json.Unmarshal(text, &docs); err != nil || len(docs) != len(files) {
		t.Fatalf("%d documents of %d, %v", len(docs), len(files), err)
	}
	return docs
}
