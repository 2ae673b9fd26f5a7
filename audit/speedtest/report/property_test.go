package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit/speedtest/passive"
)

// drawRate is a rate as peers have them, at times not known.
func drawRate(t *rapid.T, name string) int64 {
	if rapid.IntRange(0, 9).Draw(t, name+" known") == 0 {
		return 0
	}
	return rapid.Int64Range(1, 1e9).Draw(t, name)
}

func drawPublished(t *rapid.T) []Published {
	var all []Published
	phases := []Phase{Before, Before, During, After, After}
	at := 0.0
	for _, phase := range phases {
		if rapid.Bool().Draw(t, "silent") {
			continue
		}
		at += float64(rapid.IntRange(1, 5).Draw(t, "later"))
		all = append(all, Published{At: at, Phase: phase, Figures: passive.Figures{
			Advertised: drawRate(t, "advertised"), Observed: drawRate(t, "observed"), ObservedWithoutTests: drawRate(t, "ordinary"),
		}})
	}
	return all
}

func drawRuns(t *rapid.T) []Run {
	var all []Run
	for i := range rapid.IntRange(0, 3).Draw(t, "runs") {
		r := Run{
			Started: float64(10*i + 1), Round: i, Seconds: 20, Bytes: rapid.Int64Range(0, 1e9).Draw(t, "bytes"),
			Outcome: rapid.SampledFrom([]Outcome{Measured, Measured, Measured, Refused, Failed}).Draw(t, "outcome"),
		}
		if r.Outcome == Measured {
			r.Capacity, r.LowerBound = float64(rapid.Int64Range(1, 1e9).Draw(t, "capacity")), rapid.Bool().Draw(t, "bound")
		}
		all = append(all, r)
	}
	return all
}

// drawDocument is a campaign of peers in any state.
func drawDocument(t *rapid.T, least int) *Document {
	doc := &Document{Format: Format, CapacityFrom: FromTest}
	for i := range rapid.IntRange(least, 12).Draw(t, "peers") {
		p := Peer{Name: fmt.Sprint("p", i), Published: drawPublished(t), Runs: drawRuns(t), OptedOut: rapid.IntRange(0, 9).Draw(t, "opted out") == 0}
		if rate := drawRate(t, "passive"); rate > 0 {
			p.Passive = &Estimate{Rate: float64(rate)}
		}
		p.Settle()
		doc.Peers = append(doc.Peers, p)
	}
	return doc
}

// The errors are what FlashFlow defines, computed here peer by peer and without the package's help.
func TestErrorsPlainly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t, 0)
		a := Analyse(doc, Options{})
		for _, claim := range claims() {
			var sumA, sumC, moved float64
			known := map[string][2]float64{}
			bounds := 0
			for _, p := range doc.Peers {
				if c := claim.Of(&p); p.Outcome == Measured && c > 0 {
					known[p.Name] = [2]float64{c, p.Capacity}
					if p.LowerBound {
						bounds++
					}
					sumA, sumC = sumA+c, sumC+p.Capacity
				}
			}
			for _, ac := range known {
				moved += math.Abs(ac[0]/sumA-ac[1]/sumC) / 2
			}
			i := slices.IndexFunc(a.Errors, func(e Errors) bool { return e.Claim == claim })
			if (i >= 0) != (len(known) > 0) {
				t.Fatalf("%s: known of %d peers, in the report %v", claim, len(known), i >= 0)
			}
			if i < 0 {
				continue
			}
			e := a.Errors[i]
			if e.N != len(known) || e.LowerBounds != bounds || !alike(e.NetworkCapacityError, 1-sumA/sumC) || !alike(e.NetworkWeightError, moved) {
				t.Fatalf("%s: %+v, want %g and %g", claim, e, 1-sumA/sumC, moved)
			}
			for _, row := range a.Rows {
				ac, ok := known[row.Name]
				got, has := row.Error(claim)
				if has != ok || ok && (!alike(got.CapacityError, 1-ac[0]/ac[1]) || !alike(got.WeightError, ac[0]/sumA*sumC/ac[1])) {
					t.Fatalf("%s of %s: %+v, %v; want of %v", claim, row.Name, got, has, ac)
				}
			}
		}
	})
}

func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Every peer is counted once, under the outcome it has.
func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t, 0)
		a := Analyse(doc, Options{})
		c := a.Counts
		if c.Peers != len(doc.Peers) || c.Measured+c.OptedOut+c.Refused+c.Failed+c.Pending != c.Peers || c.LowerBounds > c.Measured {
			t.Fatalf("%+v of %d", c, len(doc.Peers))
		}
		for _, e := range a.Errors {
			if e.N+e.LeftOut != c.Measured || e.LowerBounds > e.N {
				t.Fatalf("%+v of %+v", e, c)
			}
		}
		var bytes int64
		for _, p := range doc.Peers {
			for _, r := range p.Runs {
				bytes += r.Bytes
			}
		}
		if a.Cost.Bytes != bytes {
			t.Fatalf("cost %+v, want %d bytes", a.Cost, bytes)
		}
	})
}

// The order of peers is nobody's doing, and changes no figure of the network.
func TestOrderOfPeersDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t, 1)
		a := Analyse(doc, Options{})
		slices.Reverse(doc.Peers)
		b := Analyse(doc, Options{})
		if a.Counts != b.Counts || !alike(a.Change.Discovered, b.Change.Discovered) || !alike(a.Change.WeightChange, b.Change.WeightChange) {
			t.Fatalf("%+v\n%+v", a.Change, b.Change)
		}
		for i := range a.Errors {
			x, y := a.Errors[i], b.Errors[i]
			if !alike(x.NetworkCapacityError, y.NetworkCapacityError) || !alike(x.NetworkWeightError, y.NetworkWeightError) {
				t.Fatalf("%+v\n%+v", x, y)
			}
			for k := range x.Correlations {
				if !alike(x.Correlations[k].Spearman, y.Correlations[k].Spearman) {
					t.Fatalf("%+v\n%+v", x.Correlations[k], y.Correlations[k])
				}
			}
		}
	})
}

// However a campaign's results are cut into files and lines, whatever is repeated: it is read as one.
func TestHoweverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t, 1)
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		for _, p := range doc.Peers {
			head, tail := p, p
			runs, readings := rapid.IntRange(0, len(p.Runs)).Draw(t, "runs"), rapid.IntRange(0, len(p.Published)).Draw(t, "readings")
			head.Runs, tail.Runs = p.Runs[:runs], p.Runs[runs:]
			head.Published, tail.Published = p.Published[:readings], p.Published[readings:]
			parts := []any{head, tail}
			if rapid.Bool().Draw(t, "repeat") {
				parts = append(parts, p)
			}
			if rapid.Bool().Draw(t, "swap") {
				parts[0], parts[1] = parts[1], parts[0]
			}
			for _, part := range parts {
				if rapid.Bool().Draw(t, "in a document") {
					part = Document{Format: Format, Peers: []Peer{part.(Peer)}}
				}
				if err := enc.Encode(part); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := Analyse(got, few()), Analyse(doc, few()); !reflect.DeepEqual(x, y) {
			t.Fatalf("%+v\nwant\n%+v", x, y)
		}
	})
}

// The series is, at each time that a figure was read, the sum of what each peer said last.
func TestSeriesPlainly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t, 0)
		points := series(doc.Peers)
		times := map[float64]bool{}
		for _, p := range doc.Peers {
			for _, f := range p.Published {
				times[f.At] = true
			}
		}
		if len(points) != len(times) {
			t.Fatalf("%d points at %d times", len(points), len(times))
		}
		for _, point := range points {
			var want, ordinary float64
			for _, p := range doc.Peers {
				var last Published
				for k, f := range p.Published {
					if k == 0 || f.At <= point.At {
						last = f
					}
				}
				want, ordinary = want+float64(last.Advertised), ordinary+float64(last.ObservedWithoutTests)
			}
			if !alike(point.Advertised, want) || !alike(point.ObservedWithoutTests, ordinary) {
				t.Fatalf("%+v, want %g and %g", point, want, ordinary)
			}
		}
	})
}

func TestSettleIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, p := range drawDocument(t, 1).Peers {
			again := p
			again.Settle()
			if !reflect.DeepEqual(p, again) {
				t.Fatalf("%+v settles to %+v", p, again)
			}
			for _, r := range p.Runs {
				if r.Capacity > p.Capacity || r.Outcome == Measured && p.Outcome != Measured {
					t.Fatalf("%+v of a run %+v", p, r)
				}
			}
			if (p.Capacity > 0) != (p.Outcome == Measured) {
				t.Fatalf("%s with a capacity of %g", p.Outcome, p.Capacity)
			}
		}
	})
}

// Whoever claims more is never judged to claim less, and a lower bound accuses nobody.
func TestJudgeIsMonotone(t *testing.T) {
	rank := map[Verdict]int{Understated: 0, True: 1, Undecided: 1, Overstated: 2}
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(1, 1e9).Draw(t, "capacity")
		low := rapid.Float64Range(1, 1e9).Draw(t, "low")
		high := low * rapid.Float64Range(1, 10).Draw(t, "more")
		bound := rapid.Bool().Draw(t, "bound")
		a, b := Judge(low, capacity, bound), Judge(high, capacity, bound)
		if rank[a] > rank[b] {
			t.Fatalf("of %g, %g is %s and %g is %s", capacity, low, a, high, b)
		}
		if bound && (a == Overstated || b == Overstated) {
			t.Fatalf("overstated beside a lower bound")
		}
	})
}

func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		s := Summarise(v)
		slices.Sort(v)
		all := []float64{s.Min, s.P10, s.Q1, s.Median, s.Q3, s.P90, s.Max}
		if !slices.IsSorted(all) || s.Min != v[0] || s.Max != v[len(v)-1] || s.Mean < s.Min-1e-6 || s.Mean > s.Max+1e-6 || s.Std < 0 {
			t.Fatalf("%+v of %v", s, v)
		}
		if n := len(v); n%2 == 1 && s.Median != v[n/2] {
			t.Fatalf("median %g of %v", s.Median, v)
		}
	})
}

// A CSV says what a document with the same figures says.
func TestCSVIsADocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := &Document{Format: Format, CapacityFrom: FromPublished}
		var b strings.Builder
		b.WriteString("\ufeffadvertised_after_bytes_per_second,peer,advertised_before_bytes_per_second\r\n")
		for i := range rapid.IntRange(1, 10).Draw(t, "peers") {
			before, after := rapid.Int64Range(1, 1e9).Draw(t, "before"), rapid.Int64Range(1, 1e9).Draw(t, "after")
			fmt.Fprintf(&b, "%d,p%d,%d\r\n", after, i, before)
			doc.Peers = append(doc.Peers, Peer{Name: fmt.Sprint("p", i), Outcome: Measured, Capacity: float64(after), Published: []Published{
				{Phase: Before, Figures: passive.Figures{Advertised: before}}, {Phase: After, Figures: passive.Figures{Advertised: after}},
			}})
		}
		got, err := ReadCSV(strings.NewReader(b.String()))
		if err != nil || !reflect.DeepEqual(got, doc) {
			t.Fatalf("%v\n%+v\nwant\n%+v", err, got, doc)
		}
	})
}

// The null keeps what it says it keeps: the capacities, and the errors but for whose they are.
func TestNullKeeps(t *testing.T) {
	s := network(200, 0.2)
	kept := sample{figure: slices.Clone(s.figure), capacity: slices.Clone(s.capacity)}
	drawn := null(s, 50, 1)
	if !reflect.DeepEqual(s, kept) {
		t.Error("the sample was changed")
	}
	if again := null(s, 50, 1); !reflect.DeepEqual(drawn, again) {
		t.Error("the same seed draws another null")
	}
	if other := null(s, 50, 2); reflect.DeepEqual(drawn, other) {
		t.Error("another seed draws the same null")
	}
	// The mean over deals of an error's correlation with capacity is none, though here they are related.
	var relative float64
	for _, d := range drawn {
		relative += d[1][1] / 50
	}
	if math.Abs(relative) > 0.05 { // five standard errors of a mean of 50
		t.Errorf("a mean of %g", relative)
	}
}

// Each draw of the null is what the same network, put together by hand, has.
func TestNullPlainly(t *testing.T) {
	s := network(30, 0.1)
	deal := make([]int, 30)
	for i := range deal {
		deal[i] = i
	}
	rnd := rand.New(rand.NewPCG(9, 2))
	for _, got := range null(s, 20, 9) {
		rnd.Shuffle(30, func(i, j int) { deal[i], deal[j] = deal[j], deal[i] })
		by := sample{capacity: s.capacity}
		for i, from := range deal {
			by.figure = append(by.figure, s.figure[from]/s.capacity[from]*s.capacity[i])
		}
		for x, xs := range [][]float64{by.figure, by.capacity} {
			for y, ys := range [][]float64{by.absolute(), cut(by.relative()), by.relative()} {
				if want := Spearman(xs, ys); !alike(got[x][y], want) {
					t.Errorf("%d, %d: %g, want %g", x, y, got[x][y], want)
				}
			}
		}
	}
}

// p is small where the coefficient lies outside all of the null, and 1 where it lies in its middle.
func TestPValue(t *testing.T) {
	values := make([]float64, 99)
	for i := range values {
		values[i] = float64(i) / 100 // 0 to 0.98, the median 0.49
	}
	for rho, want := range map[float64]float64{0.49: 1, 5: 0.01, -5: 0.01, 0.98: 0.03, 0: 0.03} {
		var c Correlation
		c.settle(7, rho, nil, values)
		if !alike(c.P, want) || c.N != 7 || !c.Known {
			t.Errorf("%g: p %g, want %g", rho, c.P, want)
		}
	}
	var c Correlation
	if c.settle(7, 0.5, nil, nil); c.P != 1 || c.Null != (Interval{}) {
		t.Errorf("without a null: %+v", c)
	}
}
