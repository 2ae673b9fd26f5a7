package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// one is a scene of a peer under test beside two others, fetched from by a warm-up
// alone: ten data of 1 MB each, over 20 Mbit/s and 40 ms, 0.52 s when it is honest.
func one(behaviour string) string {
	return `
links:
  path: {rate: 20Mbit/s, rtt: 40ms}
peers:
  - {name: other, count: 2, link: path}
  - name: peer
    link: path
    ` + strings.ReplaceAll(strings.TrimSpace(behaviour), "\n", "\n    ") + `
workload:
  warmup: {each: 10, sizes: [1MB], every: 1s}
  timeout: 8s
`
}

// TestTimes: what a mechanism does to the time of a fetch is what it says.
func TestTimes(t *testing.T) {
	const honest = 0.522
	for name, tc := range map[string]struct {
		behaviour string
		want      float64
	}{
		"honest":          {"bad: false", honest},
		"wrapped":         {"wrapped: true", honest},
		"large frames":    {"frame: 256KiB", honest},
		"delay":           {"behaviour: [{do: {delay: 500ms}}]", honest + 0.5},
		"rate":            {"behaviour: [{do: {rate: 250kB/s}}]", 4.04},
		"pace":            {"behaviour: [{do: {pace: {burst: 200kB, silence: 500ms}}}]", 2 + 0.04 + 0.08},
		"stall":           {"behaviour: [{do: {stalls: [{at: 99.9%, for: 2s}]}}]", 2.04},
		"stall at first":  {"behaviour: [{do: {stalls: [{at: 0%, for: 2s}]}}]", honest + 2},
		"two stalls":      {"behaviour: [{do: {stalls: [{at: 50%, for: 1s}, {at: 90%, for: 2s}]}}]", 3.04 + 0.04},
		"dribbled ramp":   {"behaviour: [{do: {rate: 50kB/s, rate_to: 10%}}]", 2.04 + 0.36},
		"slow end":        {"behaviour: [{do: {rate: 50kB/s, rate_from: 90%}}]", 2.05},
		"all together":    {"behaviour: [{do: {delay: 500ms}}, {do: {rate: 250kB/s}}, {do: {stalls: [{at: 50%, for: 1s}]}}]", 5.54},
		"large only":      {"behaviour: [{when: {sizes: {from: 2MB}}, do: {delay: 5s}}]", honest},
		"held echoes":     {"echoes: {hold: 300ms}", honest},
		"busy with fill":  {"behaviour: [{do: {fill: {kind: window, every: 20ms}}}]", honest},
		"a side, so warm": {"side: {every: 20ms, reply: 100B}", honest - 0.082},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, strings.Replace(one(tc.behaviour), "each: 10", "each: 4", 1), engine.Options{})
			for i, x := range of(r, "peer") {
				if i == 0 {
					continue // the path is cold, whatever goes on beside
				}
				if x.End != "whole" || math.Abs(x.Took-tc.want) > 0.03*tc.want+0.05 {
					t.Errorf("%d: %s after %.3f s, want %.3f", i, x.End, x.Took, tc.want)
				}
			}
		})
	}
}

// ends are how the transfers of a peer ended, a word each.
func ends(r *engine.Result, name string) string {
	var out []string
	for _, x := range of(r, name) {
		out = append(out, strings.ReplaceAll(x.End, " ", "_"))
	}
	return strings.Join(out, " ")
}

// TestEnds: how a reply ends is what the file says, and when is.
func TestEnds(t *testing.T) {
	ten := func(word string) string { return strings.TrimSpace(strings.Repeat(word+" ", 10)) }
	for name, tc := range map[string]struct{ behaviour, want string }{
		"not found": {"behaviour: [{do: {fail: {how: not_found}}}]", ten("not_found")},
		"reset":     {"behaviour: [{do: {fail: {how: reset, at: 50%}}}]", ten("ended_short")},
		"corrupt":   {"behaviour: [{do: {fail: {how: corrupt, at: 50%}}}]", ten("wrong_bytes")},
		"vanish":    {"behaviour: [{do: {fail: {how: vanish, at: 50%}}}]", ten("not_connected")},
		"every third": {
			"behaviour: [{when: {every: 3}, do: {fail: {how: not_found}}}]",
			"whole whole not_found whole whole not_found whole whole not_found whole",
		},
		"all but every third": {
			"behaviour: [{when: {every: 3, not: true}, do: {fail: {how: not_found}}}]",
			"not_found not_found whole not_found not_found whole not_found not_found whole not_found",
		},
		"after some": {
			"behaviour: [{when: {after_fetches: 7}, do: {fail: {how: not_found}}}]",
			"whole whole whole whole whole whole whole not_found not_found not_found",
		},
		"some first": {
			"behaviour: [{when: {until_fetches: 2}, do: {fail: {how: not_found}}}]",
			"not_found not_found whole whole whole whole whole whole whole whole",
		},
		"after a time": {
			"behaviour: [{when: {after: 14.5s, until: 23.5s}, do: {fail: {how: not_found}}}]",
			"whole whole whole whole whole not_found not_found not_found whole whole",
		},
		"critical": {"behaviour: [{when: {critical: true}, do: {fail: {how: not_found}}}]", ten("whole")},
		"no other": {"behaviour: [{when: {critical: false}, do: {fail: {how: not_found}}}]", ten("not_found")},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, strings.Replace(one(tc.behaviour), "sizes: [1MB]", "sizes: [100kB]", 1), engine.Options{})
			if got := ends(r, "peer"); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if got := ends(r, "other-1"); got != ten("whole") {
				t.Errorf("the other: %s", got)
			}
		})
	}
}

// TestSilent: whoever says no more is given up, by whomever is asked.
func TestSilent(t *testing.T) {
	for _, n := range []engine.New{engine.NewAssay, engine.NewRoundRobin} {
		r := run(t, one("behaviour: [{do: {fail: {how: silent, at: 50%}}}]"), engine.Options{New: n})
		for _, x := range of(r, "peer") {
			if x.End != "given up on advice" && x.End != "timed out" || x.Took > 20 || x.Got != 500_000 {
				t.Errorf("%s: %s after %.1f s and %d bytes", r.Chooser, x.End, x.Took, x.Got)
			}
		}
	}
}

// TestShare: how often is what the share says, the same ones whoever chooses.
func TestShare(t *testing.T) {
	text := strings.Replace(one("behaviour: [{when: {share: 30%}, do: {fail: {how: not_found}}}]"), "each: 10, sizes: [1MB]", "each: 300, sizes: [2kB]", 1)
	r := run(t, text, engine.Options{})
	if p := peer(t, r, "peer"); p.Failed < 65 || p.Failed > 115 {
		t.Errorf("%d of 300 failed, want 90", p.Failed)
	}
	if again := run(t, text, engine.Options{New: engine.NewOracle}); ends(again, "peer") != ends(r, "peer") {
		t.Error("others failed with another chooser")
	}
	if other := run(t, text, engine.Options{Seed: 2}); ends(other, "peer") == ends(r, "peer") {
		t.Error("the same failed by another seed")
	}
}

// TestEchoes: what is done to echoes is seen by the shim as what it is.
func TestEchoes(t *testing.T) {
	for name, tc := range map[string]struct {
		behaviour string
		check     func(p *engine.PeerResult) bool
	}{
		"honest": {"bad: false", func(p *engine.PeerResult) bool { return p.Forged == 0 && p.P95RTT < 0.06 && p.LoadedRTT < 0.5 }},
		"held":   {"echoes: {hold: 300ms}", func(p *engine.PeerResult) bool { return max(p.P95RTT, p.LoadedRTT) > 0.5 && p.BaseRTT < 0.05 }},
		"forged": {"echoes: {forge: 5}", func(p *engine.PeerResult) bool { return p.Forged > 3 && p.Ever.ProvenLie }},
		"replayed": {"echoes: {replay: 2}", func(p *engine.PeerResult) bool {
			return p.Forged == 0 && !p.Ever.ProvenLie
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := peer(t, run(t, one(tc.behaviour), engine.Options{}), "peer")
			if !tc.check(p) {
				t.Errorf("forged %d, base %.3f s, p95 %.3f, loaded %.3f; %+v", p.Forged, p.BaseRTT, p.P95RTT, p.LoadedRTT, p.Ever)
			}
		})
	}
}

// TestEchoesWithStalls: echoes that stop with the data look like a path's.
func TestEchoesWithStalls(t *testing.T) {
	stall := "behaviour: [{do: {stalls: [{at: 50%, for: 4s}]}}]\n"
	open := peer(t, run(t, one(stall), engine.Options{}), "peer")
	hidden := peer(t, run(t, one(stall+"echoes: {with_stalls: true}"), engine.Options{}), "peer")
	if open.P95RTT > 0.1 || hidden.P95RTT < 0.5 {
		t.Errorf("p95 %.3f s open and %.3f s hidden", open.P95RTT, hidden.P95RTT)
	}
}

// TestEchoesLostInStalls: echoes that are never answered count at their age, and that they are missing is
// told.
func TestEchoesLostInStalls(t *testing.T) {
	stall := "behaviour: [{do: {stalls: [{at: 50%, for: 4s}]}}]\n"
	text := strings.Replace(one(stall+"echoes: {lost_in_stalls: true}"), "each: 10", "each: 20", 1)
	p := peer(t, run(t, text, engine.Options{}), "peer")
	if p.LoadedRTT < 0.5 || !p.Ever.EchoesMissing { // loaded: the rest of the datum came before they were given up
		t.Errorf("loaded p95 %.3f s, missing is %v", p.LoadedRTT, p.Ever.EchoesMissing)
	}
}

// TestFill: what nobody asked for gives no better rate and no more trust.
func TestFill(t *testing.T) {
	pace := "{pace: {burst: 50kB, silence: 300ms}%s}"
	plain := peer(t, run(t, one("behaviour: [{do: "+fmt.Sprintf(pace, "")+"}]"), engine.Options{}), "peer")
	for _, kind := range []string{"pings", "window", "empty", "unknown"} {
		fill := fmt.Sprintf(", fill: {kind: %s, every: 10ms, size: 1kB}", kind)
		p := peer(t, run(t, one("behaviour: [{do: "+fmt.Sprintf(pace, fill)+"}]"), engine.Options{}), "peer")
		if math.Abs(p.Rate/plain.Rate-1) > 0.1 {
			t.Errorf("%s: reads %.0f, %.0f without", kind, p.Rate, plain.Rate)
		}
	}
}

// TestComingAndGoing: a peer joins, leaves and comes back as the file says.
func TestComingAndGoing(t *testing.T) {
	scene := one("join: 5s\nleaves: [{at: 10s, back: 5s}, {at: 20s, back: 2s, as: new}]")
	r := run(t, strings.Replace(scene, "each: 10", "each: 20", 1), engine.Options{})
	for _, x := range of(r, "peer") {
		if x.At < 5 || x.At > 10 && x.At < 15 || x.At > 20 {
			t.Errorf("asked at %.1f s", x.At)
		}
	}
	again := peer(t, r, "peer~2")
	if again.Completed == 0 || again.Group != peer(t, r, "peer").Group {
		t.Errorf("it came back as %+v", *again)
	}
	for _, x := range of(r, "peer~2") {
		if x.At < 22 {
			t.Errorf("the new one was asked at %.1f s", x.At)
		}
	}
}

// TestInTurn: peers that come or go at the same instant do so in the order of the file, always. Else
// the chooser meets them in another order, and draws otherwise.
func TestInTurn(t *testing.T) {
	text := strings.Replace(one("bad: false"), "count: 2", "count: 40, join: 5s, leaves: [{at: 9s}]", 1)
	var come, gone []string
	run(t, text, engine.Options{Observe: func(e engine.Event) {
		switch {
		case e.Kind == engine.PeerJoined && e.Peer != "peer":
			come = append(come, e.Peer)
		case e.Kind == engine.PeerLeft && e.Peer != "peer":
			gone = append(gone, e.Peer)
		}
	}})
	if len(come) != 40 || len(gone) < 40 {
		t.Fatalf("%d have come and %d gone", len(come), len(gone))
	}
	for i := range 40 {
		if want := fmt.Sprintf("other-%d", i+1); come[i] != want || gone[i] != want {
			t.Errorf("in place %d %s comes and %s goes, want %s", i+1, come[i], gone[i], want)
		}
	}
}

// TestSlownessIsExpected: at the end of a run a peer is expected to take what it took.
func TestSlownessIsExpected(t *testing.T) {
	r := run(t, one("behaviour: [{do: {stalls: [{at: 50%, for: 2s}]}}]"), engine.Options{})
	for name, want := range map[string]float64{"peer": 2.24, "other-1": 0.52} {
		s := peer(t, r, name).Sizes[0]
		if s.Name != "1MB" || s.Completed != 10 || math.Abs(s.Took/want-1) > 0.05 || math.Abs(s.Expected/want-1) > 0.1 {
			t.Errorf("%s: %+v, want %.2f s", name, *s, want)
		}
	}
	r = run(t, one("bad: false"), engine.Options{New: engine.NewOracle})
	if s := peer(t, r, "peer").Sizes[0]; s.Completed != 10 || s.Expected != 0 {
		t.Errorf("the oracle ranks by no expectation: %+v", *s)
	}
}

// TestPush: what a peer sends by itself is measured.
func TestPush(t *testing.T) {
	text := strings.Replace(one("push: {every: 2s, size: 1MB}"), "warmup: {each: 10, sizes: [1MB], every: 1s}", "start: 20s\n  fetches: 1\n  sizes: [1kB]", 1)
	r := run(t, text, engine.Options{})
	if p := peer(t, r, "peer"); math.Abs(p.Rate/20e6-1) > 0.2 {
		t.Errorf("reads %.0f bit/s of pushes", p.Rate)
	}
	if p := peer(t, r, "other-1"); p.Rate != 0 && p.Picks.User == 0 {
		t.Errorf("reads %.0f bit/s of nothing", p.Rate)
	}
}
