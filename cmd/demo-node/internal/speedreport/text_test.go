package speedreport

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file. Intervals are not compared: they are drawn, and how is tested elsewhere.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		os.MkdirAll("testdata", 0o755)
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func text(t *testing.T, doc *report.Document, top int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, analysed(t, doc), top); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTruthOfTheUntested: there is no error of a test that was none.
func TestTruthOfTheUntested(t *testing.T) {
	doc := campaign(1)
	doc.Peers = append(doc.Peers, report.Peer{Name: "shy", OptedOut: true, Outcome: report.OptedOut, KnownCapacity: 6.25e6})
	got := text(t, doc, 0)
	if line := regexp.MustCompile(`(?m)^shy .*$`).FindString(got); !strings.Contains(line, "50.0 Mbit/s") || strings.Contains(line, "%") {
		t.Errorf("%q", line)
	}
	if line := regexp.MustCompile(`(?m)^peer-00 .*$`).FindString(got); !strings.Contains(line, "(-2.0 %)") {
		t.Errorf("%q", line)
	}
}

func TestText(t *testing.T) {
	golden(t, "campaign.txt", text(t, campaign(9), 0))
	golden(t, "study.txt", text(t, study(40), 3))
	golden(t, "nothing.txt", text(t, &report.Document{CapacityFrom: report.FromTest, Peers: []report.Peer{{Name: "p", Outcome: report.Pending}}}, 0))
}

func TestTextSays(t *testing.T) {
	got := text(t, campaign(9), 0)
	for _, want := range []string{
		"11 of 14 peers measured (1 opted out, 1 refused for now, 1 failed)",
		"boaster SAYS TOO MUCH: it advertises 400.0 Mbit/s and can do 39.2 Mbit/s, 10.2 times less.",
		"The tests were shortened", "Of 1 peer there is only a lower bound", "refused: busy", "failed: connection refused",
		"\u2265 470.4 Mbit/s", "our window", "40.0 Mbit/s (-2.0 %)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	honest := campaign(9)
	honest.Peers[9].Published = nil
	if got := text(t, honest, 0); !strings.Contains(got, "None advertises more than it can do") || strings.Contains(got, "TOO MUCH") {
		t.Errorf("without the liar:\n%s", got)
	}
	if got := text(t, study(40), 3); !strings.Contains(got, "The 3 peers of 40") || strings.Contains(got, "TOO MUCH") {
		t.Errorf("a figure that fell of itself is called a lie:\n%s", got)
	}
}

// Nobody is cleared who said nothing.
func TestNobodyIsCleared(t *testing.T) {
	silent := tested(0, 1e6, 1)
	silent.Published = nil
	if got := text(t, &report.Document{Peers: []report.Peer{silent}}, 0); strings.Contains(got, "None advertises") || !strings.Contains(got, "1 of 1 peer measured") {
		t.Error(got)
	}
}

// Many liars are counted, not all named.
func TestManyLiars(t *testing.T) {
	doc := &report.Document{CapacityFrom: report.FromTest}
	for i := range 13 {
		doc.Peers = append(doc.Peers, tested(i, 1e6, 5))
	}
	got := text(t, doc, 1)
	if !strings.Contains(got, "And so do 3 more.") || strings.Count(got, "SAYS TOO MUCH: it") != 10 {
		t.Error(got)
	}
}

// Columns stand below each other, whatever letters are in them.
func TestColumns(t *testing.T) {
	lines := strings.Split(text(t, campaign(9), 0), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "peer ") {
			continue
		}
		width := 0
		for _, row := range lines[i:] {
			if row == "" {
				break
			}
			width = max(width, utf8.RuneCountInString(row))
		}
		for _, row := range lines[i : i+10] {
			if utf8.RuneCountInString(row) != width {
				t.Errorf("%q is not %d wide", row, width)
			}
		}
		return
	}
	t.Error("no table of peers")
}

// A peer's name reaches neither the terminal's control codes nor its neighbours' columns.
func TestNamesAreTamed(t *testing.T) {
	doc := campaign(2)
	doc.Peers[0].Name = "\x1b[2J\n\u202eevil" + strings.Repeat("x", 200)
	got := text(t, doc, 0)
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, strings.Repeat("x", longest)) || !strings.Contains(got, "?[2J??evilxx") {
		t.Errorf("%q", got)
	}
}

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"8.00 bit/s": rate(1), "1.23 kbit/s": rate(154), "360.0 Gbit/s": rate(45e9), "100.0 Mbit/s": rate(12.498e6), "12.4 Mbit/s": rate(1.55e6), "1.00 Tbit/s": rate(125e9), "-8.00 kbit/s": rate(-1000),
		"0 bit/s": rate(0), "999 B": size(999), "1.50 kB": size(1500), "2.00 GB": size(2e9),
		"+34.6 %": percent(0.34569), "-900.0 %": percent(-9), "-17600 %": percent(-176), "8.8 %": share(0.088),
		"20 s": span(20), "2.5 min": span(150), "3.0 h": span(10800), "2.0 days": span(172800), "1 run": count(1, "run", "runs"), "2 runs": count(2, "run", "runs"),
		"a\u2026": tame("a" + strings.Repeat("b", 100))[:1] + "\u2026",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := wrap("one two  three\nfour", 9); got != "one two\nthree\nfour\n" {
		t.Errorf("%q", got)
	}
	if got := wrap("unbreakable word", 5); got != "unbreakable\nword\n" {
		t.Errorf("%q", got)
	}
}

// A table loses the columns in which nobody has anything, and no others.
func TestTrimmed(t *testing.T) {
	got := table{Head: []string{"a", "b", "c", "d"}, Rows: [][]string{{"-", "-", "1", ""}, {"", "", "-", "-"}}}.trimmed()
	want := table{Head: []string{"a", "c"}, Rows: [][]string{{"-", "1"}, {"", "-"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

var spaces = regexp.MustCompile(`\s+`)

// The peers listed are those with the largest errors, and all of them if asked.
func TestTop(t *testing.T) {
	all, some := peers(analysed(t, campaign(9)), 0), peers(analysed(t, campaign(9)), 2)
	if len(all.Rows) != 14 || len(some.Rows) != 2 || some.Rows[0][0] != "boaster" || some.Rows[1][0] != "beyond-us" {
		t.Errorf("%d, %v", len(all.Rows), spaces.ReplaceAllString(strings.Join(some.Rows[0], " "), " "))
	}
}
