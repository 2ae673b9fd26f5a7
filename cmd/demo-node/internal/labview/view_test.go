package labview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// scene is a scenario with honest peers, an adversary, and several of one entry.
func scene(t *testing.T) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse([]byte(`
about: a test
links: {near: {rate: 100Mbit/s, rtt: 4ms}}
peers: [{name: good, count: 2, link: near}, {name: cheat, bad: true, link: near}, {name: swarm, bad: true, count: 3, link: near}]
workload: {fetches: 4, sizes: [200kB, 1MB]}
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// script is a run: good-1 and cheat are asked, cheat fails and is found out.
func script() []engine.Event {
	withholding := audit.Verdict{Peer: "cheat", Kind: audit.Withholding}
	return []engine.Event{
		{Kind: engine.PeerJoined, Peer: "good-1"},
		{Kind: engine.PeerJoined, Peer: "good-2"},
		{Kind: engine.PeerJoined, Peer: "cheat"},
		{At: 100 * ms, Kind: engine.FetchPlanned, Fetch: 1, Peer: "cheat", Bytes: 200_000, Text: "only one"},
		{At: 150 * ms, Kind: engine.TransferEnded, Fetch: 1, Peer: "cheat", Predicted: 50 * ms, Took: 60 * ms, Text: "whole"},
		{At: time.Second, Kind: engine.PeerJoined, Peer: "swarm-2~2"},
		{At: 2 * time.Second, Kind: engine.FetchBegan, Fetch: 2, User: true, Bytes: 1_000_000},
		{At: 2 * time.Second, Kind: engine.FetchPlanned, Fetch: 2, User: true, Peer: "good-1", Bytes: 1_000_000, Predicted: 400 * ms, Text: "best of 3"},
		{At: 2 * time.Second, Kind: engine.TransferBegan, Fetch: 2, User: true, Peer: "good-1", Role: ranking.Primary},
		{At: 2500 * ms, Kind: engine.TransferEnded, Fetch: 2, User: true, Peer: "good-1", Predicted: 400 * ms, Took: 500 * ms, Text: "whole"},
		{At: 2500 * ms, Kind: engine.FetchEnded, Fetch: 2, User: true, Peer: "good-1", Bytes: 1_000_000, Took: 500 * ms},
		{At: 3 * time.Second, Kind: engine.FetchBegan, Fetch: 3, User: true, Bytes: 200_000},
		{At: 3 * time.Second, Kind: engine.FetchPlanned, Fetch: 3, User: true, Peer: "cheat", Bytes: 200_000, Predicted: 60 * ms, Text: "best of 3"},
		{At: 4 * time.Second, Kind: engine.TransferAdvised, Fetch: 3, User: true, Peer: "cheat", Text: "add_hedge (stalled)"},
		{At: 4 * time.Second, Kind: engine.TransferBegan, Fetch: 3, User: true, Peer: "good-2", Role: ranking.Hedge},
		{At: 5 * time.Second, Kind: engine.TransferEnded, Fetch: 3, User: true, Peer: "good-2", Role: ranking.Hedge, Predicted: 100 * ms, Took: 90 * ms, Text: "whole"},
		{At: 5 * time.Second, Kind: engine.TransferEnded, Fetch: 3, User: true, Peer: "cheat", Took: 2 * time.Second, Bytes: 90_000, Text: "timed out"},
		{At: 5 * time.Second, Kind: engine.FetchEnded, Fetch: 3, User: true, Peer: "good-2", Bytes: 200_000, Took: 2 * time.Second},
		{At: 5 * time.Second, Kind: engine.ChooserSaid, Peer: "cheat", Ranking: ranking.Event{Kind: ranking.VerdictChanged, Peer: "cheat", Verdict: withholding}},
		{At: 5 * time.Second, Kind: engine.ChooserSaid, Peer: "cheat", Ranking: ranking.Event{Kind: ranking.Demoted, Peer: "cheat", Verdict: withholding, Detail: "it stalls"}},
		{At: 6 * time.Second, Kind: engine.FaultBegan, Text: "our process stands still for 3s"},
		{At: 65 * time.Second, Kind: engine.FetchEnded, Fetch: 4, User: true, Failed: true, Took: time.Minute},
		{At: 66 * time.Second, Kind: engine.PeerLeft, Peer: "swarm-2~2"},
		{At: 67 * time.Second, Kind: engine.Violated, Peer: "good-1", Text: "a rate too high"},
	}
}

// standings are those of the script's end.
func standings() []ranking.Standing {
	return []ranking.Standing{
		{Peer: "good-1", Expected: 420 * ms, BaseRTT: 4 * ms, Rate: 1 / 2.5e6, Completions: 1, Penalty: 1},
		{Peer: "good-2", Expected: 430 * ms, BaseRTT: 4200 * time.Microsecond, Penalty: 1},
		{Peer: "cheat", Expected: 9 * time.Second, Rate: 1 / 50e3, Completions: 1, Demoted: true, Penalty: 3, Verdict: audit.Verdict{Peer: "cheat", Kind: audit.Withholding}},
	}
}

func watched(t *testing.T) *View {
	t.Helper()
	v := New(scene(t))
	for _, e := range script() {
		v.Observe(e)
	}
	return v
}

func TestLogSaysWhatHappensAndWhy(t *testing.T) {
	v := watched(t)
	got := v.Lines()
	want := []string{
		" 0:00.1  3 peers are there; first each is asked by itself, if the scenario has a warm-up",
		" 0:01.0  swarm-2~2 (bad) joins",
		" 0:02.0  fetch 2: asks good-1 for 1 MB, 0.40 s predicted: best of 3",
		" 0:03.0  fetch 3: asks cheat (bad) for 200 kB, 0.06 s predicted: best of 3",
		" 0:04.0  cheat (bad), fetch 3: advice: add_hedge (stalled)",
		" 0:04.0  fetch 3: asks good-2 too (hedge)",
		" 0:05.0  cheat (bad), fetch 3: timed out after 2.00 s and 90 kB",
		" 0:05.0  fetch 3: 200 kB from good-2 took 2.00 s, where 0.06 s was predicted",
		" 0:05.0  cheat (bad) is found " + audit.Verdict{Peer: "cheat", Kind: audit.Withholding}.String(),
		" 0:05.0  cheat (bad) is demoted: it stalls",
		" 0:06.0  our own fault: our process stands still for 3s",
		" 1:05.0  fetch 4: nobody brought it in 60.0 s",
		" 1:06.0  swarm-2~2 (bad) leaves",
		" 1:07.0  A CHECK OF THE LAB FAILED: good-1: a rate too high",
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of\n%s\nis not as in\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if more := v.Lines(); len(more) > 0 {
		t.Errorf("said twice: %q", more)
	}
}

func TestTable(t *testing.T) {
	v := watched(t)
	table := v.Table(70*time.Second, standings(), 200, 40)
	for i, want := range []string{
		" 1:10.0  [###############.....] 3 of 4 fetches, mean wait 20.8 s, 1 failed, 1 of adversaries",
		"  asks cheat (bad) for 200 kB, 0.06 s predicted: best of 3",
		"   peer             picks     RTT         rate  expected  predicted  actual  verdict",
		"1  good-1               1  4.0 ms  20.0 Mbit/s    0.42 s     0.40 s  0.50 s  clear",
		"2  good-2               0  4.2 ms            -    0.43 s     0.10 s  0.09 s  unknown yet",
		"3  cheat (bad)          1       -   400 kbit/s    9.00 s     0.05 s  0.06 s  DEMOTED, withholding: ",
		"-  swarm-2~2 (bad)      0                                         -       -  has left",
	} {
		if i >= len(table) || !strings.HasPrefix(squeeze(table[i]), squeeze(want)) {
			t.Errorf("row %d of\n%s\nis not\n%s", i, strings.Join(table, "\n"), want)
		}
	}
	if got := v.Progress(70*time.Second, standings()); !strings.HasSuffix(got, "; ranking: good-1, good-2, cheat (bad)") {
		t.Error(got)
	}
}

// squeeze makes runs of spaces one: where columns begin is a matter of taste.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestTableFits: whatever the terminal's size, for many peers too.
func TestTableFits(t *testing.T) {
	v := New(scene(t))
	rapid.Check(t, func(t *rapid.T) {
		var rank []ranking.Standing
		for i := range rapid.IntRange(0, 60).Draw(t, "peers") {
			rank = append(rank, ranking.Standing{Peer: fmt.Sprintf("good-%d", i), Penalty: 2, Completions: 1})
		}
		columns, rows := rapid.IntRange(1, 200).Draw(t, "columns"), rapid.IntRange(-3, 60).Draw(t, "rows")
		table := v.Table(time.Second, rank, columns, rows)
		if len(table) > max(rows, 4) {
			t.Fatalf("%d rows of %d", len(table), rows)
		}
		for _, line := range table {
			if n := len([]rune(line)); n > columns {
				t.Fatalf("%d columns of %d: %q", n, columns, line)
			}
		}
		if shown := 3 + len(rank); shown > max(rows, 4) && columns > 20 && !strings.Contains(table[len(table)-1], " more") {
			t.Fatalf("nothing says that there is more: %q", table)
		}
	})
}

// TestTheSameIsSaidThreeTimes: and then that it will be no more, but for verdicts.
func TestTheSameIsSaidThreeTimes(t *testing.T) {
	v := New(scene(t))
	for i := range 9 {
		v.Observe(engine.Event{Kind: engine.ChooserSaid, Ranking: ranking.Event{Kind: ranking.SizeLie, Peer: "cheat"}})
		v.Observe(engine.Event{Kind: engine.ChooserSaid, Ranking: ranking.Event{Kind: ranking.VerdictChanged, Peer: "cheat"}})
		v.Observe(engine.Event{Kind: engine.TransferBegan, Fetch: i, Role: ranking.Redundant, Peer: "good-1"})
	}
	text := strings.Join(v.Lines(), "\n")
	for what, n := range map[string]int{"size_lie cheat": 3, "no more of size_lie": 1, "is found": 9, "(redundant)": 3, "no more of redundant": 1} {
		if got := strings.Count(text, what); got != n {
			t.Errorf("%q is said %d times, want %d", what, got, n)
		}
	}
}

// TestEndOfTheRunIsNoExodus: peers that leave when all is fetched are not told of.
func TestEndOfTheRunIsNoExodus(t *testing.T) {
	v := New(scene(t))
	for i := range 4 {
		v.Observe(engine.Event{Kind: engine.FetchEnded, Fetch: i, User: true})
	}
	v.Observe(engine.Event{At: time.Second, Kind: engine.PeerLeft, Peer: "good-1"})
	if got := v.Lines(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if table := v.Table(time.Second, nil, 200, 20); !strings.Contains(table[1], "all fetched") {
		t.Errorf("%q", table)
	}
}

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		clock(0): "0:00.0", clock(61_260 * ms): "1:01.3", clock(59_990 * ms): "1:00.0", seconds(0): "-", seconds(1234 * ms): "1.23 s",
		seconds(70 * time.Second): "70.0 s", millis(0): "-", millis(1500 * time.Microsecond): "1.5 ms",
		bits(415_000): "415 kbit/s", bits(19.96e6): "20.0 Mbit/s", amount(12): "12 B", amount(1500): "1.5 kB", amount(2e6): "2 MB",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
