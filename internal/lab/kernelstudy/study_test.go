package kernelstudy

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/ranking"
)

func TestMain(m *testing.M) {
	kernelpath.Carry()
	os.Exit(m.Run())
}

const second = time.Second

// TestGrid: it has the cells it should, and none that takes too long.
func TestGrid(t *testing.T) {
	cells, ways := 0, Grid("bbr")
	for _, w := range ways {
		for _, n := range w.fits() {
			if wire := w.Rate.Time(int(n)); wire > longestWire {
				t.Errorf("%v, %d bytes: %v", w, n, wire)
			}
			cells++
		}
		for _, n := range Sizes() {
			if w.warmUp() == n {
				t.Errorf("%v: the warm-up has a size that is measured, %d", w, n)
			}
		}
	}
	// Of 1 Mbit/s three sizes, of 10 four, of the others all, for each of five round trips.
	if len(ways) != 25 || cells != 5*(3+4+3*5) {
		t.Errorf("%d ways, %d cells", len(ways), cells)
	}
	if n := len(Lossy("cubic")); n != 6 {
		t.Errorf("%d lossy ways", n)
	}
	if n := len(Select(ways, "69 ms", 10*lab.Mbit)); n != 2 {
		t.Errorf("%d ways selected", n)
	}
}

// TestCarries: under loss CUBIC is far below the line, BBR is not.
func TestCarries(t *testing.T) {
	w := Way{RTT: 150 * time.Millisecond, Rate: 100 * lab.Mbit, Loss: 0.01, Control: "cubic"}
	if got := w.carries(); got < 0.9*lab.Mbit || got > lab.Mbit {
		t.Errorf("%v", got)
	}
	for _, change := range []func(*Way){func(w *Way) { w.Loss = 0 }, func(w *Way) { w.Control = "bbr" }} {
		x := w
		change(&x)
		if x.carries() != w.Rate {
			t.Errorf("%+v carries %v", x, x.carries())
		}
	}
}

// TestQueues: what is to lose nothing has room for three round trips.
func TestQueues(t *testing.T) {
	for _, w := range Grid("") {
		if q := w.path().Down.Queue; !w.Clear() || q < 3*w.RTT || q < 100*time.Millisecond {
			t.Errorf("%v: clear %v, queue %v", w, w.Clear(), q)
		}
	}
	for _, w := range append(Shallow(""), Lossy("")...) {
		if w.Clear() {
			t.Errorf("%v counts as without loss", w)
		}
	}
	if q := Shallow("")[0].path().Down.Queue; q != kernelpath.DefaultQueue {
		t.Errorf("the short queue is %v", q)
	}
}

// runOf is a run with fetches of those errors, each of a second.
func runOf(w Way, off ...float64) Run {
	r := Run{Way: w}
	for _, e := range off {
		r.Fetches = append(r.Fetches, Fetch{Way: w, State: Warm, Bytes: 1e6, Actual: second,
			Predicted: time.Duration((1 + e) * float64(second)), Bar: 100 * time.Millisecond})
	}
	return r
}

// TestJudge: each bar is one, and only what is without loss and below 500 Mbit/s
// is held to them.
func TestJudge(t *testing.T) {
	sound := Way{RTT: 20 * time.Millisecond, Rate: 100 * lab.Mbit}
	lossy, fast := sound, sound
	lossy.Loss, fast.Rate = 0.01, 500*lab.Mbit
	many := make([]float64, 19)
	for _, tt := range []struct {
		name   string
		runs   []Run
		factor float64
		met    bool
	}{
		{"nothing", nil, 1, false},
		{"exact", []Run{runOf(sound, 0, 0)}, 1, true},
		{"median too large", []Run{runOf(sound, 0.11, 0.11)}, 1, false},
		{"median large, bars wider", []Run{runOf(sound, 0.11, -0.11)}, 1.5, true},
		{"one of twenty outside", []Run{runOf(sound, append(many, 0.5)...)}, 1, true},
		{"two of twenty-one", []Run{runOf(sound, append(many, 0.5, -0.5)...)}, 1, false},
		{"two, bars wider", []Run{runOf(sound, append(many, 0.4, -0.4)...)}, 1.5, true},
		{"only lossy and fast ones off", []Run{runOf(sound, 0), runOf(lossy, 5), runOf(fast, 5)}, 1, true},
	} {
		if got := Judge(tt.runs, Warm, tt.factor); got.Met() != tt.met {
			t.Errorf("%s: %v", tt.name, got)
		}
		if got := Judge(tt.runs, Cold, tt.factor); got.Met() {
			t.Errorf("%s: met by no fetch", tt.name)
		}
	}
	short := Fetch{Actual: 4 * time.Millisecond, Predicted: 8 * time.Millisecond}
	if !short.within(1) {
		t.Error("4 ms of 4 ms are outside, though 5 ms may be")
	}
}

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 0.95: 3.85, 1: 4} {
		if got := quantile([]float64{1, 2, 3, 4}, q); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}

// TestRTTMisses: 2 ms or 5 % may be off, whichever is more, and a kernel that
// says nothing misses nothing.
func TestRTTMisses(t *testing.T) {
	all := func(rtt, off time.Duration) Run {
		d := rtt + off
		return Run{Way: Way{RTT: rtt}, RTTs: RTTs{Idle: d, Least: d, Most: d, Kernel: d}}
	}
	const ms = time.Millisecond
	for _, tt := range []struct {
		rtt, off time.Duration
		misses   int
	}{{5 * ms, 2 * ms, 0}, {5 * ms, 3 * ms, 4}, {5 * ms, -3 * ms, 4}, {200 * ms, 10 * ms, 0}, {200 * ms, 11 * ms, 4}} {
		if got := RTTMisses([]Run{all(tt.rtt, tt.off)}); len(got) != tt.misses {
			t.Errorf("%v off by %v: %q", tt.rtt, tt.off, got)
		}
	}
	silent := all(20*ms, 0)
	silent.RTTs.Kernel = 0
	if got := RTTMisses([]Run{silent}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// TestErrorBar: the audit's slack at least, two standard errors where that is
// more, the claim itself at most.
func TestErrorBar(t *testing.T) {
	p := ranking.Path{BaseRTT: 100 * time.Millisecond, Rate: 1e-6, RateError: 1e-7}
	for bytes, want := range map[int64]time.Duration{1000: 250 * time.Millisecond, 5e6: second, 50e6: 2 * second} {
		if got := errorBar(p, 2*second, bytes); got != want {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
}

// TestPunctual: a fetch is made again while the emulator is later than TCP would
// bear, and what is kept is the most punctual attempt.
func TestPunctual(t *testing.T) {
	for rtt, want := range map[int]int{5: 4, 69: 8, 268: 16} {
		got := Way{RTT: time.Duration(rtt) * time.Millisecond, Rate: 100 * lab.Mbit}.punctual().Milliseconds()
		if got != int64(want) {
			t.Errorf("%d ms: %v", rtt, got)
		}
	}
	if got := (Way{RTT: 5 * time.Millisecond, Rate: lab.Mbit}).punctual(); got != 24*time.Millisecond {
		t.Errorf("slow: %v", got)
	}
	var r Run
	r.late(kernelpath.Lateness{Packets: 1, Mean: 3 * time.Millisecond, Worst: 3 * time.Millisecond})
	r.late(kernelpath.Lateness{Packets: 2, Late: 1, Mean: 0, Worst: 2 * time.Millisecond})
	if r.Lateness != (kernelpath.Lateness{Packets: 3, Late: 1, Mean: time.Millisecond, Worst: 3 * time.Millisecond}) {
		t.Errorf("%+v", r.Lateness)
	}
}

func TestExits(t *testing.T) {
	const netstat = "TcpExt: A TCPHystartTrainDetect TCPHystartTrainCwnd TCPHystartDelayDetect\nTcpExt: 1 2 30 4\nIpExt: A\nIpExt: 9\n"
	if got := parseExits(netstat); got != (Exits{Delay: 4, Train: 2}) {
		t.Errorf("%+v", got)
	}
	for _, s := range []string{"", "TcpExt: TCPHystartTrainDetect", "TcpExt: TCPHystartTrainDetect\nTcpExt:\n"} {
		if got := parseExits(s); got != (Exits{}) {
			t.Errorf("%q: %+v", s, got)
		}
	}
}

func TestTables(t *testing.T) {
	w := Way{RTT: 20 * time.Millisecond, Rate: 100 * lab.Mbit, Loss: 0.01, Control: "cubic"}
	r := runOf(w, 0.05, 0.5)
	var out strings.Builder
	covered, all := WriteLoss(&out, []Run{r})
	if covered != 1 || all != 2 {
		t.Errorf("%d of %d covered", covered, all)
	}
	WriteRTTs(&out, []Run{r})
	WriteTable(&out, []Run{r}, Warm)
	WriteCSV(&out, []Run{r})
	for _, want := range []string{"20 ms, 100 Mbit/s, 1 % lost", "outside", "covered", "cubic,0.02,1e+08,0.01,warm,1000000,1.000000,1.500000"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestSplitMisses: each way to be worse than bare is told.
func TestSplitMisses(t *testing.T) {
	trio := func(first, whole, credit time.Duration) []Split {
		a := Split{Way: FarWay(), Bytes: 12_000_000, Window: 256 << 10, First: second, Whole: 10 * second}
		b, c := a, a
		b.SDU, b.First, b.Whole, b.Credit, c.SDU = defaultSDU, first, whole, credit, smallerSDU
		return []Split{a, b, c}
	}
	for _, tt := range []struct {
		name                 string
		first, whole, credit time.Duration
		misses               int
	}{
		{"as good", second, 10 * second, 4 * second, 0},
		{"first later", 2 * second, 10 * second, 4 * second, 1},
		{"all later", second, 11 * second, 4 * second, 1},
		{"not known to be ours", second, 10 * second, second, 1},
	} {
		if got := SplitMisses(trio(tt.first, tt.whole, tt.credit)); len(got) != tt.misses {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	wide := Split{Way: FarWay(), Bytes: 12_000_000, Window: Window}
	if wide.starved() != 0 {
		t.Errorf("a window that holds all is short by %v", wide.starved())
	}
	var out strings.Builder
	WriteSplits(&out, trio(second/2, second, second))
	if !strings.Contains(out.String(), "1000.00 | 500.00 | 1000.00") {
		t.Errorf("table\n%s", &out)
	}
}

func TestChangeMet(t *testing.T) {
	good := Change{Seen: second, Ranked: 3}
	for name, change := range map[string]func(*Change){
		"never seen": func(c *Change) { c.Seen = 0 }, "late": func(c *Change) { c.Seen = 6 * second },
		"never ranked": func(c *Change) { c.Ranked = 0 }, "ranked late": func(c *Change) { c.Ranked = 4 },
		"convicted": func(c *Change) { c.Worst = audit.Withholding },
	} {
		c := good
		change(&c)
		if c.Met() {
			t.Errorf("%s: met", name)
		}
	}
	if good.Worst = audit.Overclaims; !good.Met() {
		t.Error("a note is no conviction")
	}
}

// TestMeasure measures one short way for real: the round trip is the path's and
// predictions are of the right order, however busy the machine.
func TestMeasure(t *testing.T) {
	for name, server := range map[string]Server{"wrapped": Wrapped(Window), "bare": Bare(Window)} {
		t.Run(name, func(t *testing.T) {
			w := Way{RTT: 40 * time.Millisecond, Rate: lab.Mbit}
			r, err := Measure(w, server, Window)
			if errors.Is(err, kernelpath.ErrUnavailable) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.RTTs.Idle < w.RTT || r.RTTs.Idle > 2*w.RTT {
				t.Errorf("round trip %v", r.RTTs.Idle)
			}
			if len(r.Fetches) != 2*len(w.fits()) {
				t.Errorf("%d fetches", len(r.Fetches))
			}
			for _, f := range r.Fetches {
				if f.Actual < w.Rate.Time(int(f.Bytes)) || f.Predicted < f.Actual/4 || f.Predicted > 4*f.Actual {
					t.Errorf("%v, %d bytes: took %v, predicted %v", f.State, f.Bytes, f.Actual, f.Predicted)
				}
			}
		})
	}
}
