package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func encode(t testing.TB, values ...any) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

func TestRoundTrip(t *testing.T) {
	got, err := Read(encode(t, made()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, made()) {
		t.Errorf("%+v\nwant\n%+v", got, made())
	}
}

// Peers one a line say the same as the document; a file twice says what it says once.
func TestLinesAndRepeats(t *testing.T) {
	doc := made()
	var lines []any
	for _, p := range doc.Peers {
		lines = append(lines, p)
	}
	for name, in := range map[string]io.Reader{
		"lines":            encode(t, lines...),
		"document twice":   encode(t, doc, doc),
		"document + lines": encode(t, append([]any{doc}, lines...)...),
	} {
		got, err := Read(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got.Peers, doc.Peers) {
			t.Errorf("%s: %+v", name, got.Peers)
		}
	}
}

// Rounds of a campaign come in any order of files.
func TestMerge(t *testing.T) {
	early, late := measured("p", 100, 150, 900), measured("p", 150, 800, 800)
	late.Runs[0].Started, late.Published[0].At, late.Published[1].At = 5000, 4000, 6000
	late.Published[0].Phase = During
	early.Passive, late.Passive = &Estimate{Rate: 1}, &Estimate{Rate: 2}
	early.Address, late.Address, early.KnownCapacity = "early", "late", 950
	for _, docs := range [][2]Peer{{early, late}, {late, early}} {
		d := &Document{Peers: []Peer{docs[0]}}
		d.Merge(&Document{Tester: "x", Shortened: true, Peers: []Peer{docs[1]}})
		p := d.Peers[0]
		if len(d.Peers) != 1 || len(p.Runs) != 2 || p.Runs[0].Started != 200 || p.Capacity != 900 || p.Published[3].At != 6000 {
			t.Errorf("%+v", p)
		}
		if p.Passive.Rate != 1 || p.Address != "late" || p.KnownCapacity != 950 {
			t.Errorf("%+v, want the estimate from before the test, and the address since", p)
		}
		if !d.Shortened || d.Tester != "x" {
			t.Errorf("%+v", d)
		}
	}
}

// What a document says of all its peers is kept, and a run in another setup or round is another run.
func TestReadKeepsWhatIsSaidOfAll(t *testing.T) {
	p := measured("p", 100, 150, 900)
	through, again := p.Runs[0], p.Runs[0]
	through.Setup, again.Round = Through, 1
	p.Runs = append(p.Runs, again, through)
	got, err := Read(encode(t, &Document{Format: Format, Tester: "x", Shortened: true, CapacityFrom: FromPublished, Peers: []Peer{p}}))
	if err != nil || got.Tester != "x" || !got.Shortened || got.CapacityFrom != FromPublished || len(got.Peers[0].Runs) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                         ErrEmpty,
		" \n":                      ErrEmpty,
		`{"format":1}`:             ErrEmpty,
		`{"format":2}`:             ErrFormat,
		`{"name":"a","capcity":1}`: ErrFormat,
		`{"format":1,"peers":[{"name":"a","capacity":1}]}`: ErrFormat,
		`{"format":1,"peers":[{}]}`:                        ErrFormat,
		`{}`:                                               ErrFormat,
		`[]`:                                               ErrFormat,
		`{"name":"a"`:                                      ErrFormat,
		`{"name":"a"} x`:                                   ErrFormat,
		`{"name":"a","capacity_bytes_per_second":-1}`:                                     ErrFormat,
		`{"name":"a","capacity_bytes_per_second":1e999}`:                                  ErrFormat,
		`{"name":"a","published":[{"advertised_bytes_per_second":-1}]}`:                   ErrFormat,
		`{"name":"a","passive_estimate":{"bytes_per_second":-1}}`:                         ErrFormat,
		`{"name":"a","capacity_bytes_per_second":1e16}`:                                   ErrFormat,
		`{"name":"a","runs":[{"bytes":-1}]}`:                                              ErrFormat,
		`{"name":"a","published":[{"advertised_bytes_per_second":18446744073709551615}]}`: ErrFormat,
	} {
		if doc, err := Read(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v; want %v", text, doc, err, want)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, made()).Bytes())
	for _, s := range []string{`{"name":"a"}`, `{"format":1,"peers":null}`, `{"name":"a"}{"name":"a","outcome":"measured","capacity_bytes_per_second":5}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if _, err := json.Marshal(Analyse(doc, Options{Resamples: 3})); err != nil {
			t.Errorf("analysed, it can't be written: %v", err)
		}
		again, err := Read(encode(t, doc))
		if err != nil || len(again.Peers) != len(doc.Peers) {
			t.Errorf("written and read: %v", err)
		}
	})
}

func TestReadCSV(t *testing.T) {
	doc, err := ReadCSV(strings.NewReader(`weight_after,relay,advertised_before_bytes_per_second,note,advertised_after_bytes_per_second,weight_before
0.5,a,100,x,400,0.25
0.5,b,100,,50,0.75
0,new,0,,50,0
0,gone,50,,0,0
`))
	if err != nil {
		t.Fatal(err)
	}
	a := Analyse(doc, few())
	if a.CapacityFrom != FromPublished || a.Counts.Measured != 2 || a.Counts.Pending != 2 || a.Errors[0].N != 2 {
		t.Errorf("%+v", a)
	}
	near(t, "weight change, as given", a.Change.WeightChange, 0.5)
	near(t, "discovered", a.Change.Discovered, 1.25)
	near(t, "network capacity error", a.Errors[0].NetworkCapacityError, 1-200.0/450)
	if !a.Change.WeightsGiven || a.Series != nil {
		t.Errorf("%+v", a)
	}
}

func TestReadCSVRefuses(t *testing.T) {
	const head = "peer,advertised_before_bytes_per_second,advertised_after_bytes_per_second\n"
	for text, want := range map[string]error{
		"":                           ErrEmpty,
		head:                         ErrEmpty,
		"peer,before,after\na,1,2":   ErrFormat,
		head + "a,1":                 ErrFormat,
		head + "a,1,2,3":             ErrFormat,
		head + "a,1,-2":              ErrFormat,
		head + "a,NaN,2":             ErrFormat,
		head + "a,1,Inf":             ErrFormat,
		head + "a,1,1e19":            ErrFormat,
		head + "a,x,2":               ErrFormat,
		head + ",1,2":                ErrFormat,
		head + "a,1,2\nb,1,2\na,1,2": ErrFormat,
		head + "\"a,1,2":             ErrFormat,
	} {
		if _, err := ReadCSV(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if _, err := ReadCSV(strings.NewReader(head + "a,1,2\na,1,2")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%v does not name the line", err)
	}
	broken := errors.New("disk on fire")
	if _, err := ReadCSV(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("peer,advertised_before_bytes_per_second,advertised_after_bytes_per_second\na,1,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := json.Marshal(Analyse(doc, Options{Resamples: 3})); err != nil {
			t.Error(err)
		}
	})
}
