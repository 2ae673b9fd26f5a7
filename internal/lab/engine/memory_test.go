package engine

import (
	"strings"
	"testing"

	"github.com/assay-mux/assay/ranking"
)

// Each bound that is broken is named, and no other.
func TestEachBoundIsChecked(t *testing.T) {
	most := ranking.DefaultConfig().MostKept()
	for what, k := range map[string]ranking.Kept{
		"records":            {Records: most.Records + 1},
		"peers in the audit": {Audited: most.Audited + 1},
		"connections":        {Conns: 1},
		"fetches":            {Fetches: 1},
		"sized data":         {Sized: most.Sized + 1},
		"claims of a datum":  {Claims: most.Claims + 1},
		"held data":          {Held: most.Held + 1},
		"holders of a datum": {Holders: most.Holders + 1},
		"events":             {Events: most.Events + 1},
		"debts":              {Debts: most.Debts + 1},
		"pending trials":     {Pending: most.Pending + 1},
	} {
		w := &world{}
		w.log = newRecorder(w)
		w.bound(most, most)
		if len(w.log.broken) > 0 {
			t.Fatalf("what is allowed is a violation: %+v", w.log.broken)
		}
		w.bound(k, most)
		if len(w.log.broken) != 1 || !strings.Contains(w.log.broken[0].What, " "+what+" are kept") {
			t.Errorf("%s: %+v", what, w.log.broken)
		}
	}
}

// hoarder keeps fetches that have ended, and says so.
type hoarder struct {
	Chooser
	kept ranking.Kept
}

func (h *hoarder) Kept() ranking.Kept     { return h.kept }
func (h *hoarder) MostKept() ranking.Kept { return ranking.DefaultConfig().MostKept() }

var _ keeping = (*hoarder)(nil)

// What is left at the end, or is more than the run can have given, is a violation of the run.
func TestLeftOverIsAViolation(t *testing.T) {
	for what, tc := range map[string]struct {
		kept  ranking.Kept
		check func(*world)
	}{
		"fetches":            {ranking.Kept{Fetches: 1}, (*world).checkLeft},
		"connections":        {ranking.Kept{Conns: 1}, (*world).checkLeft},
		"events":             {ranking.Kept{Events: 1}, (*world).checkLeft},
		"records":            {ranking.Kept{Records: 1}, (*world).checkKept},
		"peers in the audit": {ranking.Kept{Audited: 1}, (*world).checkKept},
		"more fetches":       {ranking.Kept{Fetches: beginning + 1}, (*world).checkKept},
	} {
		w := &world{chooser: &hoarder{kept: tc.kept}}
		w.log = newRecorder(w)
		tc.check(w)
		if len(w.log.broken) != 1 {
			t.Errorf("%s: %+v", what, w.log.broken)
		}
	}
}
