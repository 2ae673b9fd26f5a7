package speedreport

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Text writes the report for a terminal. At most top peers are listed, all of them if top is 0.
func Text(w io.Writer, a *report.Analysis, top int) error {
	var b strings.Builder
	for _, line := range lead(a) {
		b.WriteString(line.Text + "\n")
	}
	for _, t := range tables(a, top) {
		b.WriteString("\n" + t.Title + "\n\n")
		t.text(&b)
		if t.Note != "" {
			b.WriteString("\n" + wrap(t.Note, 100))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes the table in columns, the first one to the left.
func (t table) text(b *strings.Builder) {
	rows := append([][]string{t.Head}, t.Rows...)
	widths := make([]int, len(t.Head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				fmt.Fprint(&line, cell, pad)
			} else {
				fmt.Fprint(&line, "  ", pad, cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// wrap breaks a text into lines of at most width, where words allow it.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String() + "\n"
}
