package main

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

func TestMain(m *testing.M) {
	kernelpath.Carry()
	os.Exit(m.Run())
}

// TestGrowth: what grows is told, what goes up and down is not.
func TestGrowth(t *testing.T) {
	steady := func(change func(i int, s *state)) (tr trail) {
		for i := range 30 {
			s := state{goroutines: 100 + i%3, files: 50 + i%2, heap: 20e6}
			change(i, &s)
			tr = append(tr, s)
		}
		return tr
	}
	for _, tt := range []struct {
		name   string
		change func(i int, s *state)
		faults int
	}{
		{"steady", func(int, *state) {}, 0},
		{"at first", func(i int, s *state) { s.heap = uint64(min(i, 8)) * 5e6 }, 0},
		{"goroutines", func(i int, s *state) { s.goroutines += 6 * i }, 1},
		{"descriptors", func(i int, s *state) { s.files += 3 * i }, 1},
		{"heap", func(i int, s *state) { s.heap += uint64(i) * 1e6 }, 1},
		{"one peak", func(i int, s *state) {
			if i == 25 {
				s.heap *= 10
			}
		}, 0},
	} {
		if got := steady(tt.change).growth(); len(got) != tt.faults {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	if len(trail{}.growth()) == 0 {
		t.Error("nothing was looked at, and nothing grew")
	}
}

func TestLeft(t *testing.T) {
	before := state{goroutines: 5, files: 10}
	if got := (state{goroutines: 5, files: 13}).left(before); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := (state{goroutines: 6, files: 14}).left(before); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestSoak soaks for some seconds.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("12 seconds of real time")
	}
	faults, err := soak(options{length: 12 * time.Second, peers: 4, workers: 2, seed: 3}, io.Discard)
	if errors.Is(err, kernelpath.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil || len(faults) > 0 {
		t.Errorf("%q, %v", faults, err)
	}
}
