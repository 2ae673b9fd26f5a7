package kernelplot

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// TestPlot: every kind that there is comes into the legend, and no other.
func TestPlot(t *testing.T) {
	lossy := kernelstudy.Way{Loss: 0.01}
	fetch := func(w kernelstudy.Way, s kernelstudy.State) kernelstudy.Fetch {
		return kernelstudy.Fetch{Way: w, State: s, Actual: time.Second, Predicted: 2 * time.Second}
	}
	runs := []kernelstudy.Run{{Fetches: []kernelstudy.Fetch{fetch(kernelstudy.Way{}, kernelstudy.Cold), fetch(lossy, kernelstudy.Warm)}}}
	file := t.TempDir() + "/plot.svg"
	if err := Plot(file, runs); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"<svg": true, ">cold<": true, ">warm, with loss<": true, ">warm<": false, ">cold, with loss<": false} {
		if strings.Contains(string(b), text) != want {
			t.Errorf("%s in the plot: %v", text, !want)
		}
	}
	if err := Plot(file, nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}
