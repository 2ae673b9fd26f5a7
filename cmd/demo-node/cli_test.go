package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/internal/lab"
)

// wantFailure checks that the program says in one line what to do, on stderr
// alone, and ends with the code.
func wantFailure(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	got, out, err := call(t, args...)
	if got != code || out != "" {
		t.Errorf("%v: code %d and %q on stdout, want %d and nothing", args, got, out, code)
	}
	line, _ := strings.CutSuffix(err, "\n")
	if !strings.HasPrefix(line, "demo-node: ") || strings.Contains(line, "\n") || !strings.Contains(line, text) {
		t.Errorf("%v: %q on stderr, want one line with %q", args, err, text)
	}
}

func TestUsageErrors(t *testing.T) {
	for text, line := range map[string]string{
		"unexpected argument":          "sreve x",
		"unknown flag":                 "pair --nay",
		`expected "<dir>"`:             "serve",
		`expected "<addr>" or --peers`: "fetch",
		"not both":                     "fetch 127.0.0.1:1 --peers 127.0.0.1:2",
		"is not HOST:PORT":             "fetch --peers nowhere",
		"given twice":                  "fetch --peers 127.0.0.1:1,127.0.0.1:1",
		"pins one peer":                "fetch --peers 127.0.0.1:1,127.0.0.1:2 --peer-fingerprint " + strings.Repeat("0", 64),
		"go with --peers":              "fetch 127.0.0.1:1 --critical",
		"there are pace, pad":          "serve . --behave sulk=1",
		"write drip=10kB/s":            "serve . --behave drip=fast",
		"drip is given twice":          "serve . --behave drip=1kB/s,drip=2kB/s",
		"--seconds":                    "cast --seconds 1",
		"50Mbit":                       "pair --rate 5",
		"16MiB":                        "pair --window much",
		"yamux's least":                "pair --window 1KiB",
		"to 1GiB":                      "fetch x --window 2GiB",
		"256KiB":                       "serve . --window 2GiB",
		"--rtt":                        "pair --rtt 1h",
		"--files":                      "pair --files 0",
		"--file-size":                  "pair --file-size 2GB",
		"--limit":                      "pair --limit 0s",
		"64 hexadecimal digits":        "fetch x --hash 12",
		"--peer-fingerprint":           "fetch x --peer-fingerprint 12",
		"--progress must be one of":    "pair --progress maybe",
		"must be debug, info, warn or": "version --log-level loud",
		"see demo-node pair --help":    "pair --nope",
		"see demo-node --help":         "sreve",
		"--hold goes with --http":      "fetch --peers 127.0.0.1:1 --hold 1s",
	} {
		wantFailure(t, exitUsage, text, strings.Fields(line)...)
	}
}

func TestBadInput(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	used, dir := l.Addr().String(), t.TempDir()
	missing := filepath.Join(dir, "missing")
	wantFailure(t, exitFailed, "no such directory", "serve", missing)
	wantFailure(t, exitFailed, "no such directory", "pair", "--dir-a", missing)
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	wantFailure(t, exitFailed, "not a directory, name the one that holds it", "serve", file)
	wantFailure(t, exitFailed, "--listen: address already in use", "serve", dir, "--listen", used)
	wantFailure(t, exitFailed, "--http: address already in use", "serve", dir, "--listen", "127.0.0.1:0", "--http", used)
	wantFailure(t, exitFailed, "--http: address already in use", "pair", "--http", used)
	wantFailure(t, exitFailed, "HOST:PORT", "fetch", "nowhere")
	wantFailure(t, exitFailed, "--listen", "serve", dir, "--listen", "nowhere")
	l.Close()
	wantFailure(t, exitFailed, "connection refused; is `demo-node serve` running", "fetch", used)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, stderr lines
	if code := run(ctx, []string{"fetch", used}, &out, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("interrupted: %d, %q", code, stderr.String())
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"pair", "--help"}, {"serve", "-h"}} {
		if code, out, err := call(t, args...); code != exitOK || !strings.Contains(out, "Usage: demo-node") || err != "" {
			t.Errorf("%v: %d, %q, %q", args, code, out, err)
		}
	}
	// Whoever names no command is told which there are, and every command says what
	// it does where nothing is given.
	if code, out, err := call(t); code != exitUsage || out != "" || !strings.Contains(err, "speedtest report") {
		t.Errorf("no command: %d, %q, %q", code, out, err)
	}
	for command, text := range map[string]string{"serve": "by default 127.0.0.1:7001", "fetch": "by default in fetched", "pair": "by default info"} {
		if _, out, _ := call(t, command, "--help"); !strings.Contains(strings.Join(strings.Fields(out), " "), text) {
			t.Errorf("%s --help lacks %q: %s", command, text, out)
		}
	}
	if _, out, _ := call(t, "serve", "--help"); !strings.Contains(out, "  vanish=100kB      closes the connection") {
		t.Errorf("serve --help does not say what behaviours do: %s", out)
	}
	if code, out, _ := call(t, "version"); code != exitOK || !strings.HasPrefix(out, "demo-node ") || !strings.Contains(out, "go1.") {
		t.Errorf("version: %d, %q", code, out)
	}
	info := &debug.BuildInfo{GoVersion: "go1.26", Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	if got := describe(info); got != "demo-node (devel), go1.26, commit abc with changes" {
		t.Errorf("version: %q", got)
	}
}

func TestServeAndFetch(t *testing.T) {
	for name, flags := range map[string][]string{"plain": nil, "TLS": {"--tls"}} {
		t.Run(name, func(t *testing.T) {
			from, to := t.TempDir(), t.TempDir()
			os.WriteFile(filepath.Join(from, "a"), make([]byte, 900_000), 0o644)
			os.WriteFile(filepath.Join(from, "b"), []byte("hello\n"), 0o644)
			addr, log := serveDir(t, from, flags...)
			args := append([]string{"fetch", addr, "--out", to}, flags...)
			if flags != nil {
				args = append(args, "--peer-fingerprint", log.field("fingerprint"))
			}
			code, out, stderr := call(t, args...)
			if code != exitOK || !strings.Contains(out, "2 files fetched: 900 kB. Already there: 0. Failed: 0.\nIn "+to+", each under its hash.\n") {
				t.Fatalf("%d, %s%s", code, out, stderr)
			}
			// Its name is what sha256sum says.
			const hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
			if got, _ := os.ReadFile(filepath.Join(to, hello)); string(got) != "hello\n" {
				t.Errorf("fetched %q", got)
			}
			again(t, args)
			one := append(args, "--hash", hello, "--progress", "always")
			if code, out, _ := call(t, one...); code != exitOK || !strings.Contains(out, "Already there: 1.") {
				t.Errorf("one by its hash: %d, %s", code, out)
			}
			wantFailure(t, exitFailed, "does not have this file", append(args, "--hash", strings.Repeat("0", 64))...)
		})
	}
}

// again fetches what is there, as JSON.
func again(t *testing.T, args []string) {
	t.Helper()
	code, out, _ := call(t, append(args, "--json")...)
	var doc report.Fetched
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitOK {
		t.Fatalf("%d, %v: %s", code, err, out)
	}
	if doc.Schema != report.FetchSchema || doc.Kept != 2 || len(doc.Peer.Fetches) != 0 || len(doc.Failed) != 0 {
		t.Errorf("again: %+v", doc)
	}
}

// TestFetchReportsEachFailure: a file that has changed at the peer's fails, the
// others come, and the code says that something is missing.
func TestFetchReportsEachFailure(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		os.WriteFile(filepath.Join(from, name), []byte(name+name), 0o644)
	}
	addr, _ := serveDir(t, from)
	os.WriteFile(filepath.Join(from, "a"), []byte("xx"), 0o644) // as long, but another
	os.Remove(filepath.Join(from, "b"))
	code, out, stderr := call(t, "fetch", addr, "--out", to)
	if code != exitFailed || !strings.Contains(out, "1 file fetched: 2 B. Already there: 0. Failed: 2.") {
		t.Errorf("%d, %s", code, out)
	}
	if !strings.HasPrefix(stderr, "demo-node: 2 files could not be had; the first: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("stderr %q", stderr)
	}
	if kept, _ := os.ReadDir(to); len(kept) != 1 {
		t.Errorf("kept %v, want the one that is right", kept)
	}
}

// smallPair is a pair that takes a second or two.
func smallPair(more ...string) []string {
	return append(strings.Fields("pair --rate 200Mbit --rtt 5ms --files 1 --file-size 500kB"), more...)
}

func TestPairJSON(t *testing.T) {
	code, out, stderr := call(t, smallPair("--json", "--tls", "--progress", "always")...)
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	var doc report.Pair
	if err := dec.Decode(&doc); err != nil || code != exitOK {
		t.Fatalf("%d, %v: %s%s", code, err, out, stderr)
	}
	if dec.More() {
		t.Error("more than one document")
	}
	if doc.Schema != report.Schema || !doc.TLS || doc.Link.MbitPerSecond != 200 || doc.Link.RTTSeconds != 0.005 || len(doc.Runs) != 2 {
		t.Errorf("document %+v", doc)
	}
	if !strings.Contains(stderr, "http://"+doc.HTTPAddress+"/metrics") {
		t.Errorf("the address %s is not on stderr: %s", doc.HTTPAddress, stderr)
	}
}

func TestPairTable(t *testing.T) {
	code, out, stderr := call(t, smallPair("--hold", "10ms")...)
	for _, want := range []string{"Run 1: wide window, 16 MiB", "Run 2: yamux default window, 256 KiB", "RTT base", "coverage", "predicted"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%d, want %q in %s%s", code, want, out, stderr)
		}
	}
}

// TestInterrupt: a signal ends a held pair and a server with success, and a
// transfer with one line.
func TestInterrupt(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		when   string
		code   int
		saying string
	}{
		"serve":    {[]string{"serve", t.TempDir(), "--listen", "127.0.0.1:0"}, "msg=serving", exitOK, ""},
		"hold":     {smallPair("--hold", "1h"), "held for a look", exitOK, ""},
		"transfer": {strings.Fields("pair --rate 1Mbit --files 1 --file-size 3MB"), "live figures", exitFailed, "demo-node: interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := program(t, tt.args...)
			log := awaiting(tt.when)
			cmd.Stderr = log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-log.seen
			cmd.Process.Signal(syscall.SIGINT)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != tt.code || !strings.Contains(log.String(), tt.saying) {
				t.Errorf("code %d, want %d; stderr %s", got, tt.code, log)
			}
			// Whoever ends it knows that what was under way ended too.
			if strings.Contains(log.String(), "level=WARN") {
				t.Errorf("warned of what we did ourselves: %s", log)
			}
		})
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]lab.BitRate{
		"50Mbit": 50 * lab.Mbit, "50 mbit/s": 50 * lab.Mbit, "0.5Gbit": 500 * lab.Mbit, "100kbit": 100 * lab.Kbit, "10Gbit": 10 * lab.Gbit,
		"": 0, "50": 0, "Mbit": 0, "-5Mbit": 0, "1.2.3Mbit": 0, "99kbit": 0, "11Gbit": 0, "50MB": 0, "NaNMbit": 0,
	} {
		var got rate
		if err := got.UnmarshalText([]byte(text)); lab.BitRate(got) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"16MiB": 16 << 20, "12 MB": 12e6, "262144": 262144, "1.5kB": 1500, "0": 0, "7b": 7, "1GiB": 1 << 30,
		"": -1, "MB": -1, "-1": -1, "5Mbit": -1, "99999999999GiB": -1, "1e3": -1,
	} {
		got := size(-1)
		if err := got.UnmarshalText([]byte(text)); int64(got) != want || (err == nil) != (want >= 0) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// FuzzUnits: no text does worse than an error, and what is accepted is in range.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"50Mbit", "16MiB", "", "1e999", "..", "0x1p9", "٣MB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r rate
		if r.UnmarshalText([]byte(text)) == nil && (lab.BitRate(r) < 100*lab.Kbit || lab.BitRate(r) > 10*lab.Gbit) {
			t.Errorf("rate %q is %v", text, r)
		}
		var s size
		if s.UnmarshalText([]byte(text)) == nil && s < 0 {
			t.Errorf("size %q is %v", text, s)
		}
	})
}
