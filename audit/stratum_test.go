package audit

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestClasses(t *testing.T) {
	for _, tt := range []struct {
		size int64
		want uint8
	}{
		{-1, 0}, {0, 0}, {16<<10 - 1, 0}, {16 << 10, 1}, {64<<10 - 1, 1}, {64 << 10, 2}, {1 << 20, 4}, {12 << 20, 5}, {64 << 20, 7}, {1 << 62, 7},
	} {
		if got := sizeClass(tt.size); got != tt.want {
			t.Errorf("size %d: class %d, want %d", tt.size, got, tt.want)
		}
	}
	for _, tt := range []struct {
		rtt  time.Duration
		want uint8
	}{
		{-1, 0}, {0, 0}, {4*ms - 1, 0}, {4 * ms, 1}, {8 * ms, 2}, {20 * ms, 3}, {255 * ms, 6}, {256 * ms, 7}, {time.Hour, 7},
	} {
		if got := rttClass(tt.rtt); got != tt.want {
			t.Errorf("round trip %v: class %d, want %d", tt.rtt, got, tt.want)
		}
	}
}

func TestClassFloorsAreTheirBounds(t *testing.T) {
	for class := 1; class < classes; class++ {
		if got := sizeClass(sizeFloor(class)); int(got) != class {
			t.Errorf("size %d is in class %d, not %d", sizeFloor(class), got, class)
		}
		if got := sizeClass(sizeFloor(class) - 1); int(got) != class-1 {
			t.Errorf("below size %d is class %d", sizeFloor(class), got)
		}
		if got := rttClass(rttFloor(class)); int(got) != class {
			t.Errorf("round trip %v is in class %d, not %d", rttFloor(class), got, class)
		}
		if got := rttClass(rttFloor(class) - 1); int(got) != class-1 {
			t.Errorf("below round trip %v is class %d", rttFloor(class), got)
		}
	}
	if sizeFloor(0) != 0 || rttFloor(0) != 0 {
		t.Error("the first class does not begin at zero")
	}
}

// Keys have places of their own, and merging only ever joins.
func TestKeys(t *testing.T) {
	seen := map[int]key{}
	merged := [levels]map[key]bool{{}, {}, {}}
	for size := range uint8(classes) {
		for rtt := range uint8(classes) {
			for _, lossy := range []bool{false, true} {
				for level := range uint8(levels) {
					k := key{size: size, rtt: rtt, lossy: lossy}.at(level)
					merged[level][k] = true
					i := k.index()
					if other, taken := seen[i]; i < 0 || i >= keyCount || taken && other != k {
						t.Fatalf("%+v and %+v share place %d", k, other, i)
					}
					seen[i] = k
				}
			}
		}
	}
	for level, want := range [levels]int{128, 32, 2} {
		if got := len(merged[level]); got != want {
			t.Errorf("level %d has %d strata, want %d", level, got, want)
		}
	}
}

func TestWhoVotes(t *testing.T) {
	const now = 2 * time.Hour
	for _, tt := range []struct {
		name    string
		samples []int // of each peer
		age     time.Duration
		votes   bool
	}{
		{"nobody", nil, now, false},
		{"two of 40", []int{40, 40}, now, true},
		{"two, one of them short", []int{40, 39}, now, false},
		{"one of 99", []int{99}, now, false},
		{"one of 100", []int{100}, now, true},
		{"one of 100 among beginners", []int{1, 100, 39}, now, true},
		{"many beginners", []int{39, 39, 39, 39, 39, 39}, now, false},
		{"too young", []int{100, 100}, time.Hour - 1, false},
		{"just old enough", []int{100, 100}, time.Hour, true},
	} {
		a := New(DefaultConfig())
		for i, n := range tt.samples {
			name := fmt.Sprint(i)
			a.group(0, "g")
			observeAll(a, tt.age, plain(name, "g", 0.3), n)
		}
		for level := range uint8(levels) {
			s := a.strata[keyOf(testSize, testRTT, LossClear).at(level).index()]
			if got := s != nil && len(s.votes) == 1; got != tt.votes {
				t.Errorf("%s: votes at level %d: %t, want %t", tt.name, level, got, tt.votes)
			}
		}
	}
}

// A group's vote is the median over its peers of twice their p95.
func TestGroupVote(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "other", 12, all(0.2))
	a.group(0, "g")
	for i, r := range []float64{0.1, 0.2, 2} {
		observeAll(a, now, plain(fmt.Sprint(i), "g", r), 40)
	}
	s := a.strata[keyOf(testSize, testRTT, LossClear).index()]
	near(t, "vote", s.panels[a.groups["g"]].vote, 0.4, 0.04)
}

// A thousand newcomers of one group have one vote.
func TestGroupsVoteNotPeers(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 13, all(0.45))
	before := a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold
	a.group(0, "sybils")
	for i := range 1000 {
		observeAll(a, now, plain(fmt.Sprint("sybil", i), "sybils", 3), 41)
	}
	after := a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold
	if after.Voters != before.Voters+1 {
		t.Errorf("%d voters became %d", before.Voters, after.Voters)
	}
	near(t, "threshold", after.Value, before.Value, 1e-9)
	checkInvariants(t, a)
}

// The votes of a peer's own group never count for it, however many peers it fills the group with.
func TestOwnGroupIsLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		others := rapid.IntRange(12, 20).Draw(t, "others")
		own := rapid.Float64Range(0, 3).Draw(t, "own residual")
		a := New(DefaultConfig())
		now := voters(a, "other", others, func(g int) float64 { return 0.3 + 0.01*float64(g) })
		want := a.Observe(now, plain("p", "mine", 0.1)).Latest.Threshold
		a.groups["mine"].since = 0
		for i := range rapid.IntRange(1, 5).Draw(t, "own peers") {
			observeAll(a, now, plain(fmt.Sprint("mine", i), "mine", own), 100)
		}
		if got := a.Observe(now, plain("p", "mine", 0.1)).Latest.Threshold; got != want {
			t.Fatalf("threshold %+v became %+v", want, got)
		}
		if got := a.Observe(now, plain("q", "stranger", 0.1)).Latest.Threshold; got.Voters != want.Voters+1 {
			t.Fatalf("a stranger has %d voters, want %d", got.Voters, want.Voters+1)
		}
	})
}

func TestThresholdIsClamped(t *testing.T) {
	for _, tt := range []struct{ residual, raw, want float64 }{
		{0.01, 0, 0.8},
		{0.2, 0.4, 0.8},
		{0.43, 0.86, 0.86},
		{0.6, 1.2, 0.95},
		{3, 6, 0.95},
	} {
		a := New(DefaultConfig())
		now := voters(a, "g", 12, all(tt.residual))
		got := a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold
		near(t, fmt.Sprintf("before the clamp at %v", tt.residual), got.Raw, tt.raw, 0.09*tt.raw)
		near(t, fmt.Sprintf("after it at %v", tt.residual), got.Value, tt.want, 0.06)
		if got.Thin || got.Merged != 0 || got.Voters != 12 {
			t.Errorf("at %v: %+v", tt.residual, got)
		}
	}
}

// Too few voters: the ceiling stands in.
func TestThinBaseline(t *testing.T) {
	a := New(DefaultConfig())
	got := a.Observe(0, plain("p", "g", 0.1)).Latest.Threshold
	if !got.Thin || got.Value != 0.95 || got.Voters != 0 {
		t.Errorf("nobody: %+v", got)
	}
	now := voters(a, "g", 11, all(0.2))
	got = a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold
	if !got.Thin || got.Value != 0.95 || got.Voters != 11 {
		t.Errorf("eleven: %+v", got)
	}
}

// Neighbours are merged until enough groups vote; lossy fetches never with others.
func TestStrataMerge(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 12, all(0.2))
	for _, tt := range []struct {
		name   string
		change func(*Record)
		merged int
		thin   bool
	}{
		{"the same", func(*Record) {}, 0, false},
		{"next round trip class of the pair", func(r *Record) { r.BaseRTT = 10 * ms }, 1, false},
		{"next size class of the pair", func(r *Record) { r.Size = 8 << 20 }, 1, false},
		{"neighbour of another pair", func(r *Record) { r.BaseRTT = 40 * ms }, 2, false},
		{"far", func(r *Record) { r.Size, r.BaseRTT = 1<<10, 300*ms }, 2, false},
		{"lossy", func(r *Record) { r.Loss = LossSeen }, 2, true},
		{"not known to be lossy", func(r *Record) { r.Loss = LossUnknown }, 0, false},
	} {
		r := plain("p", "suspect", 0.1)
		tt.change(&r)
		got := a.Observe(now, r).Latest.Threshold
		if got.Merged != tt.merged || got.Thin != tt.thin {
			t.Errorf("%s: %+v, want merged %d, thin %t", tt.name, got, tt.merged, tt.thin)
		}
	}
}

// A convicted peer has no voice, and a pardoned one has it again.
func TestTheConvictedDoNotVote(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 13, all(0.2))
	count := func() int { return a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold.Voters }
	if got := count(); got != 13 {
		t.Fatalf("%d voters", got)
	}
	a.Lie(now, "g3.1", "g3", FalseSize, "")
	checkInvariants(t, a)
	if got := count(); got != 12 {
		t.Errorf("%d voters with a liar among two, want 12", got)
	}
	if v := observeAll(a, now, plain("g4.0", "g4", 9), 8); v.Kind != Withholding {
		t.Fatalf("not convicted: %v", v)
	}
	checkInvariants(t, a)
	if got := count(); got != 11 {
		t.Errorf("%d voters with a withholder besides, want 11", got)
	}
	a.Pardon(now, "g3.1")
	a.Pardon(now, "g4.0")
	checkInvariants(t, a)
	if got := count(); got != 13 {
		t.Errorf("%d voters after the pardons, want 13", got)
	}
}

// Peers that are gone fall silent after two spans, though nobody forgets them.
func TestOldVotesFade(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 12, all(0.2))
	r := plain("p", "suspect", 0.1)
	now += 2 * a.cfg.Span
	observeAll(a, now, r, sweepEvery*(a.Len()+1))
	if got := a.Observe(now, r).Latest.Threshold; got.Voters != 0 || !got.Thin {
		t.Errorf("%+v, want no voters", got)
	}
	for _, s := range a.strata {
		if s != nil && len(s.panels) > 1 {
			t.Errorf("stratum %+v keeps %d panels", s.key, len(s.panels))
		}
	}
	checkInvariants(t, a)
}

// A peer that moves takes its voice along.
func TestMove(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 13, all(0.2))
	a.Observe(now, plain("g0.0", "elsewhere", 0.2))
	checkInvariants(t, a)
	if got := a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold.Voters; got != 12 {
		t.Errorf("%d voters after one of two left its group, want 12", got)
	}
	a.Observe(now, plain("g0.1", "elsewhere", 0.2))
	checkInvariants(t, a)
	if _, there := a.groups["g0"]; there {
		t.Error("a group without peers is kept")
	}
	now += time.Hour
	a.Observe(now, plain("g0.1", "elsewhere", 0.2))
	if got := a.Observe(now, plain("p", "suspect", 0.1)).Latest.Threshold.Voters; got != 13 {
		t.Errorf("%d voters once the new group is old enough, want 13", got)
	}
}

// A peer that is everywhere keeps within its memory, and gives up what it has not used longest.
func TestCellsAreBounded(t *testing.T) {
	a := New(DefaultConfig())
	for i := range 64 {
		r := plain("p", "g", 0.1)
		r.Size, r.BaseRTT, r.Coverage = sizeFloor(i%8), rttFloor(i/8), 1<<40
		a.Observe(time.Duration(i)*time.Second, r)
		checkInvariants(t, a)
	}
	p := a.peers["p"]
	if len(p.cells) != maxCells {
		t.Errorf("%d cells", len(p.cells))
	}
	if p.find(a.strata[key{size: 7, rtt: 7}.index()]) == nil {
		t.Error("the newest was given up")
	}
}

// Whatever happens in whatever order, the incremental votes are what the cells say.
func TestVotesAgainstCells(t *testing.T) {
	cfg := DefaultConfig()
	cfg.PairSamples, cfg.SoloSamples, cfg.MinGroups = 2, 4, 2
	cfg.Span = time.Hour
	cfg.GroupAge = 10 * time.Minute
	rapid.Check(t, func(t *rapid.T) {
		a := New(cfg)
		now := time.Duration(0)
		peer := rapid.Map(rapid.IntRange(0, 7), func(i int) string { return fmt.Sprint("p", i) })
		group := rapid.Map(rapid.IntRange(0, 3), func(i int) string { return fmt.Sprint("g", i) })
		observe := func(t *rapid.T) {
			r := plain(peer.Draw(t, "peer"), group.Draw(t, "group"), rapid.SampledFrom([]float64{-0.5, 0.1, 0.3, 1, 6}).Draw(t, "r"))
			r.Size = rapid.SampledFrom([]int64{1 << 14, 1 << 20}).Draw(t, "size")
			a.Observe(now, r)
		}
		t.Repeat(map[string]func(*rapid.T){
			"observe":       observe,
			"observe too":   observe,
			"observe again": observe,
			"wait":          func(t *rapid.T) { now += time.Duration(rapid.IntRange(1, 100).Draw(t, "minutes")) * time.Minute },
			"lie":           func(t *rapid.T) { a.Lie(now, peer.Draw(t, "peer"), group.Draw(t, "group"), FalseSize, "") },
			"pardon":        func(t *rapid.T) { a.Pardon(now, peer.Draw(t, "peer")) },
			"forget":        func(t *rapid.T) { a.Forget(now, peer.Draw(t, "peer")) },
			"restart": func(t *rapid.T) {
				states := a.ExportAll(now)
				a = New(cfg)
				if err := a.Import(now, states); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) { checkInvariants(t, a) },
		})
	})
}
