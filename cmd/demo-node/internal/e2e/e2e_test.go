package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFlatten(t *testing.T) {
	const answer = `{"status": "success", "data": {"result": [
		{"metric": {"__name__": "assay_a", "job": "assay", "instance": "x", "kind": "k", "b": "c"}, "value": [1.5, "2.5"]},
		{"metric": {"__name__": "assay_h_bucket", "le": "2.0"}, "value": [1.5, "3"]},
		{"metric": {"__name__": "assay_h_bucket", "le": "+Inf"}, "value": [1.5, "4"]},
		{"metric": {"__name__": "assay_n", "job": "assay"}, "histogram": [1.5, {"count": "5", "sum": "0.75", "buckets": [[0, "1", "2", "5"]]}]}
	]}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, answer) }))
	defer server.Close()
	samples, err := (&prometheus{url: server.URL}).query(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	want := figures{`assay_a{b="c",kind="k"}`: 2.5, `assay_h_bucket{le="2"}`: 3, `assay_h_bucket{le="+Inf"}`: 4, "assay_n_count": 5, "assay_n_sum": 0.75}
	if _, _, err := compare(flatten(samples), want, want); err != nil {
		t.Error(err)
	}
}

func TestFinite(t *testing.T) {
	for text, want := range map[string]bool{
		`{"value": [1, "0"]}`: true, `{"value": [1, "NaN"]}`: false, `{"value": [1, "+Inf"]}`: false, `{"value": [1, "x"]}`: false,
		`{"histogram": [1, {"count": "0", "sum": "0"}]}`: true, `{}`: false,
	} {
		var s sample
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if s.finite() != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

func TestJudge(t *testing.T) {
	a := func(name, node, state string) alert {
		return alert{State: state, Labels: map[string]string{"alertname": name, "instance": node}}
	}
	right := []alert{a(demoted, firstNode, "firing"), a(demoted, secondNode, "firing")}
	for name, tt := range map[string]struct {
		all     []alert
		thin    bool
		missing bool
		err     string
	}{
		"right":                     {right, false, false, ""},
		"nothing yet":               {nil, false, true, ""},
		"about to":                  {[]alert{a(demoted, firstNode, "pending"), right[1]}, false, true, ""},
		"one of two":                {right[:1], false, true, ""},
		"another too":               {append(right[:2:2], a("AssayForgedEchoes", firstNode, "firing")), false, false, "AssayForgedEchoes of cast-1 fires, for nothing"},
		"the campaign's":            {append(right[:2:2], a(demoted, planNode, "firing")), false, false, "of campaign fires"},
		"another about to":          {append(right[:2:2], a("AssayHedgeBudgetExhausted", firstNode, "pending")), false, false, "is about to fire"},
		"thin, as it is":            {append(right[:2:2], a("AssayBaselineThin", firstNode, "pending")), true, false, ""},
		"thin, as it is not":        {append(right[:2:2], a("AssayBaselineThin", firstNode, "pending")), false, false, "AssayBaselineThin"},
		"thin, an hour too soon":    {append(right[:2:2], a("AssayBaselineThin", firstNode, "firing")), true, false, "AssayBaselineThin"},
		"a busy machine's own time": {append(right[:2:2], a("AssayOwnFaultTimeHigh", firstNode, "pending")), false, false, ""},
	} {
		told, missing, err := judge(tt.all, tt.thin)
		if missing != tt.missing || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: missing %v, %v; told %s", name, missing, err, told)
		}
	}
}

func TestFirst(t *testing.T) {
	if err := first([]error{nil, nil}); err != nil {
		t.Error(err)
	}
	many := make([]error, most+3)
	for i := range many {
		many[i] = fmt.Errorf("error %d", i)
	}
	if text := first(many).Error(); !strings.Contains(text, "error 9") || strings.Contains(text, "error 10") || !strings.HasSuffix(text, "and 3 more") {
		t.Error(text)
	}
}

// TestConfigure: our targets, and no interval of fifteen seconds is left.
func TestConfigure(t *testing.T) {
	tmp := t.TempDir()
	run := &trial{dir: monitoring, cast: "127.0.0.1:1", plan: "127.0.0.1:2"}
	if err := run.configure(tmp); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(tmp, "monitoring", "prometheus.yml"))
	if err != nil || strings.Contains(string(text), "interval: 15s") {
		t.Errorf("%v: %s", err, text)
	}
	text, err = os.ReadFile(filepath.Join(tmp, "monitoring", "targets", "nodes.yml"))
	want := "- targets: [\"127.0.0.1:1\"]\n  labels: {instance: \"cast-1\"}\n- targets: [\"127.0.0.1:1\"]\n  labels: {instance: \"cast-2\"}\n" +
		"- targets: [\"127.0.0.1:2\"]\n  labels: {instance: \"campaign\"}\n"
	if err != nil || string(text) != want {
		t.Errorf("%v: %s", err, text)
	}
}

// TestSkipsAloud: where there is no Prometheus and none can be had, the program
// says that nothing was tried.
func TestSkipsAloud(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out bytes.Buffer
	if code := run(t.Context(), []string{"-build", t.TempDir()}, &out); code != 0 || !strings.HasPrefix(out.String(), "SKIPPED: nothing was tried") {
		t.Errorf("%d: %s", code, &out)
	}
	if code := run(t.Context(), []string{"-nonsense"}, &out); code != 2 {
		t.Errorf("a flag that is none: code %d", code)
	}
}

// TestProcess: its address is read from its log, and it ends when told to.
func TestProcess(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell:", err)
	}
	p, addr, err := startNode(t.Context(), sh, "node", "metrics=http://", "-c", `echo "level=INFO metrics=http://127.0.0.1:9/metrics more" >&2; exec sleep 60`)
	if err != nil || addr != "127.0.0.1:9" {
		t.Fatalf("%q, %v", addr, err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); p.end() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := startNode(ctx, sh, "node", "x=", "-c", "true"); err == nil {
		t.Error("no address, and no error")
	}
	if _, _, err := startNode(t.Context(), filepath.Join(t.TempDir(), "none"), "node", "x="); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
}
