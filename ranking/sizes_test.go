package ranking

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// said is one offer of a test: the peer's id begins with its group's letter.
type said struct {
	peer  string
	bytes int64
}

func (s said) group() Group { return Group(s.peer[:1]) }

// inCapitals says that groups in capitals are aged.
func inCapitals(g Group) bool { return g != "" && strings.ToUpper(string(g)) == string(g) }

// heard is a book in which so much was said of the datum "d".
func heard(t *testing.T, all ...said) *sizeBook {
	t.Helper()
	b := newSizeBook()
	say(t, b, "d", all...)
	return b
}

func say(t *testing.T, b *sizeBook, datum string, all ...said) {
	t.Helper()
	for _, s := range all {
		if err := b.offer(datum, s.peer, s.group(), Size{Bytes: s.bytes}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSizeBelieved(t *testing.T) {
	for _, c := range []struct {
		name string
		said []said
		want sizeView
	}{
		{"nothing", nil, sizeView{}},
		{"one", []said{{"A1", 7}}, sizeView{Size{Bytes: 7}, 7, 7, false, false}},
		{"agreed by two", []said{{"A1", 7}, {"B1", 7}}, sizeView{Size{Bytes: 7}, 7, 7, false, false}},
		{"agreed by three", []said{{"A1", 7}, {"B1", 7}, {"C1", 7}}, sizeView{Size{Bytes: 7}, 7, 7, false, true}},
		{"one against one", []said{{"A1", 7}, {"B1", 5}}, sizeView{Size{Bytes: 7}, 5, 7, true, false}},
		{"two against one", []said{{"A1", 5}, {"B1", 5}, {"C1", 7}}, sizeView{Size{Bytes: 5}, 5, 7, true, true}},
		{"two against two", []said{{"A1", 5}, {"B1", 5}, {"C1", 7}, {"D1", 7}}, sizeView{Size{Bytes: 7}, 5, 7, true, false}},
		{"a plurality that is no majority", []said{{"A1", 5}, {"B1", 5}, {"C1", 6}, {"D1", 7}},
			sizeView{Size{Bytes: 7}, 5, 7, true, false}},
		{"young groups have no vote", []said{{"a1", 5}, {"b1", 5}, {"c1", 5}, {"D1", 7}},
			sizeView{Size{Bytes: 7}, 5, 7, true, false}},
		{"nor against three old ones", []said{{"a1", 9}, {"b1", 9}, {"c1", 9}, {"d1", 9}, {"E1", 7}, {"F1", 7}, {"G1", 7}},
			sizeView{Size{Bytes: 7}, 7, 9, true, true}},
		{"a group has one vote", []said{{"A1", 5}, {"A2", 5}, {"A3", 5}, {"A4", 5}, {"B1", 7}, {"C1", 7}},
			sizeView{Size{Bytes: 7}, 5, 7, true, true}},
		{"a group of two minds says what most do", []said{{"A1", 5}, {"A2", 9}, {"A3", 5}, {"B1", 5}, {"C1", 9}},
			sizeView{Size{Bytes: 5}, 5, 9, true, true}},
		{"and the larger on a tie", []said{{"A1", 5}, {"A2", 9}, {"B1", 5}, {"C1", 9}},
			sizeView{Size{Bytes: 9}, 5, 9, true, true}},
		{"never the smallest", []said{{"A1", 7}, {"B1", 1}}, sizeView{Size{Bytes: 7}, 1, 7, true, false}},
	} {
		if got := heard(t, c.said...).view("d", inCapitals); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		slices.Reverse(c.said)
		if got := heard(t, c.said...).view("d", inCapitals); got != c.want {
			t.Errorf("%s, said the other way round: %+v", c.name, got)
		}
	}
}

// TestLiarsDisputeNothing: the word of a proven liar counts only where there is no other.
func TestLiarsDisputeNothing(t *testing.T) {
	b := heard(t, said{"A1", 5}, said{"B1", 5}, said{"C1", 5}, said{"D1", 7})
	for _, liar := range []string{"A1", "B1", "C1"} {
		b.doubt(liar, "")
	}
	if got, want := b.view("d", inCapitals), (sizeView{Size{Bytes: 7}, 7, 7, false, false}); got != want {
		t.Errorf("among others: %+v, want %+v", got, want)
	}
	b.doubt("D1", "d")
	if got := b.view("d", inCapitals); got.size.Bytes != 7 || !got.disputed || got.majority {
		t.Errorf("liars among themselves: %+v", got)
	}
	if s := b.settle("d", 7); !slices.Equal(s.liars, []string{"A1", "B1", "C1"}) {
		t.Errorf("proven wrong again: %v", s.liars)
	}
	b.doubt("A1", "no such datum")
}

func TestVouchedSizes(t *testing.T) {
	b := heard(t, said{"A1", 9}, said{"B1", 9}, said{"C1", 9})
	steps := []struct {
		size Size
		want int64
		from Provenance
	}{
		{Size{5, Derived}, 5, Derived},
		{Size{6, Attested}, 6, Attested},
		{Size{4, Attested}, 6, Attested}, // of two attested ones the larger
		{Size{8, Derived}, 6, Attested},
	}
	for i, s := range steps {
		if err := b.offer("d", "A1", "A", s.size); err != nil {
			t.Fatal(err)
		}
		v := b.view("d", inCapitals)
		if v.size != (Size{s.want, s.from}) || v.disputed || v.least != s.want || v.most != s.want {
			t.Errorf("step %d: %+v", i, v)
		}
	}
	got := b.settle("d", 6)
	want := []Size{{8, Derived}, {6, Attested}} // the second, for 4 was attested too
	if !slices.Equal(got.faults, want) || !slices.Equal(got.liars, []string{"A1", "B1", "C1"}) {
		t.Errorf("settled: %+v", got)
	}
}

func TestSizesOutOfBounds(t *testing.T) {
	b := newSizeBook()
	for _, n := range []int64{0, -1, MaxSize + 1} {
		if err := b.offer("d", "A1", "A", Size{Bytes: n}); !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := b.offer("d", "A1", "A", Size{7, Attested + 1}); !errors.Is(err, ErrSize) {
		t.Errorf("of unknown provenance: %v", err)
	}
	if len(b.data) != 0 {
		t.Error("they were remembered")
	}
	for _, n := range []int64{1, MaxSize} {
		if err := b.offer("d", "A1", "A", Size{Bytes: n}); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name    string
		said    []said
		true    int64
		liars   []string
		eclipse bool
	}{
		{"nothing said", nil, 7, nil, false},
		{"true", []said{{"A1", 7}, {"B1", 7}}, 7, nil, false},
		{"one liar", []said{{"A1", 7}, {"B1", 5}}, 7, []string{"B1"}, false},
		{"who overstates lies too", []said{{"A1", 7}, {"B1", 9}}, 7, []string{"B1"}, false},
		{"all lied alike", []said{{"A1", 5}, {"B1", 5}}, 7, []string{"A1", "B1"}, true},
		{"all of one group", []said{{"A1", 5}, {"A2", 5}}, 7, []string{"A1", "A2"}, false},
		{"all lied, each otherwise", []said{{"A1", 5}, {"B1", 6}}, 7, []string{"A1", "B1"}, false},
		{"two stories", []said{{"A1", 5}, {"A1", 7}}, 7, []string{"A1"}, false},
		{"two stories, the true one first", []said{{"A1", 7}, {"A1", 5}, {"A1", 7}}, 7, []string{"A1"}, false},
		{"one story twice", []said{{"A1", 7}, {"A1", 7}}, 7, nil, false},
	} {
		b := heard(t, c.said...)
		got := b.settle("d", c.true)
		if !slices.Equal(got.liars, c.liars) || got.eclipse != c.eclipse || got.faults != nil {
			t.Errorf("%s: %+v", c.name, got)
		}
		if again := b.settle("d", c.true); again.liars != nil || len(b.data) != 0 || len(b.owned) != 0 {
			t.Errorf("%s: settled and still there: %+v", c.name, again)
		}
	}
}

// The first word stands: a peer gains nothing by another.
func TestFirstWordStands(t *testing.T) {
	b := heard(t, said{"A1", 9}, said{"A1", 5})
	if v := b.view("d", inCapitals); v.size.Bytes != 9 || v.disputed {
		t.Errorf("%+v", v)
	}
	if n, ok := b.claimed("d", "A1"); n != 9 || !ok {
		t.Errorf("claims %d", n)
	}
}

func TestClaimsInMidFetchChangeNothing(t *testing.T) {
	b := heard(t, said{"A1", 7}, said{"B1", 7})
	began := b.begin("d", inCapitals)
	say(t, b, "d", said{"C1", 5}, said{"D1", 5}, said{"E1", 5}, said{"F1", 5}, said{"G1", 5})
	b.offer("d", "H1", "H", Size{3, Attested})
	if v := b.view("d", inCapitals); v != began || v.size.Bytes != 7 {
		t.Fatalf("in mid-fetch: %+v, at its beginning %+v", v, began)
	}
	if hedge := b.begin("d", inCapitals); hedge != began {
		t.Errorf("for a hedge: %+v", hedge)
	}
	if b.contradicted("d", "A1", inCapitals) {
		t.Error("a newcomer's word contradicts")
	}
	b.end("d")
	if v := b.view("d", inCapitals); v != began {
		t.Errorf("one of two fetches has ended: %+v", v)
	}
	b.end("d")
	if v := b.view("d", inCapitals); v.size != (Size{3, Attested}) {
		t.Errorf("after the fetch: %+v", v)
	}
	b.end("d") // once too often
	b.begin("d", inCapitals)
	got := b.settle("d", 7)
	if want := []string{"C1", "D1", "E1", "F1", "G1"}; !slices.Equal(got.liars, want) {
		t.Errorf("liars %v", got.liars)
	}
	b.end("d")
	b.end("never heard of")
}

func TestLateClaimsCountAfterwards(t *testing.T) {
	b := heard(t, said{"A1", 7})
	b.begin("d", inCapitals)
	say(t, b, "d", said{"B1", 9})
	b.end("d")
	if v := b.view("d", inCapitals); v.size.Bytes != 9 || !v.disputed {
		t.Errorf("%+v", v)
	}
}

func TestFetchOfAnUnknownSize(t *testing.T) {
	b := newSizeBook()
	if v := b.begin("d", inCapitals); v != (sizeView{}) {
		t.Errorf("%+v", v)
	}
	say(t, b, "d", said{"A1", 7})
	if v := b.view("d", inCapitals); v != (sizeView{}) {
		t.Errorf("in mid-fetch: %+v", v)
	}
	if got := b.settle("d", 7); got.liars != nil || got.eclipse {
		t.Errorf("%+v", got)
	}
}

func TestContradicted(t *testing.T) {
	majority := []said{{"A1", 7}, {"B1", 7}, {"C1", 7}, {"D1", 5}}
	for _, c := range []struct {
		name string
		said []said
		peer string
		want bool
	}{
		{"agreed", []said{{"A1", 7}, {"B1", 7}}, "A1", false},
		{"one against one", []said{{"A1", 7}, {"B1", 5}}, "A1", true},
		{"one against one, the other", []said{{"A1", 7}, {"B1", 5}}, "B1", true},
		{"of the majority", majority, "A1", false},
		{"against it", majority, "D1", true},
		{"who said nothing", majority, "E1", false},
		{"nothing said", nil, "A1", false},
	} {
		if got := heard(t, c.said...).contradicted("d", c.peer, inCapitals); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	b := heard(t, said{"A1", 7}, said{"B1", 5})
	b.offer("d", "A1", "A", Size{7, Attested})
	if b.contradicted("d", "A1", inCapitals) || !b.contradicted("d", "B1", inCapitals) {
		t.Error("an attested size decides")
	}
}

// What is said of one datum says nothing of another.
func TestDataAreApart(t *testing.T) {
	b := heard(t, said{"A1", 7}, said{"B1", 5})
	say(t, b, "e", said{"A1", 3}, said{"B1", 3})
	if !b.contradicted("d", "A1", inCapitals) || b.contradicted("e", "A1", inCapitals) {
		t.Error("a dispute spreads")
	}
	if got := b.settle("e", 4); !slices.Equal(got.liars, []string{"A1", "B1"}) || !got.eclipse {
		t.Errorf("%+v", got)
	}
	if v := b.view("d", inCapitals); v.size.Bytes != 7 {
		t.Errorf("%+v", v)
	}
}

func TestAdvertisers(t *testing.T) {
	b := heard(t, said{"B1", 7}, said{"A1", 5}, said{"B1", 7})
	if got := b.advertisers("d"); !slices.Equal(got, []string{"B1", "A1"}) {
		t.Errorf("%v", got)
	}
	if got := b.advertisers("e"); got != nil {
		t.Errorf("of nothing: %v", got)
	}
	if _, ok := b.claimed("e", "A1"); ok {
		t.Error("claims of nothing")
	}
	if _, ok := b.claimed("d", "C1"); ok {
		t.Error("a claim of nobody")
	}
}

func TestFloodOfDataDropsItsOwn(t *testing.T) {
	b := newSizeBook()
	for i := range 10 {
		say(t, b, fmt.Sprint("honest ", i), said{"H1", 7})
	}
	for i := range 5 * maxData {
		say(t, b, fmt.Sprint("flood ", i), said{fmt.Sprint("F", i), 7})
	}
	if len(b.data) != maxData {
		t.Errorf("%d data", len(b.data))
	}
	for i := range 10 {
		if _, ok := b.claimed(fmt.Sprint("honest ", i), "H1"); !ok {
			t.Errorf("the flood dropped honest datum %d", i)
		}
	}
	if _, ok := b.claimed(fmt.Sprint("flood ", 5*maxData-1), fmt.Sprint("F", 5*maxData-1)); !ok {
		t.Error("the newest is not there")
	}
	owned := 0
	for _, n := range b.owned {
		owned += n.Len()
	}
	if owned != maxData {
		t.Errorf("%d data are on account of %d", maxData, owned)
	}
}

// Of groups with as many data each the one with the longest unused datum loses it.
func TestOldestDatumIsDropped(t *testing.T) {
	for _, groups := range []string{"AB", "BA"} {
		b := newSizeBook()
		for i := range maxData {
			say(t, b, fmt.Sprint(i), said{groups[i%2:i%2+1] + "1", 7})
		}
		say(t, b, "0", said{"C1", 7}) // used again
		say(t, b, "new", said{"C1", 7})
		for datum, want := range map[string]bool{"0": true, "1": false, "2": true, "3": true, "new": true} {
			if got := b.view(datum, inCapitals).size.Bytes != 0; got != want {
				t.Errorf("datum %s: %v", datum, got)
			}
		}
	}
}

func TestDataUnderWayStay(t *testing.T) {
	b := newSizeBook()
	say(t, b, "mine", said{"F1", 7})
	b.begin("mine", inCapitals)
	for i := range maxData + 5 {
		say(t, b, fmt.Sprint(i), said{"F1", 7})
		b.begin(fmt.Sprint(i), inCapitals)
	}
	if v := b.view("mine", inCapitals); v.size.Bytes != 7 || len(b.data) != maxData {
		t.Errorf("%+v, %d data", v, len(b.data))
	}
	if v := b.begin("no room", inCapitals); v != (sizeView{}) {
		t.Errorf("no room: %+v", v)
	}
	b.end("no room")
}

func TestFloodOfClaimsDropsItsOwn(t *testing.T) {
	b := heard(t, said{"A1", 7}, said{"B1", 7}, said{"C1", 7})
	for i := range 10 * maxClaims {
		say(t, b, "d", said{fmt.Sprint("F", i), 5})
	}
	v := b.view("d", inCapitals)
	if want := (sizeView{Size{Bytes: 7}, 5, 7, true, true}); v != want {
		t.Errorf("%+v", v)
	}
	if n := len(b.advertisers("d")); n != maxClaims {
		t.Errorf("%d claims", n)
	}
	if got := b.settle("d", 5); !slices.Equal(got.liars, []string{"A1", "B1", "C1"}) || got.eclipse {
		t.Errorf("%+v", got)
	}
}

// A dropped claim still speaks against the suspicion that all lied alike.
func TestDroppedTruthPreventsSuspicion(t *testing.T) {
	b := heard(t, said{"A1", 7})
	for i := range maxClaims {
		b.offer("d", fmt.Sprint("x", i), Group(fmt.Sprint("G", i)), Size{Bytes: 5})
	}
	if _, ok := b.claimed("d", "A1"); ok {
		t.Fatal("the oldest of equals was not dropped")
	}
	if got := b.settle("d", 7); got.eclipse || len(got.liars) != maxClaims {
		t.Errorf("eclipse %v, %d liars", got.eclipse, len(got.liars))
	}
}

// Whatever is said in whatever order: never the smallest unless a majority says it, never outside
// what was said, and the truthful are never liars.
func TestSizeBookProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newSizeBook()
		words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) said {
			group := rapid.SampledFrom([]string{"A", "B", "C", "D", "E", "a", "b"}).Draw(t, "group")
			return said{group + fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "peer")), rapid.Int64Range(1, 4).Draw(t, "bytes")}
		}), 1, 30).Draw(t, "said")
		first := map[string]int64{}
		two := map[string]bool{}
		for _, s := range words {
			if err := b.offer("d", s.peer, s.group(), Size{Bytes: s.bytes}); err != nil {
				t.Fatal(err)
			}
			if n, ok := first[s.peer]; !ok {
				first[s.peer] = s.bytes
			} else if n != s.bytes {
				two[s.peer] = true
			}
		}
		v := b.view("d", inCapitals)
		if v.size.Bytes < v.least || v.size.Bytes > v.most || v.disputed != (v.least != v.most) {
			t.Fatalf("%+v", v)
		}
		if !v.majority && v.size.Bytes != v.most {
			t.Errorf("no majority, and not the largest: %+v", v)
		}
		aged := map[Group]bool{}
		for p := range first {
			if g := Group(p[:1]); inCapitals(g) {
				aged[g] = true
			}
		}
		if v.majority && len(aged) < leastVoters {
			t.Errorf("a majority of %d groups", len(aged))
		}
		truth := rapid.Int64Range(1, 4).Draw(t, "truth")
		liars := b.settle("d", truth).liars
		for p, n := range first {
			if lied := n != truth || two[p]; lied != slices.Contains(liars, p) {
				t.Errorf("%s said %d first, %d is true: liar %v", p, n, truth, !lied)
			}
		}
	})
}

func TestProvenanceLabels(t *testing.T) {
	for p, want := range map[Provenance]string{Advertised: "advertised", Derived: "derived", Attested: "attested", 9: "unknown"} {
		if got := p.String(); got != want {
			t.Errorf("%d: %s", p, got)
		}
	}
}

func BenchmarkSizeBookFlood(b *testing.B) {
	book := newSizeBook()
	i := 0
	for b.Loop() {
		book.offer(fmt.Sprint(i), "F1", "F", Size{Bytes: 7})
		i++
	}
}
