package main

import (
	"encoding/json"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtester"
)

// willing starts a node that can be tested at any time.
func willing(t *testing.T, args ...string) (addr string, log *lines) {
	t.Helper()
	return serveDir(t, t.TempDir(), append([]string{"--speedtest-every", "0s"}, args...)...)
}

// nobody is an address where nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// byName are the peers of a document.
func byName(peers []report.Peer) map[string]report.Peer {
	m := map[string]report.Peer{}
	for _, p := range peers {
		m[p.Name] = p
	}
	return m
}

// short are tests of two seconds that a busy machine keeps up with.
var short = []string{"--seconds", "2s", "--max-rate", "20Mbit"}

// TestSpeedtestRun: one that is measured, one that has opted out, one that is not
// there, which is the only failure.
func TestSpeedtestRun(t *testing.T) {
	t.Parallel()
	a, _ := willing(t, "--claim", "900Mbit")
	b, log := willing(t, "--opt-out")
	args := append([]string{"speedtest", "run", "b=" + b, "a=" + a, "c=" + nobody(t), "--through", "--json"}, short...)
	code, out, errs := call(t, args...)
	var doc report.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	peers := byName(doc.Peers)
	if code != 1 || !doc.Shortened || doc.Format != report.Format || len(peers) != 3 || doc.Peers[0].Name != "a" {
		t.Errorf("code %d, %+v", code, doc)
	}
	p := peers["a"]
	if p.Outcome != report.Measured || !p.LowerBound || len(p.Runs) != 2 || len(p.Published) != 2 || p.Published[0].Advertised != 900e6/8 {
		t.Fatalf("a: %+v", p)
	}
	for _, r := range p.Runs {
		for way, f := range map[string]*report.Flow{"from": r.FromTarget, "to": r.ToTarget} {
			// Our own cap is 2.5 MB/s; a machine that stands still makes it less.
			if f == nil || f.Median > 1.1*2.5e6 || f.Median <= 0 || r.Bytes < 1e6 {
				t.Errorf("%s %s: %+v", r.Setup, way, f)
			}
		}
	}
	if p := peers["b"]; p.Outcome != report.OptedOut || !p.OptedOut || len(p.Runs) != 1 || p.Runs[0].Refusal.Code != "opted_out" || p.Runs[0].Bytes != 0 {
		t.Errorf("b: %+v", p)
	}
	if strings.Contains(log.String(), "speed test granted") {
		t.Errorf("b was tested: %s", log)
	}
	if p := peers["c"]; p.Outcome != report.Failed || !strings.Contains(p.Runs[0].Error, "refused") {
		t.Errorf("c: %+v", p)
	}
}

func TestSpeedtestRunPrints(t *testing.T) {
	t.Parallel()
	a, _ := willing(t)
	file := filepath.Join(t.TempDir(), "peers")
	if err := os.WriteFile(file, []byte("# ours\na="+a+" # the first\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--progress", "always", "speedtest", "run", "--peers-file", file}, short...)
	code, out, errs := call(t, args...)
	for _, want := range []string{"PEER", "measured", "Mbit/s", "Shortened"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if code != 0 || !strings.Contains(errs, "a, from it") || !strings.Contains(errs, "streams") {
		t.Errorf("code %d, no progress: %q", code, errs)
	}
	code, out, _ = call(t, append([]string{"speedtest", "run", "x=" + nobody(t), "y=" + nobody(t), "--json-lines"}, short...)...)
	if code != 2 || strings.Count(out, "\n") != 2 {
		t.Errorf("two failures: code %d, %q", code, out)
	}
	for line := range strings.Lines(out) {
		var p report.Peer
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.Outcome != report.Failed {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestSpeedtestQuota: a node lets a tester come once, and says when again; that is
// no failure.
func TestSpeedtestQuota(t *testing.T) {
	t.Parallel()
	a, _ := serveDir(t, t.TempDir())
	args := append([]string{"speedtest", "run", "a=" + a, "--json"}, short...)
	for n, want := range []report.Outcome{report.Measured, report.Refused} {
		code, out, errs := call(t, args...)
		var doc report.Document
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Peers[0].Outcome != want {
			t.Fatalf("%d: code %d, %v: %s%s", n, code, err, out, errs)
		}
		if r := doc.Peers[0].Runs[0].Refusal; n == 1 && (r.Code != "too_soon" || math.Abs(r.RetryAfter-12*3600) > 600) {
			t.Errorf("%+v", r)
		}
	}
}

func TestSpeedtestUsage(t *testing.T) {
	for text, line := range map[string]string{
		"name a peer":                 "speedtest run",
		"neither HOST:PORT":           "speedtest run nowhere",
		"named twice":                 "speedtest run a=127.0.0.1:1 a=127.0.0.1:2",
		"--seconds must be":           "speedtest run 127.0.0.1:1 --seconds 1h",
		"--streams must be":           "speedtest run 127.0.0.1:1 --streams 0",
		"--max-bytes must be":         "speedtest run 127.0.0.1:1 --max-bytes 1kB",
		"not both":                    "speedtest run 127.0.0.1:1 --json --json-lines",
		"--window":                    "speedtest run 127.0.0.1:1 --window 1KiB",
		"--control":                   "speedtest schedule 127.0.0.1:1 --state " + filepath.Join(t.TempDir(), "x"),
		"rounds from 1":               "speedtest schedule 127.0.0.1:1 --no-pretest --rounds 0 --state " + filepath.Join(t.TempDir(), "y"),
		"from 4s":                     "speedtest demo --seconds 1s",
		"Interval is at most 24 h":    "serve . --speedtest-every 25h",
		"missing flags: --state=FILE": "speedtest schedule 127.0.0.1:1",
	} {
		wantFailure(t, exitUsage, text, strings.Fields(line)...)
	}
	wantFailure(t, exitFailed, "no such file", "speedtest", "run", "--peers-file", "/nonexistent/peers")
	wantFailure(t, exitFailed, "is a directory", "speedtest", "run", "--peers-file", t.TempDir())
	wantFailure(t, exitFailed, "no campaign there", "speedtest", "status", "/nonexistent/state")
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, exitFailed, "damaged", "speedtest", "status", bad)
	wantFailure(t, exitFailed, "damaged", "speedtest", "schedule", "--state", bad)
}

// TestScheduleSurvivesKills: the tester is killed in each part of a campaign; what
// had been found stays found, and in the end each peer has one result a round.
func TestScheduleSurvivesKills(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute of real time")
	}
	a, _ := willing(t)
	b, _ := willing(t)
	out, _ := willing(t, "--opt-out")
	state := filepath.Join(t.TempDir(), "state.json")
	args := []string{
		// No pre-test: a busy machine may rightly fail it.
		"speedtest", "schedule", "a=" + a, "b=" + b, "shy=" + out, "--state", state, "--no-pretest",
		"--max-rate", "5Mbit", "--seconds", "2s",
		"--notice", "0s", "--rounds", "2", "--gap", "10s", "--spacing", "10ms", "--retry", "1s", "--memory", "1s",
	}
	var kept []report.Peer
	for _, after := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second} {
		cmd := program(t, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		cmd.Process.Kill()
		cmd.Wait()
		kept = results(t, state, kept)
	}
	code, text, errs := call(t, args...)
	if code != exitOK || !strings.Contains(text, "The campaign is over.") {
		t.Fatalf("code %d: %s%s", code, text, errs)
	}
	for _, p := range results(t, state, kept) {
		rounds := map[int]int{}
		for _, r := range p.Runs {
			if r.Outcome == report.Measured {
				rounds[r.Round]++
			}
		}
		switch {
		case p.Name == "shy" && (len(rounds) > 0 || p.Outcome != report.OptedOut):
			t.Errorf("shy: %+v", p)
		case p.Name != "shy" && (len(rounds) == 0 || rounds[0] > 1 || rounds[1] > 1):
			t.Errorf("%s has results %v: %+v", p.Name, rounds, p.Runs)
		}
	}
	code, text, _ = call(t, "speedtest", "status", state)
	if code != exitOK || !strings.Contains(text, "over") || !strings.Contains(text, "shy") {
		t.Errorf("status: %d, %s", code, text)
	}
	code, text, _ = call(t, "speedtest", "status", state, "--json")
	var doc report.Document
	if err := json.Unmarshal([]byte(text), &doc); err != nil || code != exitOK || len(doc.Peers) != 3 || !doc.Shortened {
		t.Errorf("status: %d, %v, %s", code, err, text)
	}
	if tmp, _ := filepath.Glob(state + ".*.tmp"); len(tmp) > 4 {
		t.Errorf("left behind: %v", tmp)
	}
}

// results loads the state, and checks that it has what was kept before.
func results(t *testing.T, state string, before []report.Peer) []report.Peer {
	t.Helper()
	b, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	s, err := campaign.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	now := byName(s.Peers)
	for _, p := range before {
		for _, r := range p.Runs {
			if r.Outcome == report.Measured && !slices.ContainsFunc(now[p.Name].Runs, func(x report.Run) bool { return x.Started == r.Started }) {
				t.Errorf("%s: a result was lost", p.Name)
			}
		}
	}
	return s.Document().Peers
}

func TestScheduleStopsAfterABadPretest(t *testing.T) {
	t.Parallel()
	a, log := willing(t)
	control, _ := willing(t)
	state := filepath.Join(t.TempDir(), "state.json")
	args := append([]string{"speedtest", "schedule", "a=" + a, "--state", state, "--control", "ours=" + control, "--control-limit", "100Mbit"}, short...)
	for range 2 { // and remains stopped
		code, _, errs := call(t, args...)
		if code != exitFailed || !strings.Contains(errs, "nobody else is tested") {
			t.Errorf("code %d: %s", code, errs)
		}
	}
	if strings.Contains(log.String(), "announced") || strings.Contains(log.String(), "granted") {
		t.Errorf("the peer was bothered: %s", log)
	}
}

// TestScheduleWaitsForItsControl: a target of ours that is down has not been found
// wrong; and it takes one at a time to go through a campaign.
func TestScheduleWaitsForItsControl(t *testing.T) {
	t.Parallel()
	a, log := willing(t)
	state := filepath.Join(t.TempDir(), "state.json")
	args := append([]string{"speedtest", "schedule", "a=" + a, "--state", state, "--now", "--control", "ours=" + nobody(t), "--control-limit", "100Mbit"}, short...)
	for range 2 {
		code, out, errs := call(t, args...)
		if code != exitOK || !strings.Contains(out, "not measured yet, cannot connect") || !strings.Contains(out, "Next: ours, at") {
			t.Errorf("code %d: %s%s", code, out, errs)
		}
	}
	if strings.Contains(log.String(), "announced") {
		t.Errorf("the peer was bothered: %s", log)
	}
	unlock, err := speedtester.Lock(state)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	wantFailure(t, exitFailed, "another speedtest schedule", args...)
	if code, _, errs := call(t, "speedtest", "status", state); code != exitOK {
		t.Errorf("status meanwhile: %d, %s", code, errs)
	}
}

func TestScheduleAnnounces(t *testing.T) {
	t.Parallel()
	a, log := willing(t)
	state := filepath.Join(t.TempDir(), "state.json")
	code, out, errs := call(t, "speedtest", "schedule", "a="+a, "--state", state, "--no-pretest", "--now")
	if code != exitOK || !strings.Contains(out, "Next: a, at") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if !strings.Contains(log.String(), "a speed test is announced") || strings.Contains(log.String(), "granted") {
		t.Errorf("%s", log)
	}
}
