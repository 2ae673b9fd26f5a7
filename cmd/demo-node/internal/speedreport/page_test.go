package speedreport

import (
	"bytes"
	"errors"
	"html"
	"strings"
	"testing"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

func pageOf(t testing.TB, doc *report.Document, top int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, analysed(t, doc), top); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page says what the text says: every cell of every table, and every sentence.
func TestPageSaysWhatTheTextSays(t *testing.T) {
	for _, doc := range []*report.Document{campaign(9), study(40), {CapacityFrom: report.FromTest}} {
		a := analysed(t, doc)
		got := strings.ReplaceAll(html.UnescapeString(pageOf(t, doc, 5)), "\u00a0", " ")
		for _, s := range lead(a) {
			if !strings.Contains(got, s.Text) {
				t.Errorf("no %q", s.Text)
			}
		}
		for _, table := range tables(a, 5) {
			for _, row := range table.Rows {
				for _, cell := range row {
					if !strings.Contains(got, ">"+cell+"</td>") {
						t.Errorf("%s: no cell %q", table.Title, cell)
					}
				}
			}
		}
	}
}

func TestPageIsSelfContained(t *testing.T) {
	got := pageOf(t, campaign(9), 0)
	for _, bad := range []string{"http:", "https:", "<script", "<link rel=\"stylesheet", "@import", "url(", "ZgotmplZ", "src="} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"default-src 'none'", `<meta name="viewport"`, "prefers-color-scheme: dark", `lang="en"`, "<svg"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// A peer can't write into the page.
func TestPageEscapes(t *testing.T) {
	doc := campaign(2)
	doc.Peers[2].Name = `<img src=x onerror=alert(1)>"'&`
	doc.Peers[6].Runs[0].Error = "<b>bold"
	got := pageOf(t, doc, 0)
	if strings.Contains(got, "<img") || strings.Contains(got, "<b>") || !strings.Contains(got, "&lt;img src=x onerror=alert(1)&gt;") {
		t.Errorf("%s", got)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteFails(t *testing.T) {
	a := analysed(t, campaign(2))
	if err := Page(full{}, a, 0); err == nil {
		t.Error("the page was written to a full disk")
	}
	if err := Text(full{}, a, 0); err == nil {
		t.Error("the text was written to a full disk")
	}
}
