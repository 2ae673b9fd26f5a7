package livepage

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/assay-mux/assay/ranking"
)

// TestTable: each row stands in its place in every column, and what few rows differ
// in is said once.
func TestTable(t *testing.T) {
	lying := judged("b", 3*time.Second)
	lying.Standing.Demoted = true
	v := View{Ranked: true, Peers: []Peer{
		judged("a", time.Second), lying, {Name: "c"},
		{Name: "d", Standing: ranking.Standing{Peer: "d", Newcomer: true}},
	}}
	rows := newRows(v)
	got := newTable(rows)
	columns := reflect.ValueOf(got)
	for i := range columns.NumField() {
		if name := columns.Type().Field(i).Name; name != "Words" && columns.Field(i).Len() != len(rows) {
			t.Errorf("%s has %d places for %d rows", name, columns.Field(i).Len(), len(rows))
		}
	}
	for i, r := range rows {
		var l last
		if r.Last != nil {
			l = *r.Last
		}
		back := row{
			Peer: got.Peer[i], Group: got.Group[i], Base: got.Base[i], P95: got.P95[i], Rate: got.Rate[i], Coverage: got.Coverage[i],
			Expected: got.Expected[i], Gate: got.Words[got.Gate[i]], Closes: got.Closes[i], Verdict: got.Words[got.Verdict[i]],
			Reason: got.Words[got.Reason[i]], Bad: got.Bad[i] == 1, Demoted: got.Demoted[i] == 1, Newcomer: got.Newcomer[i] == 1,
		}
		fetch := last{got.Words[got.Outcome[i]], got.Claim[i], got.Actual[i], got.Residual[i], got.Threshold[i], l.Gross}
		// These are sent of the open peer only.
		r.Error, r.Claim, r.Measured, r.Calibration, r.Penalty, r.Last = 0, 0, 0, 0, 0, nil
		r.Completions, r.Failures, r.Picked, r.Bytes = 0, 0, 0, 0
		if back != r || fetch != l {
			t.Errorf("row %d: %+v, %+v; want %+v, %+v", i, back, fetch, r, l)
		}
	}
	seen := make(map[string]bool)
	for _, w := range got.Words {
		if seen[w] {
			t.Errorf("%q is there twice", w)
		}
		seen[w] = true
	}
}

// TestTableSize: what is sent of five hundred peers twice a second stays small, for
// reading it is most of what a browser has to do with it.
func TestTableSize(t *testing.T) {
	var v View
	v.Ranked = true
	for range 500 {
		v.Peers = append(v.Peers, judged("203.0.113.17:41234", 1234567*time.Microsecond))
	}
	text, err := json.Marshal(newTable(newRows(v)))
	if err != nil {
		t.Fatal(err)
	}
	if most := 500 * 130; len(text) > most {
		t.Errorf("%d bytes, more than %d", len(text), most)
	}
}
