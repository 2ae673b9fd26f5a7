package speedreport

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

func names(plots []Plot) string {
	var all []string
	for _, p := range plots {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

func TestPlots(t *testing.T) {
	for want, doc := range map[string]*report.Document{
		"time scatter errors": campaign(30), "scatter errors": study(40), "": {},
	} {
		plots, err := Plots(analysed(t, doc))
		if err != nil || names(plots) != want {
			t.Errorf("%q, %v; want %q", names(plots), err, want)
		}
		for _, p := range plots {
			checkSVG(t, p)
		}
	}
}

var literal = regexp.MustCompile(`#[0-9A-Fa-f]{6}`)

// checkSVG: a drawing is whole, has a name, names its colours, and refers to nothing.
func checkSVG(t *testing.T, p Plot) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(p.SVG))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if start, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "g", "path", "text", "polygon"}, start.Name.Local) {
			t.Errorf("%s has an element %s", p.Name, start.Name.Local)
		}
	}
	if c := literal.FindString(p.SVG); c != "" {
		t.Errorf("%s has the colour %s, which no style can change", p.Name, c)
	}
	if strings.Contains(p.SVG, "http") || !strings.HasPrefix(p.SVG, `<svg viewBox="0 0 400 300" role="img" aria-label="`) {
		t.Errorf("%s begins %.120s", p.Name, p.SVG)
	}
	for _, k := range p.Keys {
		if !strings.Contains(p.SVG, k.Colour) {
			t.Errorf("%s: nothing is drawn in the colour of %s", p.Name, k.Name)
		}
	}
}

// With few peers there are no quarters; the errors of each figure are drawn.
func TestErrorPlotOfFew(t *testing.T) {
	p, err := errorPlot(analysed(t, campaign(3)))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, k := range p.Keys {
		keys = append(keys, k.Name)
	}
	if got := strings.Join(keys, ", "); got != "advertised, observed, observed without tests, passive estimate" {
		t.Error(got)
	}
}

// A page of thousands of peers stays small: points that fall on one place are one.
func TestScatterIsSmall(t *testing.T) {
	p, err := scatterPlot(analysed(t, study(5000)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.SVG); n > 400e3 {
		t.Errorf("%d bytes", n)
	}
}

func TestDistribution(t *testing.T) {
	got := distribution([]float64{-3, 0.1, 0.1, 0.5})
	want := plotter.XYs{
		{X: -25, Y: 0}, {X: -25, Y: 0}, {X: -25, Y: 0.25}, {X: 10, Y: 0.25}, {X: 10, Y: 0.75},
		{X: 50, Y: 0.75}, {X: 50, Y: 1}, {X: 100, Y: 1}, {X: 100, Y: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Thinned or not, the line of a distribution rises from 0 to 1 and is where it must be.
func TestDistributionIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		scale := rapid.Float64Range(0.001, 3).Draw(t, "scale")
		values := make([]float64, n)
		for i := range values {
			values[i] = 1 - scale*math.Abs(math.Sin(float64(i*i+1)))*1.5
		}
		slices.Sort(values)
		line := distribution(values)
		at, height := math.Inf(-1), 0.0
		for _, p := range line {
			if p.X < at || p.Y < height || p.X < leftmost || p.X > rightmost {
				t.Fatalf("falls or leaves the plot at %v", p)
			}
			at, height = p.X, p.Y
			// No further off than what is left out may be.
			below := sortedBelow(values, p.X/100+0.011)
			if p.X > leftmost && p.X < rightmost && p.Y > below+1e-9 {
				t.Fatalf("at %v, but only %v are up to there", p, below)
			}
		}
		if height != 1 || len(line) > 2*n+4 {
			t.Fatalf("ends at %v with %d points", height, len(line))
		}
	})
}

func sortedBelow(values []float64, v float64) float64 {
	n, _ := slices.BinarySearch(values, v)
	return float64(n) / float64(len(values))
}

func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-100, 100).Draw(t, "low")
		width := math.Pow(10, rapid.Float64Range(-3, 12).Draw(t, "width"))
		ticks := evenly{short}.Ticks(low, low+width)
		if len(ticks) < 2 || len(ticks) > 7 {
			t.Fatalf("%d ticks from %g to %g", len(ticks), low, low+width)
		}
		for _, tick := range ticks {
			if tick.Value < low-1e-6*width || tick.Value > low+width*(1+1e-6) {
				t.Fatalf("a tick at %g, outside", tick.Value)
			}
		}
	})
	var labels []string
	for _, tick := range (decades{}).Ticks(7e5, 2e9) {
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	if got := strings.Join(labels, " "); got != "1M 10M 100M 1G" {
		t.Error(got)
	}
	labels = nil
	for _, tick := range (evenly{short}).Ticks(leftmost, rightmost) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, " "); got != "-25 0 25 50 75 100" {
		t.Error(got)
	}
}

func TestThin(t *testing.T) {
	points := make([]report.Point, 5001)
	for i := range points {
		points[i].At = float64(i)
	}
	got := thin(points)
	if len(got) > mostPoints+1 || got[0].At != 0 || got[len(got)-1].At != 5000 {
		t.Errorf("%d points to %g", len(got), got[len(got)-1].At)
	}
	if got := thin(points[:2]); len(got) != 3 || got[1].At != 1 {
		t.Errorf("%v", got)
	}
}

func TestTimeUnit(t *testing.T) {
	for seconds, want := range map[float64]string{10: "seconds", 600: "minutes", 40000: "hours", 1e6: "days"} {
		if _, got := timeUnit(seconds); got != want {
			t.Errorf("%g: %s, want %s", seconds, got, want)
		}
	}
}
