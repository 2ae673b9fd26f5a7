package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
)

// tiny is a study that takes a second or two.
var tiny = options{fetches: 30_000, attempts: 20, seeds: 1, first: 1, groups: 40, progress: io.Discard}

func TestStudyPrintsAllAndWritesPlots(t *testing.T) {
	o := tiny
	o.dir = filepath.Join(t.TempDir(), "plots")
	var out bytes.Buffer
	if _, err := study(&out, o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"no hostile groups: normal", "rougher, 33 % inflate: slow disk", "pads at 1/2", "withholds 10 %",
		"Thresholds of the strata", "Free rates", "bars, all met:", "highest threshold",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	for _, name := range []string{"audit-residuals.svg", "audit-detection.svg", "audit-threshold.svg"} {
		data, err := os.ReadFile(filepath.Join(o.dir, name))
		if err != nil || !bytes.Contains(data, []byte("<svg")) {
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
		}
	}
}

func TestPlotsNeedADirectory(t *testing.T) {
	o := tiny
	o.fetches, o.attempts = 1000, 1
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.dir = file
	var path *fs.PathError
	if _, err := study(&bytes.Buffer{}, o); !errors.As(err, &path) {
		t.Errorf("got %v", err)
	}
}

func TestOnly(t *testing.T) {
	o := tiny
	o.fetches, o.attempts, o.only = 2000, 1, "deflate"
	var out bytes.Buffer
	if _, err := study(&out, o); err != nil || !strings.HasPrefix(out.String(), "1 scenarios") {
		t.Errorf("%v: %s", err, out.String())
	}
	o.only = "nonsense"
	if _, err := study(&out, o); err == nil {
		t.Error("no scenario, no error")
	}
}

// The same seed gives the same figures, another seed others.
func TestRunsAreSeeded(t *testing.T) {
	s := scenarios()[2]
	s.pop.Groups = 30
	a, b, c := run(s, 1, 20_000, 5), run(s, 1, 20_000, 5), run(s, 2, 20_000, 5)
	if a.counts[normal].By != b.counts[normal].By || a.counts[normal].Fetches != b.counts[normal].Fetches {
		t.Errorf("%+v and %+v", a.counts[normal].By, b.counts[normal].By)
	}
	if a.counts[normal].Fetches == c.counts[normal].Fetches {
		t.Error("two seeds, one population")
	}
}

// The honest are the same with and without hostile groups.
func TestHostileGroupsChangeNoHonestPeer(t *testing.T) {
	all := scenarios()
	calm := newCrowd(all[0], rand.New(rand.NewPCG(9, 0)))
	third := newCrowd(all[2], rand.New(rand.NewPCG(9, 0)))
	for i := range calm.peers {
		if calm.peers[i] != third.peers[i] {
			t.Fatalf("%+v became %+v", calm.peers[i], third.peers[i])
		}
	}
	got := float64(len(third.peers)-len(calm.peers)) / float64(len(third.peers))
	if math.Abs(got-0.33) > 0.001 {
		t.Errorf("%.3f of the peers are hostile", got)
	}
}

func TestPopulationIsAsDescribed(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	peers := Base.population(rng)
	if len(peers) < 10_000 {
		t.Errorf("%d peers", len(peers))
	}
	var n [kinds]int
	for i := range peers {
		n[peers[i].kind]++
	}
	for k, want := range map[kind]float64{normal: 0.93, lossy: 0.05, slowDisk: 0.02} {
		if got := float64(n[k]) / float64(len(peers)); math.Abs(got-want) > 0.01 {
			t.Errorf("%v: %.3f of the peers, want %.3f", k, got, want)
		}
	}
}

// The laws have the medians that they say, and the records the residuals.
func TestRecordsShowTheResiduals(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, tt := range []struct {
		kind         kind
		least, most  float64 // of the median
		stalls, seen bool
	}{
		{normal, 0.09, 0.11, false, false},
		{slowDisk, 0.85, 1.0, false, false},
		{lossy, 0.25, 0.35, true, true},
	} {
		p := peer{name: "p", group: "g", kind: tt.kind, rtt: 20 * time.Millisecond, rate: 1e6}
		var rs []float64
		stopped, seen := 0, 0
		const n = 4000
		for range n {
			rec := Base.record(rng, &p, Base.draw(rng, &p))
			served := rec.Actual - (rec.TTFB - rec.BaseRTT)
			rs = append(rs, float64(served)/float64(rec.Claim)-1)
			if rec.Echoes == audit.EchoesStopped {
				stopped++
				if rec.Stalled <= 0 || rec.Stalled > rec.Actual {
					t.Fatalf("stalled %v of %v", rec.Stalled, rec.Actual)
				}
			}
			if rec.Loss == audit.LossSeen {
				seen++
			}
		}
		if m := quantile(sorted(rs), 0.5); m < tt.least || m > tt.most {
			t.Errorf("%v: median residual %.3f", tt.kind, m)
		}
		if got := stopped > n/2; got != tt.stalls {
			t.Errorf("%v: echoes stopped in %d of %d", tt.kind, stopped, n)
		}
		if got := seen > n/3; got != tt.seen {
			t.Errorf("%v: loss seen in %d of %d", tt.kind, seen, n)
		}
	}
}

func TestAttacksShowWhatTheySay(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for name, want := range map[string]float64{"pads at 1/2": 1.2, "pads at 1/5": 4.5} {
		for _, a := range attacks {
			r := residual{served: 0.1}
			if a.name != name {
				continue
			}
			if a.do(rng, &r); math.Abs(r.served-want) > 1e-9 {
				t.Errorf("%s: an honest 0.1 became %v, want %v", name, r.served, want)
			}
		}
	}
	held := 0
	for range 10_000 {
		r := residual{}
		if withhold(0.1)(rng, &r); r.served > 0 {
			held++
			if r.served < 4 || r.served > 14 {
				t.Fatalf("withheld for %v claims", r.served)
			}
		}
	}
	if held < 900 || held > 1100 {
		t.Errorf("%d of 10,000 withheld, want a tenth", held)
	}
}

// An attacker is forgotten between attempts: the last finds the same audit as the first.
func TestAttemptsAreIndependent(t *testing.T) {
	a := audit.New(audit.DefaultConfig())
	attack := attack{want: audit.Overclaims, do: pace(2)}
	for _, d := range attack.try(a, 0, Base, rand.New(rand.NewPCG(1, 2)), 50) {
		if d < 8 || d > 20 {
			t.Errorf("found out after %d", d)
		}
	}
	if a.Len() != 0 {
		t.Errorf("%d peers are left", a.Len())
	}
}

func TestPatienceEnds(t *testing.T) {
	a := audit.New(audit.DefaultConfig())
	honest := attack{want: audit.Withholding, do: func(*rand.Rand, *residual) {}}
	if d := honest.try(a, 0, Base, rand.New(rand.NewPCG(1, 3)), 1); d[0] != never || fetches(d[0]) != "never" {
		t.Errorf("%v", d)
	}
}

func TestWatchCountsOnsetsAndPeers(t *testing.T) {
	c := &crowd{peers: []peer{{kind: normal}, {kind: lossy}}}
	w := newWatch(c)
	over := audit.Verdict{Kinds: 1 << audit.Overclaims}
	both := audit.Verdict{Kinds: 1<<audit.Overclaims | 1<<audit.Withholding}
	for _, v := range []audit.Verdict{{}, over, over, both, {}, over} {
		w.see(0, v)
	}
	w.see(1, audit.Verdict{})
	n := w.counts[normal]
	if n.Fetches != 6 || n.Peers != 1 || n.By[audit.Overclaims] != (standing{2, 1}) || n.By[audit.Withholding] != (standing{1, 1}) {
		t.Errorf("%+v", n)
	}
	if m := w.counts[lossy]; m.Fetches != 1 || m.By[audit.Overclaims] != (standing{}) {
		t.Errorf("%+v", m)
	}
}

func TestBars(t *testing.T) {
	for _, tt := range []struct {
		b    bar
		met  bool
		text string
	}{
		{bar{"a", 1, 1, false, "%.1f"}, true, "pass"},
		{bar{"a", 1.1, 1, false, "%.1f"}, false, "FAIL"},
		{bar{"a", 0.99, 0.99, true, "%.2f"}, true, "pass"},
		{bar{"a", 0.98, 0.99, true, "%.2f"}, false, "FAIL"},
		{bar{"a", math.NaN(), 1, false, "%.1f"}, false, "FAIL"},
	} {
		if tt.b.met() != tt.met || !strings.HasPrefix(tt.b.String(), tt.text) {
			t.Errorf("%v", tt.b)
		}
	}
}

// A scenario in which honest peers are convicted, padders escape and the threshold moves fails its
// bars.
func TestBadFiguresFail(t *testing.T) {
	bad := outcome{scenario: scenarios()[2], delays: make([][]int, len(attacks))}
	for k := range honestKinds {
		bad.counts[k] = count{Peers: 100, Fetches: 1000}
		for v := range bad.counts[k].By {
			bad.counts[k].By[v] = standing{10, 10}
		}
	}
	for i := range bad.delays {
		bad.delays[i] = []int{never}
	}
	stratum := func(raw, value float64) audit.Stratum {
		return audit.Stratum{SizeFrom: 1, Threshold: audit.Threshold{Raw: raw, Value: value, Voters: 200}}
	}
	bad.seeds = []result{{strata: []audit.Stratum{stratum(1, 1)}, without: []audit.Stratum{stratum(0.5, 0.8)}}}
	failed := 0
	for _, b := range bad.bars() {
		if !b.met() {
			failed++
		}
	}
	// All but that the threshold is not too low, before the clamp and after.
	if want := len(bad.bars()) - 2; failed != want {
		t.Errorf("%d bars failed, want %d", failed, want)
	}
	if barTable(&bytes.Buffer{}, []outcome{bad}) {
		t.Error("all met")
	}
}

func TestShownScenariosHaveNoBars(t *testing.T) {
	all := scenarios()
	o := outcome{scenario: all[len(all)-1]}
	if !o.scenario.shown || len(o.bars()) != 0 {
		t.Errorf("%+v", o.scenario.name)
	}
}
