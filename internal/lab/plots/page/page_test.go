package page

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/plots"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// made is a small document.
func made(name string, seed uint64, pass bool) *engine.Document {
	run := func(chooser string, wait float64) *engine.Result {
		return &engine.Result{
			Chooser: chooser, Seconds: 10, UserTo: 10, Wait: engine.Spread{Mean: wait, P95: 2 * wait},
			Peers:     []*engine.PeerResult{{Name: "honest"}},
			Fetches:   []*engine.FetchRecord{{N: 1, At: 1, User: true, Wait: wait, From: "honest", Predicted: wait}},
			Transfers: []*engine.TransferRecord{{Fetch: 1, At: 1, User: true, Peer: "honest", Role: "primary", End: "whole"}},
		}
	}
	d := &engine.Document{
		Scenario: name, Seed: seed, About: "About " + name + ".", Covers: []string{"case 1", "exploit 2"}, Pass: pass,
		Assay: run("assay", 0.5), Oracle: run("oracle", 0.4),
		Rivals:  map[string]*engine.Result{"round_robin": run("round_robin", 0.8)},
		Summary: engine.Summary{BadPicks: int(seed), Regret: 0.25, DemotedAfter: -1},
		Bars: []engine.BarResult{
			{Bar: "failed is 0", Found: "0", Pass: true, Why: "all come"},
			{Bar: "summary.regret at most 5%", Found: fmt.Sprintf("%d.123456789", seed), Pass: pass},
		},
	}
	if !pass {
		d.Summary.Violations = 7
		for i := range 7 {
			d.Assay.Violations = append(d.Assay.Violations, engine.Violation{At: float64(i), Peer: "honest", What: "a rate too high"})
		}
	}
	return d
}

// pageOf is the page of documents, and its text.
func pageOf(t *testing.T, docs ...*engine.Document) (page, text string) {
	t.Helper()
	var entries []Entry
	for _, d := range docs {
		name := fmt.Sprintf("%s-%d", d.Scenario, d.Seed)
		entries = append(entries, Entry{Doc: d.Slim(), Plot: name + ".svg", Series: name + ".json"})
	}
	var b strings.Builder
	if err := Page(&b, entries); err != nil {
		t.Fatal(err)
	}
	return b.String(), wellFormed(t, b.String())
}

// wellFormed reads the page strictly but for what HTML has and XML has not, and
// returns its text.
func wellFormed(t *testing.T, page string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.Replace(page, "<!DOCTYPE html>", "", 1)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
		case xml.EndElement:
			if n := len(open); n == 0 || open[n-1] != e.Name.Local {
				t.Fatalf("%s ends where %v are open", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] != "style" {
				text.Write(e)
				text.WriteByte(' ')
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("%v never end", open)
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func TestPageSaysAll(t *testing.T) {
	page, text := pageOf(t, made("pacer", 1, true), made("pacer", 2, false), made("pacer", 3, false), made("chunks", 1, true))
	for _, want := range []string{
		"Scenarios: 2. Runs: 4. Not all bars hold: pacer .",
		"pacer FAIL About pacer. Covers case 1, exploit 2.", "chunks pass About chunks.",
		"bad picks 1 to 3", "regret 25.0 %", "demoted after -",
		"pass failed is 0 : 0 (all come)",
		"FAIL summary.regret at most 5% : seed 2: 2.12346; seed 3: 3.12346",
		"a check of the lab itself: seed 2, assay, at 0.000 s, peer honest: a rate too high", "seed 2, assay: and 2 more",
		"assay 0.500 s 1.000 s 25.0 %", "round robin 0.800 s 1.600 s 100.0 %", "oracle 0.400 s 0.800 s 0.0 %",
		"Seed 1: drawing , document · Seed 2 fails : drawing , document",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// The drawing shown is of the first that fails, or of the first.
	for _, want := range []string{`<img src="pacer-2.svg"`, `<img src="chunks-1.svg"`, `href="pacer-3.svg"`, `href="pacer-1.json"`, `href="#pacer"`, `id="chunks"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(page, "<img") != 2 {
		t.Errorf("%d drawings are shown", strings.Count(page, "<img"))
	}
}

func TestPageOfWhatPasses(t *testing.T) {
	d := made("pacer", 1, true)
	d.Rivals = nil
	_, text := pageOf(t, d)
	if !strings.Contains(text, "Scenarios: 1. Runs: 1. All bars hold.") || strings.Contains(text, "FAIL") || strings.Contains(text, "mean wait p95") {
		t.Error(text)
	}
}

// TestPageStandsAlone: it asks for no more than what is beside it, and runs nothing.
func TestPageStandsAlone(t *testing.T) {
	page, _ := pageOf(t, made("pacer", 1, true))
	for _, not := range []string{"http:", "https:", "//", "<script", "@import", "url("} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	for _, want := range []string{`name="viewport"`, "prefers-color-scheme: dark", "max-width: 40rem"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	used := regexp.MustCompile(`var\((--[a-z]+)\)`).FindAllStringSubmatch(page, -1)
	for _, u := range used {
		if strings.Count(page, u[1]+":") != 2 {
			t.Errorf("%s has no value for the light and one for the dark", u[1])
		}
	}
}

func TestPageEscapes(t *testing.T) {
	d := made("x", 1, false)
	d.About = `<script>alert(1)</script> & "so"`
	d.Bars[1].Found = "<b>"
	page, text := pageOf(t, d)
	if strings.Contains(page, "<script") || !strings.Contains(text, `<script>alert(1)</script> & "so"`) {
		t.Error(page)
	}
}

// lab writes documents as `make lab` does.
func lab(t *testing.T, docs ...*engine.Document) (results string) {
	t.Helper()
	results = filepath.Join(t.TempDir(), "lab.json")
	dir := strings.TrimSuffix(results, ".json")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var slim []*engine.Document
	for _, d := range docs {
		slim = append(slim, d.Slim())
		save(t, filepath.Join(dir, fmt.Sprintf("%s-%d.json", d.Scenario, d.Seed)), d)
	}
	save(t, results, slim)
	return results
}

func save(t *testing.T, file string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	results := lab(t, made("pacer", 1, true), made("pacer", 2, false))
	file, err := Write(results)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil || filepath.Base(file) != "index.html" {
		t.Fatalf("%s: %v", file, err)
	}
	for _, name := range []string{"pacer-1.svg", "pacer-2.svg"} {
		svg, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil || !strings.Contains(string(svg), "</svg>") || !strings.Contains(string(page), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWriteSaysWhatBroke: what did not come to its end is on the page, failed, with the reason, and with no figures
// that it has not; the seeds that did are shown as ever.
func TestWriteSaysWhatBroke(t *testing.T) {
	of := func(name string, seed uint64) *engine.Document {
		return engine.Broken(&scenario.Scenario{Name: name, About: "About " + name + "."}, seed, errors.New("panic: <no> good\ngoroutine 1"))
	}
	results := lab(t, of("alone", 1), of("pacer", 1), made("pacer", 2, true))
	os.Remove(filepath.Join(strings.TrimSuffix(results, ".json"), "alone-1.json"))
	file, err := Write(results)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := os.ReadFile(file)
	text := wellFormed(t, string(page))
	for _, want := range []string{"Not all bars hold", "About alone.", "seed 1 did not come to its end", "panic: <no> good", "no document", "25.0 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(string(page), "alone-1") || strings.Count(string(page), "<img") != 1 || strings.Count(text, "No drawing") != 1 {
		t.Error(string(page))
	}
}

// TestWriteSaysWhatIsMissing: the rest is drawn, and the page says why one is not.
func TestWriteSaysWhatIsMissing(t *testing.T) {
	results := lab(t, made("gone", 1, true), made("pacer", 1, true), made("torn", 1, true))
	dir := strings.TrimSuffix(results, ".json")
	os.Remove(filepath.Join(dir, "gone-1.json"))
	os.WriteFile(filepath.Join(dir, "torn-1.json"), []byte("{"), 0o644)
	file, err := Write(results)
	if err == nil || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "torn-1") || strings.Contains(err.Error(), "pacer") {
		t.Errorf("error %v", err)
	}
	page, _ := os.ReadFile(file)
	text := wellFormed(t, string(page))
	if strings.Count(text, "No drawing of seed 1") != 2 || strings.Count(string(page), "<img") != 1 {
		t.Error(text)
	}
	if _, err := Write(filepath.Join(dir, "nothing.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no results: %v", err)
	}
	if _, err := Write(lab(t)); !errors.Is(err, plots.ErrNoRun) {
		t.Errorf("empty results: %v", err)
	}
}
