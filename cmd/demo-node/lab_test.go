package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// small is a scenario of a second or two.
const small = `
about: A small one.
links: {near: {rate: 20Mbit/s, rtt: 10ms}}
peers: [{name: honest, count: 2, link: near}, {name: mute, bad: true, link: near, behaviour: [{do: {fail: {how: not_found}}}]}]
workload: {warmup: {each: 1, sizes: [50kB]}, fetches: 6, sizes: [100kB], every: 150ms}
bars:
  - {path: failed, is: 0, why: all come}
`

// file writes a scenario.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLab(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "small.svg")
	code, out, stderr := call(t, "lab", file(t, small), "--plot", svg)
	// On a busy machine, in real time, a check of the lab itself may fail: then it must
	// say so.
	want, line := exitOK, "1 pass\n"
	if strings.Contains(out, "    violated by ") {
		want, line = exitFailed, "violated by "
	}
	if code != want {
		t.Fatalf("%d, want %d: %s%s", code, want, out, stderr)
	}
	for _, want := range []string{
		"3 peers are there", "mute (bad), fetch 3: not found", "6 of 6 fetches", "; ranking: honest-",
		engine.Header(), "\nsmall  ", line, "  pass  failed is 0: 0 (all come)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("control characters where there is no terminal")
	}
	if text, err := os.ReadFile(svg); err != nil || !strings.Contains(string(text), "small, seed 1") {
		t.Errorf("drawing: %v", err)
	}
}

// TestLabFails: the document is all there is on stdout, and the exit code is by the
// bars.
func TestLabFails(t *testing.T) {
	code, out, stderr := call(t, "lab", "--json", "--seed", "3", file(t, small+"  - {path: failed, at_least: 1}\n"))
	var d engine.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if code != exitFailed || d.Pass || d.Seed != 3 || d.Scenario != "small" || len(d.Bars) != 2 || !d.Bars[0].Pass || len(d.Assay.Fetches) != 9 {
		t.Errorf("%d, %+v", code, d)
	}
	if !strings.HasPrefix(stderr, "demo-node: the scenario did not pass: 1 of 2 bars do not hold") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("stderr %q", stderr)
	}
}

func TestLabErrors(t *testing.T) {
	wantFailure(t, exitFailed, "no such file", "lab", "nowhere.yaml")
	wantFailure(t, exitFailed, "line 4", "lab", file(t, strings.Replace(small, "name: mute", "names: mute", 1)))
	wantFailure(t, exitUsage, `expected "<file>"`, "lab")
}

// TestLabInterrupted: it ends at once with one line, and nothing goes on.
func TestLabInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, stderr := awaiting("peers are there"), awaiting("interrupted")
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"lab", file(t, strings.Replace(small, "fetches: 6", "fetches: 6000", 1))}, out, stderr)
	}()
	<-out.seen
	cancel()
	if code := <-done; code != exitFailed || stderr.String() != "demo-node: interrupted; nothing incomplete was kept\n" {
		t.Errorf("%d, %q", code, stderr)
	}
}
