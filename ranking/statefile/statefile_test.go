package statefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
	"github.com/assay-mux/assay/ranking/statefile"
)

type meter struct{}

func (meter) Reading() burst.Reading { return burst.Reading{BaseRTT: 20 * time.Millisecond} }
func (meter) Begin() func()          { return func() {} }

func ranker(t *testing.T, peers ...string) *ranking.Ranker {
	t.Helper()
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range peers {
		if _, err := r.Join(0, ranking.Peer{ID: id, Meter: meter{}}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func knows(r *ranking.Ranker, id string) bool {
	_, err := r.Standing(0, id, 1)
	return err == nil
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers")
	for range 2 { // over nothing, then over an old one
		if err := statefile.Save(ranker(t, "a", "b"), path, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	r := ranker(t)
	loaded, err := statefile.Load(r, path, time.Second, time.Now())
	if err != nil || !loaded || !knows(r, "a") || !knows(r, "b") {
		t.Errorf("%v %v", loaded, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".peers*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestNoFileIsNoError(t *testing.T) {
	loaded, err := statefile.Load(ranker(t), filepath.Join(t.TempDir(), "none"), 0, time.Now())
	if loaded || err != nil {
		t.Errorf("%v %v", loaded, err)
	}
}

// A damaged file is moved aside and said so; the next start finds none.
func TestADamagedFileIsKeptAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers")
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ranker(t)
	loaded, err := statefile.Load(r, path, 0, time.Now())
	if loaded || !errors.Is(err, ranking.ErrDamagedState) || !strings.Contains(err.Error(), path+".damaged") {
		t.Fatalf("%v %v", loaded, err)
	}
	if kept, err := os.ReadFile(path + ".damaged"); err != nil || string(kept) != "nonsense" {
		t.Errorf("%q %v", kept, err)
	}
	if loaded, err := statefile.Load(r, path, 0, time.Now()); loaded || err != nil {
		t.Errorf("the next start: %v %v", loaded, err)
	}
}

// A save that fails leaves the old file as it was.
func TestAFailedSaveLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	if err := statefile.Save(ranker(t), filepath.Join(dir, "no such", "peers"), 0); err == nil {
		t.Error("saved into a directory that isn't there")
	}
	path := filepath.Join(dir, "a directory")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := statefile.Save(ranker(t, "a"), path, 0); err == nil || !strings.Contains(err.Error(), "the old one stands") {
		t.Errorf("saved over a directory: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := statefile.Load(ranker(t), path, 0, time.Now()); err == nil {
		t.Error("a directory was read")
	}
}
