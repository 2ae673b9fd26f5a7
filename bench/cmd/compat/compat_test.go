package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/assay-mux/assay/bench/compat"
)

func TestNames(t *testing.T) {
	for list, want := range map[string][]string{
		"":                   nil,
		"TestA":              {"TestA"},
		"TestA,TestB, TestC": {"TestA", "TestB", "TestC"},
		",TestA,,":           {"TestA"},
	} {
		if got := names(list); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	sound := compat.Comparison{Test: "TestA", Bare: compat.Tally{Runs: 3}, Wrapped: compat.Tally{Runs: 3}, P: 1}
	broken := compat.Comparison{Test: "TestB", Bare: compat.Tally{Runs: 3}, Wrapped: compat.Tally{Runs: 3, Failed: 1}, P: 0.5}
	flaky := compat.Comparison{Test: "TestC", Flaky: true, Bare: compat.Tally{Runs: 400, Failed: 50}, Wrapped: compat.Tally{Runs: 400, Failed: 60}, P: 0.2}
	flakier := flaky
	flakier.P = 0.01
	open := compat.Comparison{Test: "TestD", Flaky: true, Cut: true, Bare: compat.Tally{Runs: 3, Failed: 1}, P: 0.5}
	for _, tt := range []struct {
		all   []compat.Comparison
		worse bool
		err   error
	}{
		{nil, false, nil},
		{[]compat.Comparison{sound, flaky}, false, nil},
		{[]compat.Comparison{sound, broken}, true, nil},
		{[]compat.Comparison{flakier}, true, nil},
		{[]compat.Comparison{sound, open}, false, errUndecided},
		{[]compat.Comparison{broken, open}, true, errUndecided},
	} {
		if got, err := verdict(compat.Bare, tt.all); got != tt.worse || !errors.Is(err, tt.err) {
			t.Errorf("%v: worse is %v, error %v", tt.all, got, err)
		}
	}
}

func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "compat.json")
	if err := write(file, []compat.Comparison{{Test: "TestA", Flaky: true, P: 0.5}}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Test  string
		Flaky bool
		P     float64
	}
	if err := json.Unmarshal(b, &got); err != nil || len(got) != 1 || got[0].Test != "TestA" || !got[0].Flaky || got[0].P != 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
}
