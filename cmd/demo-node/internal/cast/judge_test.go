package cast

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/ranking"
)

// rightEnd is a document with the cast as it must end.
func rightEnd() *report.Cast {
	causes := map[string]struct {
		cause   Cause
		verdict audit.Kind
	}{
		"pacer": {Silences, audit.Clear}, "padder": {Withheld, audit.Withholding},
		"loris": {Trickle, audit.Clear}, "liar": {Lie, audit.ProvenLie},
	}
	doc := &report.Cast{}
	for i, name := range []string{"fast", "far", "slow", "disk", "pacer", "padder", "loris", "liar"} {
		m := (&play{members: Members()}).member(name)
		row := report.CastPeer{Rank: i + 1, Honest: m.Honest, Kind: m.Kind, TrueSeconds: m.Takes().Seconds(), Cause: string(Delivery)}
		row.Peer, row.Verdict = name, audit.Clear.String()
		if c, bad := causes[name]; bad {
			row.Cause, row.Verdict = string(c.cause), c.verdict.String()
		}
		doc.Peers = append(doc.Peers, row)
	}
	return doc
}

func TestJudge(t *testing.T) {
	swap := func(i, j int) func(*report.Cast) {
		return func(d *report.Cast) { d.Peers[i], d.Peers[j] = d.Peers[j], d.Peers[i] }
	}
	verdict := func(i int, k audit.Kind) func(*report.Cast) {
		return func(d *report.Cast) { d.Peers[i].Verdict = k.String() }
	}
	cause := func(i int, c Cause) func(*report.Cast) {
		return func(d *report.Cast) { d.Peers[i].Cause = string(c) }
	}
	tests := map[string]struct {
		change func(*report.Cast)
		want   string // "" passes
	}{
		"as it must be":                      {func(*report.Cast) {}, ""},
		"bad ones in another order":          {swap(4, 6), ""},
		"a slow disk that overclaims":        {verdict(3, audit.Overclaims), ""},
		"honest ones out of order":           {swap(0, 1), "far (truly 0.22 s) is ranked above honest fast"},
		"a bad one above a faster honest":    {swap(3, 4), "pacer (truly 5.27 s) is ranked above honest disk"},
		"a fast liar may be anywhere":        {func(d *report.Cast) { d.Peers = slices.Insert(d.Peers[:7:7], 1, d.Peers[7]) }, ""},
		"an honest one is withholding":       {verdict(3, audit.Withholding), "honest disk is found withholding"},
		"an honest one overclaims, no disk":  {verdict(0, audit.Overclaims), "honest fast is found overclaims"},
		"the liar is caught for its service": {cause(7, Withheld), "liar (understates sizes) is where it is for withholding"},
		"the padder is only slow":            {cause(5, Delivery), "padder (fast filler, slow data) is where it is for delivery"},
		"one is missing":                     {func(d *report.Cast) { d.Peers = d.Peers[1:] }, "7 of 8 peers"},
	}
	for name, tt := range tests {
		doc := rightEnd()
		tt.change(doc)
		err := (&play{members: Members()}).judge(doc)
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, ErrBars) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestCause(t *testing.T) {
	of := func(k audit.Kind) ranking.Standing { return ranking.Standing{Verdict: audit.Verdict{Kind: k}} }
	seen := func(fetches int, troubled map[ranking.Trouble]int) *tally { return &tally{fetches, troubled} }
	stalls := map[ranking.Trouble]int{ranking.Stalled: 3, ranking.Collapsed: 6, ranking.Late: 6}
	dropped := of(audit.Clear)
	dropped.Dropped = true
	tests := map[string]struct {
		seen *tally
		s    ranking.Standing
		want Cause
	}{
		"nothing":                     {seen(0, nil), of(audit.Clear), Delivery},
		"a stall now and then":        {seen(7, stalls), of(audit.Clear), Trickle},
		"stalls":                      {seen(6, stalls), of(audit.Clear), Silences},
		"few collapses":               {seen(13, stalls), of(audit.Clear), Delivery},
		"late is no cause":            {seen(6, map[ranking.Trouble]int{ranking.Late: 6}), of(audit.Clear), Delivery},
		"hopeless":                    {seen(2, map[ranking.Trouble]int{ranking.Hopeless: 1}), of(audit.Clear), Trickle},
		"to be dropped":               {seen(9, nil), dropped, Trickle},
		"the audit's verdict first":   {seen(6, stalls), of(audit.Withholding), Withheld},
		"overclaims":                  {seen(6, nil), of(audit.Overclaims), Overclaim},
		"a lie":                       {seen(6, stalls), of(audit.ProvenLie), Lie},
		"something else of the audit": {seen(6, stalls), of(audit.Path), Other},
	}
	for name, tt := range tests {
		if got := tt.seen.cause(tt.s); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if r := tt.seen.reason(tt.s); r == "" {
			t.Errorf("%s: no reason", name)
		}
	}
}

func TestReasons(t *testing.T) {
	s := ranking.Standing{Rate: 8e-6, Completions: 12}
	seen := &tally{5, map[ranking.Trouble]int{ranking.Stalled: 4}}
	if got := seen.reason(s); got != "fell silent in mid-fetch in 4 of 5 fetches; 1.00 Mbit/s is what it delivers" {
		t.Error(got)
	}
	seen = &tally{5, map[ranking.Trouble]int{ranking.Collapsed: 3}}
	if got := seen.reason(ranking.Standing{}); got != "its rate collapsed in 3 of 5 fetches; nothing is what it delivers" {
		t.Error(got)
	}
	if got := new(tally).reason(s); got != "by 12 completed fetches; nothing stands against it" {
		t.Error(got)
	}
}

// TestMembers: the truth is well apart where the order is judged, each is a group
// of its own, and each bad one has its causes.
func TestMembers(t *testing.T) {
	groups := make(map[ranking.Group]string)
	all := Members()
	for _, m := range all {
		g := ranking.GroupOf(m.Name, m.Addr, nil)
		if other, taken := groups[g]; taken {
			t.Errorf("%s and %s are one group", m.Name, other)
		}
		groups[g] = m.Name
		if len(m.Causes) == 0 || m.Honest != (len(m.Verdicts) > 0) {
			t.Errorf("%s: causes %v, verdicts %v", m.Name, m.Causes, m.Verdicts)
		}
		for _, o := range all {
			fast, slow := m.Takes(), o.Takes()
			if m.Name != o.Name && m.Honest && o.Honest && fast < slow && slow < fast*3/2 {
				t.Errorf("%s takes %v and %s %v: too near to be told apart", m.Name, fast, o.Name, slow)
			}
		}
	}
}

func TestTakes(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"slow": 850 * time.Millisecond, "pacer": 5270 * time.Millisecond, "loris": 16020 * time.Millisecond, "padder": 1300 * time.Millisecond,
	} {
		if got := (&play{members: Members()}).member(name).Takes(); (got - want).Abs() > 5*time.Millisecond {
			t.Errorf("%s takes %v, want %v", name, got, want)
		}
	}
}
