package plots

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// TestLanesMarksAndLabels: what is in the document is in the drawing, as often.
func TestLanesMarksAndLabels(t *testing.T) {
	d := drawOf(t, made())
	for _, want := range []string{
		"made, seed 7", "A cheat is found & demoted, in <a drawing>.", "all bars hold",
		"3 picks of adversaries (23.0 %) · regret 0.0 % · demoted after 4 transfers · 0 false verdicts · hedged 0.0 %",
		"our node", "honest-1", "honest-2", "quiet", "cheat (bad)",
		"hold began", "hold ended", "withholding, demoted",
		"Who was asked, and what was said of them", "What the user's fetches took", "By what the audit judged",
		"seconds", "actual / claimed − 1", "seconds since the start",
		"asked in the warm-up", "asked first", "adversary asked first", "redundant", "trial", "hedge", "failed", "verdicts held",
		"came", "came from an adversary", "never came", "predicted", "the oracle's",
		"honest", "adversary", "beyond its gross threshold", "cut short: at least so much", "threshold", "gross threshold",
	} {
		if !d.has(want) {
			t.Errorf("no text %q", want)
		}
	}
	// Each mark is there, and one more of its kind in the key.
	for name, c := range map[string]struct {
		seen map[string]int
		of   paint
		want int
	}{
		"warm-up":        {d.fills, warm, 4 + 1},
		"honest":         {d.fills, honest, (10 + 1) + (10 + 1) + (4 + 10 + 4 - 1 + 1)}, // picks, fetches, residuals but the cheat's
		"bad":            {d.fills, bad, (3 + 1) + (3 + 1) + (1 + 3 + 1)},
		"trials":         {d.strokes, trial, 2 + 1},
		"redundant":      {d.strokes, copied, 1 + 1},
		"hedges":         {d.fills, hedge, 1 + 1},
		"flags":          {d.fills, limit, 2 + 1 + 1}, // two at one time are one
		"holds":          {d.fills, held, 3 + 1},
		"warm-up bands":  {d.fills, before, 3 + 1},
		"predictions":    {d.strokes, foretold, 13 + 1},
		"oracle":         {d.strokes, yardstick, 14 + 1},
		"never came":     {d.strokes, failed, 2*(1+1) + 2*(1+1)}, // and what was cut short; a cross is two lines
		"failed, beyond": {d.strokes, ink, 2*(1+1) + 2 + 1},
		"thresholds":     {d.strokes, limit, 2 + 2},
	} {
		if got := c.seen[c.of.hex()]; got != c.want {
			t.Errorf("%s: %d marks, want %d", name, got, c.want)
		}
	}
	for _, w := range d.wrong() {
		t.Error(w)
	}
	if d.width != width || d.title != "made, seed 7: A cheat is found & demoted, in <a drawing>." {
		t.Errorf("%g wide, title %q", d.width, d.title)
	}
}

// TestColoursFollowTheDark: every colour of a drawing has another in the dark, by
// the style within it.
func TestColoursFollowTheDark(t *testing.T) {
	d := drawOf(t, made())
	if !strings.Contains(d.style, "prefers-color-scheme:dark") {
		t.Fatalf("style %q", d.style)
	}
	for c := range maps.Keys(d.fills) {
		if !strings.Contains(d.style, fmt.Sprintf(`[style*="fill:%s"]`, c)) {
			t.Errorf("%s has no other colour in the dark", c)
		}
	}
	for c := range maps.Keys(d.strokes) {
		if !strings.Contains(d.style, fmt.Sprintf(`[style*="stroke:%s"]`, c)) {
			t.Errorf("%s has no other colour in the dark", c)
		}
	}
}

func TestFailuresAreNamed(t *testing.T) {
	doc := made()
	doc.Pass = false
	doc.Summary.Violations = 2
	for range 6 {
		doc.Bars = append(doc.Bars, engine.BarResult{Bar: "peers.cheat.ever.withholding is true", Found: strings.Repeat("it is not so, ", 30)})
	}
	d := drawOf(t, doc)
	if !d.has("6 of 7 bars do not hold, checks of the lab itself failed 2 times") {
		t.Errorf("texts %v", d.texts[:4])
	}
	named := 0
	for _, s := range d.texts {
		if strings.HasPrefix(s.text, "peers.cheat.ever.withholding is true: it is not so") {
			named++
		}
	}
	if named != mostBars {
		t.Errorf("%d bars are named, want %d", named, mostBars)
	}
	for _, w := range d.wrong() {
		t.Error(w)
	}
	if Failing(made()) != "" {
		t.Error("what passes fails")
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, d := range map[string]*engine.Document{"empty": {}, "slim": made().Slim()} {
		if _, err := Draw(d); !errors.Is(err, ErrNoRun) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnythingIsReadable: whatever is in a document, no text of its drawing is cut
// off or over another, and it is well-formed.
func TestAnythingIsReadable(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z<&"äß-]{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		r := &engine.Result{Seconds: rapid.Float64Range(0.5, 50_000).Draw(t, "seconds")}
		at := rapid.Float64Range(0, r.Seconds)
		r.UserFrom = at.Draw(t, "from")
		for _, n := range rapid.SliceOfNDistinct(name, 1, 40, rapid.ID).Draw(t, "peers") {
			r.Peers = append(r.Peers, &engine.PeerResult{Name: n, Bad: rapid.Bool().Draw(t, "bad")})
		}
		some := func() string { return rapid.SampledFrom(r.Peers).Draw(t, "peer").Name }
		for i := range rapid.IntRange(1, 60).Draw(t, "fetches") {
			r.Fetches = append(r.Fetches, &engine.FetchRecord{
				N: i, At: at.Draw(t, "at"), User: rapid.Bool().Draw(t, "user"), Wait: rapid.Float64Range(0, 400).Draw(t, "wait"),
				Predicted: rapid.Float64Range(0, 50).Draw(t, "predicted"), From: some(), Failed: rapid.Bool().Draw(t, "failed"),
			})
			r.Transfers = append(r.Transfers, &engine.TransferRecord{
				At: at.Draw(t, "at"), Peer: some(), User: true, Role: rapid.SampledFrom([]string{"primary", "hedge", "shadow"}).Draw(t, "role"),
				Residual: rapid.Float64Range(-1, 20_000).Draw(t, "residual"), Threshold: 0.8, Gross: 3.2, Outcome: "judged", End: "whole",
			})
		}
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			e := engine.EventRecord{At: at.Draw(t, "at"), Kind: rapid.SampledFrom([]string{"verdict_changed", "demoted", "drop_now", "hold_began", "hold_ended", "size_lie"}).Draw(t, "kind"), Verdict: "withholding"}
			if !strings.HasPrefix(e.Kind, "hold") {
				e.Peer = some()
			}
			r.Events = append(r.Events, e)
		}
		slices.SortFunc(r.Events, func(a, b engine.EventRecord) int {
			if a.At < b.At {
				return -1
			}
			return 1
		})
		svg, err := Draw(&engine.Document{Scenario: "any", About: strings.Repeat("word ", 90), Assay: r})
		if err != nil {
			t.Fatal(err)
		}
		if wrong := see(t, svg).wrong(); len(wrong) > 0 {
			t.Fatal(strings.Join(wrong, "\n"))
		}
	})
}

func TestNumbersAreShort(t *testing.T) {
	for in, want := range map[string]string{
		"0.0016763768919825228": "0.00167638", "peers.a.rate is 19823456.123456789": "peers.a.rate is 1.98235e+07",
		"5": "5", "0.25": "0.25", "a": "a", "1.00000000001": "1",
	} {
		if got := Shorter(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Percent(-0.0002) + Percent(0.051); got != "0.0 %5.1 %" {
		t.Error(got)
	}
}
