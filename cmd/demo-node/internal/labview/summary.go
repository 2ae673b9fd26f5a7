package labview

import (
	"fmt"
	"io"
	"strings"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// Summary writes how a run ended: the line that `make lab` has for it, and each of
// its bars with what was found.
func Summary(w io.Writer, d *engine.Document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n%s\n\n", engine.Header(), d.Line())
	for _, bar := range d.Bars {
		result := "pass"
		if !bar.Pass {
			result = "FAIL"
		}
		fmt.Fprintf(&b, "  %s  %s: %s", result, bar.Bar, bar.Found)
		if bar.Why != "" {
			fmt.Fprintf(&b, " (%s)", bar.Why)
		}
		b.WriteString("\n")
	}
	if !d.Pass {
		b.WriteString("\nReal time has jitter that virtual time has not: `make lab` says whether this holds without it.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
