package report

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestMadeCampaign(t *testing.T) {
	a := Analyse(made(), few())
	want := Counts{Peers: 7, Measured: 3, OptedOut: 1, Refused: 1, Failed: 1, Pending: 1, Overstated: 1, Understated: 1}
	if a.Counts != want {
		t.Errorf("counts %+v, want %+v", a.Counts, want)
	}
	if a.Cost != (Cost{Runs: 4, Seconds: 63, Bytes: 60500}) {
		t.Errorf("cost %+v", a.Cost)
	}
	if a.Tested != (Span{From: 200, To: 223}) {
		t.Errorf("tested %+v", a.Tested)
	}
	e := a.Errors[0]
	if e.Claim != Advertised || e.N != 3 {
		t.Fatalf("%+v", e)
	}
	// Claims 950, 250 and 10000 of 1000 each.
	near(t, "network capacity error", e.NetworkCapacityError, 1-11200.0/3000)
	near(t, "network weight error", e.NetworkWeightError, 10000.0/11200-1.0/3)
	near(t, "least relay capacity error", e.RelayCapacityError.Min, -9)
	near(t, "median relay capacity error", e.RelayCapacityError.Median, 0.05)
	near(t, "largest relay capacity error", e.RelayCapacityError.Max, 0.75)
	near(t, "largest relay weight error", e.RelayWeightError.Max, 10000.0/11200*3)
}

// A run that never began, for the peer was not reached, does not stretch the time of the tests to 1970.
func TestSpanOfWhatBegan(t *testing.T) {
	doc := made()
	doc.Peers[5].Runs[0].Started = 0
	if a := Analyse(doc, few()); a.Tested != (Span{From: 200, To: 220}) {
		t.Errorf("%+v", a.Tested)
	}
	doc.Peers[0].Runs[0].Seconds = 500
	if a := Analyse(doc, few()); a.Tested.To != 700 {
		t.Errorf("%+v, want the end of the longest", a.Tested)
	}
}

func TestRows(t *testing.T) {
	a := Analyse(made(), few())
	for i, want := range []struct {
		name    string
		outcome Outcome
		verdict Verdict
		why     string
		claims  int
	}{
		{"true", Measured, True, "", 3}, {"understates", Measured, Understated, "", 4}, {"liar", Measured, Overstated, "", 3},
		{"opted-out", OptedOut, Untold, "opted_out", 0}, {"busy", Refused, Untold, "busy", 0},
		{"broken", Failed, Untold, "connection reset", 0}, {"waiting", Pending, Untold, "", 0},
	} {
		r := a.Rows[i]
		if r.Name != want.name || r.Outcome != want.outcome || r.Verdict != want.verdict || r.Why != want.why || len(r.Errors) != want.claims {
			t.Errorf("row %d is %+v, want %+v", i, r, want)
		}
	}
	got, ok := a.Rows[1].Error(PassiveEstimate)
	if !ok || got.Claimed != 800 {
		t.Errorf("passive estimate %+v, %v", got, ok)
	}
	near(t, "its capacity error", got.CapacityError, 0.2)
	near(t, "its weight error, the only one", got.WeightError, 1)
	if _, ok := a.Rows[0].Error(PassiveEstimate); ok {
		t.Error("an estimate that nobody made")
	}
}

// Where the truth is known, the test is judged too.
func TestMeasuredError(t *testing.T) {
	p := measured("p", 5, 5, 90)
	p.KnownCapacity = 100
	r := newRow(&p)
	near(t, "the test's own error", r.MeasuredError, -0.1)
	p.KnownCapacity = 0
	if r := newRow(&p); r.MeasuredError != 0 {
		t.Errorf("%+v", r)
	}
}

func TestChangeAndTotals(t *testing.T) {
	a := Analyse(made(), few())
	near(t, "before", a.Change.Before, 11200)
	near(t, "after", a.Change.After, 11990)
	near(t, "discovered", a.Change.Discovered, 11990.0/11200-1)
	if a.Change.N != 3 || a.Change.WeightsGiven {
		t.Errorf("%+v", a.Change)
	}
	wantWeights := abs(990.0/11990-950.0/11200) + abs(1000.0/11990-250.0/11200) + abs(10000.0/11990-10000.0/11200)
	near(t, "weight change", a.Change.WeightChange, wantWeights)
	if len(a.Totals) != 2 || a.Totals[0].Phase != Before || a.Totals[0].N != 4 || a.Totals[0].Advertised != 11700 || a.Totals[1].N != 3 {
		t.Errorf("totals %+v", a.Totals)
	}
	// Two times at which figures were read; who is silent later keeps what it said.
	if len(a.Series) != 2 || a.Series[0] != (Point{100, 11700, 5850}) || a.Series[1] != (Point{300, 12490, 6245}) {
		t.Errorf("series %+v", a.Series)
	}
}

// Where there are no figures after the tests yet, those during them stand in.
func TestChangeDuring(t *testing.T) {
	p := measured("p", 100, 300, 300)
	p.Published[1].Phase = During
	c := change([]Peer{p}, few())
	near(t, "discovered", c.Discovered, 2)
	p.Published = p.Published[:1]
	if c := change([]Peer{p}, few()); c.N != 0 || c.Discovered != 0 {
		t.Errorf("%+v", c)
	}
}

func TestSameSeedSameAnalysis(t *testing.T) {
	a, b := Analyse(made(), few()), Analyse(made(), few())
	if !reflect.DeepEqual(a, b) {
		t.Error("two analyses of the same differ")
	}
	c := Analyse(made(), Options{Resamples: 100, Seed: 2})
	if reflect.DeepEqual(a.Errors[0].NetworkCapacityInterval, c.Errors[0].NetworkCapacityInterval) {
		t.Error("another seed draws the same interval")
	}
}

// Nothing that can be in a document makes a figure that JSON can't hold.
func TestEncodes(t *testing.T) {
	alone := &Document{CapacityFrom: FromTest, Peers: []Peer{measured("one", 5, 5, 5)}}
	extreme := &Document{Peers: []Peer{measured("a", 1, 1, most), measured("b", most, most, 1), measured("c", 1, 1, 5e-324)}}
	for name, doc := range map[string]*Document{"nothing": {}, "one": alone, "made": made(), "extreme": extreme} {
		for _, o := range []Options{few(), {}} {
			if _, err := json.Marshal(Analyse(doc, o)); err != nil {
				t.Errorf("%s, %+v: %v", name, o, err)
			}
		}
	}
}

func TestCapacityIsFromATestUnlessSaid(t *testing.T) {
	if a := Analyse(&Document{}, few()); a.CapacityFrom != FromTest {
		t.Errorf("%q", a.CapacityFrom)
	}
}

func TestAnalyseChangesNothing(t *testing.T) {
	doc := made()
	Analyse(doc, few())
	if !reflect.DeepEqual(doc, made()) {
		t.Error("the document is not what it was")
	}
}
