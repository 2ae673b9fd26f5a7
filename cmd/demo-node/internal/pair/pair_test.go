package pair

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/internal/lab"
)

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a pair that is done in a second or two.
func small() Config {
	return Config{
		Rate: 100 * lab.Mbit, RTT: 10 * time.Millisecond, Window: 16 << 20,
		Files: 2, FileSize: 600e3, Limit: 30 * time.Second,
	}
}

func run(t *testing.T, cfg Config) (*report.Pair, error) {
	t.Helper()
	p, err := Open(t.Context(), cfg)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Run(t.Context())
}

// TestRun holds the figures to what no noise can undo; how near they are to the
// truth is for a quiet machine to show.
func TestRun(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			cfg := small()
			cfg.TLS, cfg.Out = secure, t.TempDir()
			var told, joined, left atomic.Int64
			cfg.Progress = func(string, int64) (func(int), func()) { return func(n int) { told.Add(int64(n)) }, func() {} }
			cfg.Joined = func(string, *node.Peer) { joined.Add(1) }
			cfg.Left = func(*node.Peer) { left.Add(1) }
			doc, err := run(t, cfg)
			if err != nil {
				t.Fatal(err)
			}
			checkRuns(t, doc, 5)
			if told.Load() != doc.Bytes || joined.Load() != 4 || left.Load() != 4 {
				t.Errorf("progress of %d of %d bytes, %d peers joined and %d left", told.Load(), doc.Bytes, joined.Load(), left.Load())
			}
			for _, n := range names {
				if kept, _ := os.ReadDir(filepath.Join(cfg.Out, n)); len(kept) != 5 {
					t.Errorf("node %s kept %d files, want 5", n, len(kept))
				}
			}
		})
	}
}

func checkRuns(t *testing.T, doc *report.Pair, files int) {
	t.Helper()
	if len(doc.Runs) != 2 || doc.Runs[0].StreamWindowBytes != 16<<20 || doc.Runs[1].StreamWindowBytes != DefaultWindow {
		t.Fatalf("runs %+v", doc.Runs)
	}
	for i, fetches := range []int{files, few} {
		for _, p := range doc.Runs[i].Peers {
			if len(p.Fetches) != fetches {
				t.Errorf("run %d, node %s: %d fetches, want %d", i, p.Node, len(p.Fetches), fetches)
			}
			// The link delays nothing by less than its round trip.
			if base := p.RTT.BaseSeconds; base == nil || *base < doc.Link.RTTSeconds {
				t.Errorf("run %d, node %s: base RTT %v, the link's is %v", i, p.Node, base, doc.Link.RTTSeconds)
			}
			for _, f := range p.Fetches {
				least := doc.Link.RTTSeconds + float64(f.Bytes)*8/doc.Link.MbitPerSecond/1e6
				if f.ActualSeconds < least*0.99 {
					t.Errorf("%d bytes in %v s, the link needs %v", f.Bytes, f.ActualSeconds, least)
				}
			}
		}
	}
}

func TestGivenDirectories(t *testing.T) {
	cfg := small()
	cfg.DirA, cfg.DirB = t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(cfg.DirB, "one"), make([]byte, 100e3), 0o644)
	doc, err := run(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.Runs[0].Peers[0].Fetches); n != 1 {
		t.Errorf("a fetched %d files, b has one", n)
	}
	if n := len(doc.Runs[0].Peers[1].Fetches); n != 0 {
		t.Errorf("b fetched %d files, a has none", n)
	}
}

func TestOpenErrors(t *testing.T) {
	missing := small()
	missing.DirB = filepath.Join(t.TempDir(), "missing")
	if _, err := run(t, missing); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("missing directory: %v", err)
	}
	slow := small()
	slow.Rate, slow.Limit = lab.Mbit, time.Second
	if _, err := run(t, slow); !errors.Is(err, ErrTooSlow) {
		t.Errorf("too much to carry: %v", err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := run(t, small()); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("no temporary directory: %v", err)
	}
}

func TestRunEnds(t *testing.T) {
	cfg := small()
	cfg.FileSize = 50e6
	cfg.Rate, cfg.Limit = 10*lab.Gbit, 300*time.Millisecond
	cfg.RTT = 200 * time.Millisecond // the greeting alone takes longer
	p, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Run(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("out of time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestTemporaryFilesGo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if _, err := run(t, small()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMakeFiles(t *testing.T) {
	read := func(seed uint64) (all [][]byte) {
		dir := t.TempDir()
		if err := MakeFiles(dir, seed, 2, 192_000); err != nil {
			t.Fatal(err)
		}
		paths, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, p := range paths {
			b, _ := os.ReadFile(p)
			all = append(all, b)
		}
		return all
	}
	one, again, other := read(1), read(1), read(2)
	for i, want := range []int{192_000, 192_000, 64_000, 16_000, 1000} {
		if len(one[i]) != want {
			t.Errorf("file %d has %d bytes, want %d", i, len(one[i]), want)
		}
		if !bytes.Equal(one[i], again[i]) || bytes.Equal(one[i], other[i]) {
			t.Errorf("file %d does not follow from the seed alone", i)
		}
	}
	if bytes.Equal(one[0], one[1]) {
		t.Error("two files are the same")
	}
	if err := MakeFiles(filepath.Join(t.TempDir(), "missing"), 1, 1, 1); err == nil || !strings.Contains(err.Error(), "--dir-a") {
		t.Errorf("no directory: %v", err)
	}
}

// TestFailureNamesTheFile: a file that is gone ends the run, both ways, with an
// error that says whose it was.
func TestFailureNamesTheFile(t *testing.T) {
	cfg := small()
	cfg.DirA, cfg.DirB = t.TempDir(), t.TempDir()
	for _, dir := range []string{cfg.DirA, cfg.DirB} {
		os.WriteFile(filepath.Join(dir, "file"), bytes.Repeat([]byte(dir), 5000), 0o644)
	}
	p, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	os.Remove(filepath.Join(cfg.DirA, "file"))
	_, err = p.Run(t.Context())
	want := "node b, file " + p.stores[0].Offers()[0].Hash.Short()
	if !errors.Is(err, wire.ErrFailed) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestPairsSideBySide: pairs side by side do not meet.
func TestPairsSideBySide(t *testing.T) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cfg := small()
			cfg.Files, cfg.FileSize = 1, 100e3
			doc, err := run(t, cfg)
			if err != nil {
				t.Error(err)
				return
			}
			checkRuns(t, doc, 4)
		})
	}
	wg.Wait()
}
