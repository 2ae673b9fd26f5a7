package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// small is the least that is a scenario.
const small = `
links:
  path: {rate: 20Mbit/s, rtt: 40ms}
peers:
  - {name: a, link: path}
`

func TestDefaults(t *testing.T) {
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Node:  Node{Window: 4 << 20},
		Links: map[string]Link{"path": {Rate: 20e6, Up: 20e6, RTT: Time(40 * time.Millisecond)}},
		Peers: []Peer{{Name: "a", Count: 1, PerGroup: 1, Link: "path", Frame: 16 << 10}},
		Workload: Workload{
			Parallel: 1, AtOnce: 1, Timeout: Time(30 * time.Second), Limit: Time(5 * time.Minute),
		},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

// whole has every key there is.
const whole = `
about: All there is.
covers: [case 1, exploit 2]
node: {window: 1MiB, ingress: 10Mbit/s, knows_ingress: true, dry: true, copies: 3, no_handshake: true, churn: 10m, drop: true}
bottlenecks:
  dsl: {rate: 5Mbit/s, changes: [{at: 10s, rate: 1Mbit/s}]}
links:
  path:
    rate: 20Mbit/s
    up: 1Mbit/s
    rtt: 40ms
    jitter: 5ms
    full: true
    buffer: 256KiB
    loss: {random: 1%, bursts: 0.1%, length: 4, within: 50%}
    bucket: {bytes: 4MB, peak: 100Mbit/s}
    changes: [{at: 1m, rate: 1Mbit/s}, {at: 2m, rtt: 80ms}]
peers:
  - name: all
    count: 3
    bad: true
    group: 10.9.0.0/24
    link: path
    wrapped: true
    frame: 64KiB
    join: 5s
    leaves: [{at: 1m, back: 10s, as: same}, {demoted: true, back: 1s, as: new}]
    claims: {factor: 0.1, late: true}
    echoes: {hold: 100ms..300ms, skip: 10%, forge: 5, replay: 7, with_stalls: true, lost_in_stalls: true}
    side: {every: 20ms, reply: 100B}
    push: {every: 5s, size: 1MB, until: 1m, unread: true}
    behaviour:
      - when: {critical: true, after_fetches: 10, until_fetches: 20, after: 1m, until: 2m, share: 30%, every: 4, sizes: {from: 1MB, to: 2MB}, not: true}
        do:
          delay: 10ms
          rate: 250kB/s
          rate_from: 10%
          rate_to: 1MB
          pace: {burst: 50kB, silence: 1.05s}
          stalls: [{at: 99.9%, for: 5s..20s}]
          fail: {how: vanish, at: 50%}
          fill: {kind: unknown, every: 10ms, size: 1kB}
workload:
  warmup: {each: 5, sizes: [1MB], every: 1s}
  fetches: 10
  sizes: [1MB, 2MB]
  draw: true
  parallel: 4
  every: 2s
  at_once: 2
  deadline: 10s
  start: 1h
  critical: {every: 3, deadline: 4s}
  timeout: 20s
  limit: 1m
  attested: 1
faults:
  - {at: 10s, freeze: 3s}
  - {in_fetch: 3, after: 1s, inbox: 3s}
  - {at: 20s, disk: 1MB/s, for: 5s}
without: [all]
bars:
  - {path: summary.regret, at_most: 5%, why: reasons}
  - {path: peers.*.demoted, over: any, is: true}
  - {path: wait.p95, at_most: 2, of: oracle.wait.p95}
`

func TestWhole(t *testing.T) {
	s, err := Parse([]byte(strings.ReplaceAll(whole, "node: {window: 1MiB, ingress: 10Mbit/s", "node: {window: 1MiB")))
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	critical := true
	wantRule := Rule{
		When: When{
			Critical: &critical, AfterFetches: 10, UntilFetches: 20, After: Time(time.Minute), Until: Time(2 * time.Minute),
			Share: 0.3, Every: 4, Sizes: &Sizes{1e6, 2e6}, Not: true,
		},
		Do: Do{
			Delay: Span{10 * ms, 10 * ms}, Rate: 2e6, RateFrom: Point{Share: 0.1}, RateTo: &Point{Bytes: 1e6},
			Pace:   &Pace{50e3, Span{1050 * ms, 1050 * ms}},
			Stalls: []Stall{{Point{Share: 0.999}, Span{5 * time.Second, 20 * time.Second}}},
			Fail:   &Fail{Vanish, Point{Share: 0.5}}, Fill: &Fill{FillUnknown, Time(10 * ms), 1e3},
		},
	}
	if diff := cmp.Diff(wantRule, s.Peers[0].Behaviour[0]); diff != "" {
		t.Error(diff)
	}
	wantLink := Link{
		Rate: 20e6, Up: 1e6, RTT: Time(40 * ms), Jitter: Time(5 * ms), Full: true, Buffer: 256 << 10,
		Loss: &Loss{Random: 0.01, Bursts: 0.001, Length: 4, Within: 0.5}, Bucket: &Bucket{4e6, 100e6},
		Changes: []Change{{At: Time(time.Minute), Rate: 1e6}, {At: Time(2 * time.Minute), RTT: Time(80 * ms)}},
	}
	if diff := cmp.Diff(wantLink, s.Links["path"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Echoes{Hold: Span{100 * ms, 300 * ms}, Skip: 0.1, Forge: 5, Replay: 7, WithStalls: true, LostInStalls: true}, s.Peers[0].Echoes); diff != "" {
		t.Error(diff)
	}
	wantBar := Bar{Path: "summary.regret", AtMost: &Value{Number: 0.05, Text: "5%", IsNumber: true}, Why: "reasons"}
	if diff := cmp.Diff(wantBar, s.Bars[0]); diff != "" {
		t.Error(diff)
	}
}

// TestRepeatedFaults: one that comes again is written out, among the others by time.
func TestRepeatedFaults(t *testing.T) {
	s, err := Parse([]byte(small + "faults: [{at: 1s, every: 2s, times: 3, freeze: 1s}, {at: 2s, inbox: 1s}]"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) Fault { return Fault{At: Time(d), Freeze: Time(time.Second)} }
	want := []Fault{at(time.Second), {At: Time(2 * time.Second), Inbox: Time(time.Second)}, at(3 * time.Second), at(5 * time.Second)}
	if diff := cmp.Diff(want, s.Faults); diff != "" {
		t.Error(diff)
	}
}

// TestRefused: what is wrong is named, with its line where it has one.
func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want string }{
		"an unknown key":           {"rtt: 40ms}", "rtt: 40ms, rate_: 1}", `line 3: unknown field "rate_"`},
		"a misspelt key":           {"peers:", "piers:", `line 4: unknown field "piers"`},
		"a key twice":              {"peers:", "links: {}\npeers:", "line 4: mapping key \"links\" already defined"},
		"no unit":                  {"20Mbit/s", "20", `line 3: "20" is no rate, write 20Mbit/s`},
		"a unit of another":        {"20Mbit/s", "20ms", `line 3: "20ms" is no rate`},
		"a list for a value":       {"20Mbit/s", "[1]", "line 3: a single value is wanted"},
		"a word for a list":        {"- {name: a, link: path}", "a", "line 5"},
		"a negative time":          {"40ms", "-40ms", `line 3: "-40ms" is no time`},
		"no such link":             {"link: path", "link: paht", `peer a has link "paht"`},
		"two of a name":            {"- {name: a, link: path}", "- {name: a, link: path}\n  - {name: a, link: path}", "a name of its own"},
		"no name":                  {"name: a", "bad: true", "a name of its own"},
		"a strange group":          {"name: a", "name: a, group: 10.0.0", `group "10.0.0" is no prefix`},
		"a strange failure":        {"name: a", "name: a, behaviour: [{do: {fail: {how: explode}}}]", `fails by "explode"`},
		"a strange fill":           {"name: a", "name: a, behaviour: [{do: {fill: {kind: sand, every: 1s}}}]", `fills with "sand"`},
		"a fill without a time":    {"name: a", "name: a, behaviour: [{do: {fill: {kind: pings}}}]", "fill needs a time"},
		"a pace without a burst":   {"name: a", "name: a, behaviour: [{do: {pace: {silence: 1s}}}]", "pace needs a burst"},
		"a return as another":      {"name: a", "name: a, leaves: [{at: 1s, as: other}]", `comes back as "other"`},
		"a leave at no time":       {"name: a", "name: a, leaves: [{back: 1s}]", "leaves at no time"},
		"a claim of nothing":       {"name: a", "name: a, claims: {factor: 0}", "a factor on sizes"},
		"a side without a time":    {"name: a", "name: a, side: {reply: 1B}", "need a time and a size"},
		"fetches without sizes":    {"links:", "workload: {fetches: 1}\nlinks:", "needs sizes"},
		"a datum of nothing":       {"links:", "workload: {fetches: 1, sizes: [0B]}\nlinks:", "size of nothing"},
		"critical never":           {"links:", "workload: {critical: {deadline: 1s}}\nlinks:", "critical needs every"},
		"a fault of nothing":       {"links:", "faults: [{at: 1s}]\nlinks:", "a fault does something"},
		"a fault at two times":     {"links:", "faults: [{at: 1s, in_fetch: 1, freeze: 1s}]\nlinks:", "not both"},
		"a fault again in a fetch": {"links:", "faults: [{in_fetch: 1, every: 1s, times: 2, freeze: 1s}]\nlinks:", "give at, every and times"},
		"a fault so many times":    {"links:", "faults: [{at: 1s, times: 2, freeze: 1s}]\nlinks:", "give at, every and times"},
		"a bar of nothing":         {"links:", "bars: [{path: x}]\nlinks:", "bounds nothing"},
		"a bar over a word":        {"links:", "bars: [{path: x, is: 1, over: median}]\nlinks:", `over "median"`},
		"without a stranger":       {"links:", "without: [b]\nlinks:", "without b, which is no peer"},
		"no such bottleneck":       {"rtt: 40ms", "rtt: 40ms, through: x", "no bottleneck"},
		"two bottlenecks":          {"links:\n  path: {", "node: {ingress: 1Mbit/s}\nbottlenecks: {x: {rate: 1Mbit/s}}\nlinks:\n  path: {through: x, ", "it can go through one"},
		"all lost":                 {"rtt: 40ms", "rtt: 40ms, loss: {random: 100%}", "loses all"},
		"changes out of order":     {"rtt: 40ms", "rtt: 40ms, changes: [{at: 2s}, {at: 1s}]", "give its changes in order"},
		"a place beyond the end":   {"name: a", "name: a, behaviour: [{do: {stalls: [{at: 101%, for: 1s}]}}]", "no place in a datum"},
		"a range that runs back":   {"name: a", "name: a, behaviour: [{do: {delay: 2s..1s}}]", "no time and no range"},
		"a share that is no":       {"name: a", "name: a, behaviour: [{when: {share: x%}}]", "is no share"},
		"an endless size":          {"name: a", "name: a, frame: InfkB", "is no size"},
		"nobody":                   {"peers:\n  - {name: a, link: path}", "", "there are no peers"},
		"what is no YAML":          {"peers:", "peers: }", "line 5"},
		"a scalar for everything":  {small, "scenario", "scenario: not a scenario file"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(small, tc.from, tc.to, 1)
			if text == small {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse([]byte(text))
			if !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestFiles: every scenario of the repository is one, and says what it is.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		s, err := Load(file)
		switch {
		case err != nil:
			t.Error(err)
		case s.About == "" || len(s.Covers) == 0 || len(s.Bars) == 0:
			t.Errorf("%s: say what it is about, what it covers, and its bars", file)
		case s.Name+".yaml" != filepath.Base(file):
			t.Errorf("%s is called %s", file, s.Name)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	if _, err := Load("nowhere.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("x: 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(bad); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), "bad.yaml") {
		t.Error(err)
	}
}
