package metrics

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
)

var update = flag.Bool("update", false, "write testdata anew from what the collector says")

// everything is a collector that shows all it can of one full snapshot, and of a
// ranker.
func everything() *Collector {
	return alice(WithRanker(rankerOf(fullRanking())), WithCampaign(campaignOf(Campaign{Measured: 3, OptedOut: 1, Others: 2, Overdue: time.Minute})))
}

func alice(opts ...Option) *Collector {
	src := SourceFunc(func() []Peer { return []Peer{{Name: "alice", Snapshot: full()}} })
	return NewCollector(src, append(opts, WithTop(2), WithPerPeer(3))...)
}

// text is what a scrape returns. The format helper wants each name it is to
// show.
func text(t *testing.T, c prometheus.Collector) []byte {
	t.Helper()
	var names []string
	for _, d := range Descriptions() {
		names = append(names, d.Name)
	}
	out, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, names...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExactText pins every name, help text and value that a known snapshot
// gives, per-peer series included: they are what dashboards are built on.
func TestExactText(t *testing.T) {
	const golden = "testdata/full.txt"
	if *update {
		if err := os.WriteFile(golden, text(t, alice()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if err := testutil.CollectAndCompare(alice(), bytes.NewReader(want)); err != nil {
		t.Errorf("%v\nif this is meant, run the test with -update", err)
	}
}

func TestLint(t *testing.T) {
	for name, c := range map[string]*Collector{
		"empty":      NewCollector(nil),
		"everything": everything(),
	} {
		problems, err := testutil.CollectAndLint(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
	}
}

func TestPromtool(t *testing.T) {
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool on PATH (Debian has it in the package prometheus): its check did not run")
	}
	cmd := exec.Command(path, "check", "metrics")
	cmd.Stdin = bytes.NewReader(text(t, everything()))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// TestDescriptionsAreWhatIsCollected holds the reference page against a scrape
// in which everything is known.
func TestDescriptionsAreWhatIsCollected(t *testing.T) {
	types := make(map[string]Type)
	labels := make(map[string][]string)
	for _, d := range Descriptions() {
		if _, twice := types[d.Name]; twice {
			t.Errorf("%s is described twice", d.Name)
		}
		if d.Help == "" {
			t.Errorf("%s has no help", d.Name)
		}
		types[d.Name] = d.Type
		labels[d.Name] = slices.Sorted(slices.Values(d.Labels))
	}
	for _, mf := range gather(t, everything()) {
		name := mf.GetName()
		want := map[Type]string{Counter: "COUNTER", Gauge: "GAUGE", Histogram: "HISTOGRAM"}[types[name]]
		if got := mf.GetType().String(); got != want {
			t.Errorf("%s is a %s, described as %q", name, got, want)
		}
		for _, m := range mf.GetMetric() {
			var got []string
			for _, l := range m.GetLabel() {
				got = append(got, l.GetName())
			}
			if !slices.Equal(got, labels[name]) {
				t.Errorf("%s has labels %v, described with %v", name, got, labels[name])
			}
		}
		delete(types, name)
	}
	for name := range types {
		t.Errorf("%s is described and never collected", name)
	}
}

// TestDescribeMatchesOptions: a pedantic registry refuses what was collected
// and not described; here the other way round, for series nobody asked for.
func TestDescribeMatchesOptions(t *testing.T) {
	count := func(opts ...Option) int {
		ch := make(chan *prometheus.Desc, 1000)
		NewCollector(nil, opts...).Describe(ch)
		return len(ch)
	}
	bare, slots, all := count(WithTop(0)), count(), count(WithPerPeer(1), WithRanker(rankerOf(Ranking{})), WithCampaign(campaignOf(Campaign{})))
	if all != len(Descriptions()) || slots >= all || bare >= slots {
		t.Errorf("descriptions: %d without slots, %d by default, %d with all, of %d", bare, slots, all, len(Descriptions()))
	}
	if got := count(WithTop(-1), WithPerPeer(-1)); got != bare {
		t.Errorf("negative options describe %d, want the %d of none", got, bare)
	}
}
