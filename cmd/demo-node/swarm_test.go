package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
)

// one decodes exactly one document, and no field that it does not have.
func one(t *testing.T, text string, doc any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(doc); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if dec.More() {
		t.Error("more than one document")
	}
}

// shared is a directory with some files.
func shared(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 900_000, "b": 300_000, "c": 1000} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat(name, size)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFetchFromPeers: from whichever delivers, a bad one and one that is not there
// notwithstanding; what is learnt stays in the state.
func TestFetchFromPeers(t *testing.T) {
	dir, out := shared(t), t.TempDir()
	state := filepath.Join(t.TempDir(), "state")
	good, _ := serveDir(t, dir, "--behave", "disk=2MB/s") // so that it is not us who is slower
	vanishing, _ := serveDir(t, dir, "--behave", "vanish=100kB")
	peers := strings.Join([]string{good, vanishing, "127.0.0.1:1"}, ",")
	code, text, stderr := call(t, "fetch", "--peers", peers, "--out", out, "--state", state, "--json")
	var doc report.Swarm
	if code != exitOK {
		t.Fatalf("%d: %s%s", code, text, stderr)
	}
	one(t, text, &doc)
	if doc.Schema != report.SwarmSchema || doc.Kept != 0 || len(doc.Data) != 3 || len(doc.Peers) != 2 {
		t.Errorf("%+v", doc)
	}
	for _, d := range doc.Data {
		if d.Error != nil || d.Bytes == 0 || len(d.Parts) == 0 || d.Bytes > 100_000 && d.From != good {
			t.Errorf("datum %+v", d)
		}
	}
	if !strings.Contains(stderr, "peer left out") {
		t.Errorf("nothing said of the peer that is not there: %s", stderr)
	}
	// Again: all are there, and the peers are known.
	code, text, stderr = call(t, "fetch", "--peers", good, "--out", out, "--state", state)
	if code != exitOK || !strings.Contains(text, "0 files fetched: 0 B. Already there: 3. Failed: 0.") || !strings.Contains(text, good) || strings.Contains(text, "unproven") {
		t.Errorf("%d: %s%s", code, text, stderr)
	}
}

func TestFetchFromPeersCritical(t *testing.T) {
	dir, out := shared(t), t.TempDir()
	a, _ := serveDir(t, dir, "--tls")
	b, _ := serveDir(t, dir, "--tls")
	code, text, stderr := call(t, "--progress", "always", "fetch", "--tls", "--critical", "--peers", a+","+b, "--out", out)
	if code != exitOK || !strings.Contains(text, "3 files fetched: 1.2 MB. Already there: 0. Failed: 0.") {
		t.Errorf("%d: %s%s", code, text, stderr)
	}
}

func TestFetchFromPeersFails(t *testing.T) {
	dir := shared(t)
	vanishing, _ := serveDir(t, dir, "--behave", "vanish=100kB")
	wantFailure(t, exitFailed, "connection refused", "--log-level", "error", "fetch", "--peers", "127.0.0.1:1")
	wantFailure(t, exitFailed, "does not have this file", "fetch", "--peers", vanishing, "--hash", strings.Repeat("0", 64))
	wantFailure(t, exitFailed, "--state", "fetch", "--peers", vanishing, "--state", filepath.Join(dir, "a", "x"))
	wantFailure(t, exitFailed, "cannot serve HTTP", "fetch", "--peers", vanishing, "--http", "192.0.2.1:1")
	wantFailure(t, exitUsage, "--http go with --peers", "fetch", vanishing, "--http", "127.0.0.1:0")
	code, text, stderr := call(t, "fetch", "--log-level", "error", "--peers", vanishing, "--out", t.TempDir())
	if code != exitFailed || !strings.Contains(text, "Failed: ") || !strings.Contains(stderr, "no peer is left") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%d: %s%s", code, text, stderr)
	}
}

// TestFetchFromPeersServes: what the fetch looks like is served while it lasts, and
// for as long as wanted afterwards.
func TestFetchFromPeersServes(t *testing.T) {
	addr, _ := serveDir(t, shared(t))
	code, text, stderr := call(t, "fetch", "--peers", addr, "--out", t.TempDir(), "--http", "127.0.0.1:0", "--hold", "1ms")
	if !strings.Contains(stderr, "held for a look") {
		t.Errorf("not held: %s", stderr)
	}
	if code != exitOK || !strings.Contains(text, "3 files fetched") || !strings.Contains(stderr, "page=http://127.0.0.1:") {
		t.Errorf("%d: %s%s", code, text, stderr)
	}
}

// TestDamagedState is set aside and said so, and the data come all the same.
func TestDamagedState(t *testing.T) {
	dir, state := shared(t), filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, []byte("no state"), 0o644); err != nil {
		t.Fatal(err)
	}
	addr, _ := serveDir(t, dir)
	code, text, stderr := call(t, "fetch", "--peers", addr, "--out", t.TempDir(), "--state", state)
	if code != exitOK || !strings.Contains(text, "3 files fetched") || !strings.Contains(stderr, "damaged") {
		t.Errorf("%d: %s%s", code, text, stderr)
	}
	if kept, err := os.ReadFile(state + ".damaged"); string(kept) != "no state" {
		t.Errorf("kept aside: %q, %v", kept, err)
	}
}

// TestCast plays for a few seconds, which is too short for the bars: what is
// printed has to be whole either way.
func TestCast(t *testing.T) {
	code, text, stderr := call(t, "--log-level", "warn", "cast", "--seconds", "6", "--json")
	var doc report.Cast
	one(t, text, &doc)
	if doc.Schema != report.CastSchema || len(doc.Peers) != 8 || (code == exitOK) != (doc.Failed == nil) {
		t.Errorf("%d: %+v", code, doc)
	}
	if code != exitOK && (code != exitFailed || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "demo-node: ")) {
		t.Errorf("%d: %q, want one line", code, stderr)
	}
}

// TestCastHolds: at its end it stays, all peers still there and nothing fetched,
// until it is interrupted; then it prints what it found.
func TestCastHolds(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	stderr := awaiting("held for a look")
	var stdout strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx, []string{"cast", "--seconds", "5", "--hold", "10m", "--json"}, &stdout, stderr)
	}()
	select {
	case <-stderr.seen:
	case <-time.After(2 * time.Minute):
		t.Fatalf("it does not come to rest: %s", stderr)
	}
	_, addr, _ := strings.Cut(stderr.String(), "metrics=")
	addr = strings.TrimSuffix(strings.Fields(addr)[0], "/metrics")
	rested := func() (s status.Snapshot) {
		t.Helper()
		if err := json.Unmarshal([]byte(page(t, addr+"/debug/snapshot")), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before, after := rested(), rested()
	if !before.Resting || len(before.Peers) != 8 || before.Ranking.Stats.Plans == 0 || before.Ranking.Stats.Plans != after.Ranking.Stats.Plans {
		t.Errorf("resting %v with %d peers, %d plans and then %d", before.Resting, len(before.Peers), before.Ranking.Stats.Plans, after.Ranking.Stats.Plans)
	}
	if text := page(t, addr+"/metrics"); !strings.Contains(text, "assay_connections 8") {
		t.Errorf("the metrics do not have the eight: %.500s", text)
	}
	interrupt()
	<-done
	var doc report.Cast
	one(t, stdout.String(), &doc)
	if len(doc.Peers) != 8 {
		t.Errorf("what it found: %+v", doc)
	}
}

func page(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
