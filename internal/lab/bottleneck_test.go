package lab

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-mux/assay/internal/lab/shape"
)

// share has links send through a bottleneck for a time, each as much as it can,
// and says how many bytes each brought through. It must run in a bubble.
func share(links []Link, d time.Duration) []int {
	got := make([]int, len(links))
	var wg sync.WaitGroup
	var conns []*Conn
	for i, l := range links {
		a, b := PairOf(l, Link{OneWay: l.OneWay})
		conns = append(conns, a, b)
		wg.Go(func() {
			for p := make([]byte, 32<<10); ; {
				if _, err := a.Write(p); err != nil {
					return
				}
			}
		})
		wg.Go(func() {
			b.SetReadDeadline(time.Now().Add(d))
			n, _ := io.Copy(io.Discard, struct{ io.Reader }{b})
			got[i] = int(n)
		})
	}
	time.Sleep(d)
	for _, c := range conns {
		c.Close()
	}
	wg.Wait()
	return got
}

// TestSharesAreFair: links that all want more get equal shares, whatever their
// delay, segments and window, and together what the bottleneck carries; one with less of its own
// gets all of that, and the others what it leaves.
func TestSharesAreFair(t *testing.T) {
	const ms = time.Millisecond
	near := Link{OneWay: 5 * ms}
	far := Link{OneWay: 100 * ms, SlowStart: true, IdleRestart: true}
	small := Link{OneWay: 20 * ms, MSS: 300}
	deep := Link{OneWay: 20 * ms, Buffer: 8 << 20}
	thin := Link{Rate: 800 * Kbit, OneWay: 20 * ms}
	tests := []struct {
		name  string
		links []Link
		want  []float64 // Mbit/s
	}{
		{"one", []Link{near}, []float64{16}},
		{"two alike", []Link{near, near}, []float64{8, 8}},
		{"near and far", []Link{near, far}, []float64{8, 8}},
		{"four kinds", []Link{near, far, small, deep}, []float64{4, 4, 4, 4}},
		{"one thin", []Link{thin, near, deep}, []float64{0.8, 7.6, 7.6}},
		{"all thin", []Link{thin, thin}, []float64{0.8, 0.8}},
		{"crowd", slices.Repeat([]Link{near}, 16), slices.Repeat([]float64{1}, 16)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipe := NewBottleneck(16 * Mbit)
				for i := range tt.links {
					tt.links[i].Bottleneck = pipe
				}
				const d = 30 * time.Second
				sum, wanted := 0.0, 0.0
				for i, n := range share(tt.links, d) {
					got := float64(n) * 8 / 1e6 / d.Seconds()
					sum += got
					wanted += tt.want[i]
					if math.Abs(got-tt.want[i]) > 0.03*tt.want[i] {
						t.Errorf("link %d gets %.3f Mbit/s, want %.3f", i, got, tt.want[i])
					}
				}
				if math.Abs(sum-wanted) > 0.01*wanted {
					t.Errorf("together %.3f Mbit/s, want %.3f", sum, wanted)
				}
				if len(pipe.busy) != 0 {
					t.Errorf("%d links still wait when all are closed", len(pipe.busy))
				}
			})
		})
	}
}

// TestShareTakenAndGivenBack: a transfer that comes into another's takes half of
// the line from then on, and the other has all again when it ends.
func TestShareTakenAndGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := NewBottleneck(8 * Mbit)
		way := Link{Bottleneck: pipe, OneWay: 10 * time.Millisecond, Buffer: 16 << 20}
		var wg sync.WaitGroup
		start := time.Now()
		for _, tt := range []struct {
			n          int
			after, end time.Duration
		}{
			// Alone for 2 s: 2 MB. Both for 2 s: 1 MB each. Alone for the third MB.
			{4e6, 0, 5 * time.Second},
			{1e6, 2 * time.Second, 4 * time.Second},
		} {
			a, b := PairOf(way, Link{})
			wg.Go(func() {
				time.Sleep(tt.after)
				a.Write(make([]byte, tt.n))
				a.Close()
				io.Copy(io.Discard, b)
				// Less one segment's turn.
				if got, want := time.Since(start), tt.end+10*time.Millisecond; (got - want).Abs() > 4*time.Millisecond {
					t.Errorf("%d bytes are in after %v, want %v", tt.n, got, want)
				}
			})
		}
		wg.Wait()
	})
}

// TestLightLinkIsNotHeldUp: a small message passes a link that is busy at its
// next turn, though megabytes were written before it.
func TestLightLinkIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := Link{Bottleneck: NewBottleneck(8 * Mbit), OneWay: 10 * time.Millisecond, Buffer: 16 << 20}
		a, b := PairOf(way, Link{})
		c, d := PairOf(way, Link{})
		a.Write(make([]byte, 8e6))
		for range 50 {
			time.Sleep(77 * time.Millisecond)
			start := time.Now()
			c.Write(make([]byte, 12))
			if n, err := d.Read(make([]byte, 100)); n != 12 || err != nil {
				t.Fatalf("read %d, %v", n, err)
			}
			if got := time.Since(start); got > 10*time.Millisecond+2*1448*time.Microsecond {
				t.Errorf("12 bytes took %v", got)
			}
		}
		for _, x := range []*Conn{a, b, c, d} {
			x.Close()
		}
	})
}

// TestLoneLinkAtBottleneck: with no other, a bottleneck is as the link's own
// rate, cold and warm, first byte and last, end mark too.
func TestLoneLinkAtBottleneck(t *testing.T) {
	for _, link := range []Link{
		{OneWay: 20 * time.Millisecond},
		{OneWay: 20 * time.Millisecond, SlowStart: true, IdleRestart: true},
		{OneWay: 100 * time.Millisecond, SlowStart: true, Loss: Loss{Rate: 0.01}, Seed: 4},
		{OneWay: 10 * time.Millisecond, SlowStart: true, Loss: Loss{Bursts: 0.01}, Seed: 2},
		{OneWay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Seed: 4},
		{},
	} {
		var took [2][4]time.Duration
		for i := range took {
			synctest.Test(t, func(t *testing.T) {
				there := link
				if there.Buffer = 1 << 20; i == 0 {
					there.Rate = 20 * Mbit
				} else {
					there.Bottleneck = NewBottleneck(20 * Mbit)
				}
				a, b := PairOf(Link{OneWay: link.OneWay}, there)
				took[i][0], took[i][1] = fetch(t, a, b, 1e6)
				time.Sleep(time.Second / 2)
				start := time.Now()
				_, took[i][2] = fetch(t, a, b, 2e6)
				b.Close()
				io.Copy(io.Discard, a)
				took[i][3] = time.Since(start)
			})
		}
		for j := range took[0] {
			if (took[0][j] - took[1][j]).Abs() > time.Microsecond {
				t.Errorf("%+v: %v by the link's own rate, %v at a bottleneck", link, took[0], took[1])
				break
			}
		}
	}
}

// repaired is a path that loses the first of four segments, written at once and at
// 60, 61 and 62 ms, and nothing else, so that they are all read at 213 ms: the
// third behind it leaves at 63 and is acknowledged at 163.
func repaired(t *testing.T) Link {
	t.Helper()
	const late = 213 * time.Millisecond
	l := Link{Rate: 8 * Mbit, OneWay: 50 * time.Millisecond, MSS: 1000, SlowStart: true, Loss: Loss{Rate: 0.3}}.normal(0)
	for l.Seed = range uint64(1000) {
		s := shape.New(l.config(1), l.course(0), l.course(0))
		first := s.Send(0, 1000)
		s.Send(60*time.Millisecond, 1000)
		s.Send(61*time.Millisecond, 1000)
		last := s.Send(62*time.Millisecond, 1000)
		if last.Also == 3 && last.At == late && first.At > late {
			return l
		}
	}
	t.Fatal("no seed loses the first alone")
	return l
}

// TestRepairWakesTheReader: a Read that waits for the timer of a lost segment is
// woken by the repair that later ones bring, at a bottleneck as without.
func TestRepairWakesTheReader(t *testing.T) {
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			link := repaired(t)
			if shared {
				link.Bottleneck = NewBottleneck(800 * Mbit)
			}
			a, b := PairOf(link, Link{OneWay: 50 * time.Millisecond})
			start := time.Now()
			a.Write(make([]byte, 1000))
			for i := range 3 {
				time.AfterFunc(time.Duration(60+i)*time.Millisecond, func() { a.Write(make([]byte, 1000)) })
			}
			n, err := b.Read(make([]byte, 9000))
			if n != 4000 || err != nil {
				t.Errorf("read %d, %v; want all four segments", n, err)
			}
			within(t, "all", time.Since(start), 213*time.Millisecond, 0.001)
			a.Close()
			b.Close()
		})
	}
}

// TestIngress: one limit towards us, many peers, and their own rates far above
// it: each fetch takes its share, and when the limit is lifted its own rate.
func TestIngress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours := NewBottleneck(1.6*Mbit, Change{At: 80 * time.Second})
		var wg sync.WaitGroup
		for i := range 8 {
			us, peer := PairOf(Link{OneWay: 20 * time.Millisecond}, Link{
				Rate: 20 * Mbit, OneWay: 20 * time.Millisecond, SlowStart: true, Bottleneck: ours, Buffer: 256 << 10,
			})
			wg.Go(func() {
				_, last := fetch(t, us, peer, 1.8e6) // 14.4 MB at 200 kB/s in all
				within(t, "a fetch", last, 72*time.Second, 0.02)
				time.Sleep(100*time.Second - last + time.Duration(i)*3*time.Second)
				_, last = fetch(t, us, peer, 1.8e6)
				within(t, "without the limit", last, 760*time.Millisecond, 0.02)
				us.Close()
				peer.Close()
			})
		}
		wg.Wait()
	})
}

// TestBothWaysShare: Pair puts both directions through the bottleneck.
func TestBothWaysShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(Link{Bottleneck: NewBottleneck(8 * Mbit), OneWay: 10 * time.Millisecond})
		var wg sync.WaitGroup
		start := time.Now()
		for _, c := range [][2]*Conn{{a, b}, {b, a}} {
			wg.Go(func() { c[0].Write(make([]byte, 1e6)) })
			wg.Go(func() {
				io.ReadFull(c[1], make([]byte, 1e6))
				within(t, "a megabyte each way", time.Since(start), 2010*time.Millisecond, 0.002)
			})
		}
		wg.Wait()
	})
}

// TestBottleneckCloses: what waits at a bottleneck is delivered after the writer
// closed, and is gone when the reader has.
func TestBottleneckCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := NewBottleneck(8 * Mbit)
		way := Link{Bottleneck: pipe, OneWay: 10 * time.Millisecond}
		start := time.Now()
		a, b := PairOf(way, Link{OneWay: 10 * time.Millisecond})
		a.Write(make([]byte, 500_000))
		a.Close()
		if n, err := io.Copy(io.Discard, b); n != 500_000 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
		wantAt(t, "the end", start, 510*time.Millisecond)

		start = time.Now()
		c, d := PairOf(way, Link{OneWay: 10 * time.Millisecond})
		c.Write(make([]byte, 500_000))
		time.Sleep(100 * time.Millisecond)
		d.Close()
		e, f := PairOf(way, Link{})
		e.Write(make([]byte, 100_000))
		io.ReadFull(f, make([]byte, 100_000))
		if got := time.Since(start); got > 213*time.Millisecond {
			t.Errorf("another's 100 kB are in after %v, though nothing else waits", got)
		}
		if _, err := c.Write(make([]byte, 10)); err == nil {
			t.Error("nobody told the writer that its reader has closed")
		}
	})
}

// TestBottleneckInRealTime: nothing is early and nothing hangs.
func TestBottleneckInRealTime(t *testing.T) {
	pipe := NewBottleneck(80 * Mbit)
	start := time.Now()
	var wg sync.WaitGroup
	for range 4 {
		a, b := PairOf(Link{Bottleneck: pipe, OneWay: time.Millisecond}, Link{})
		wg.Go(func() {
			a.Write(make([]byte, 200_000))
			a.Close()
			if n, err := io.Copy(io.Discard, b); n != 200_000 || err != nil {
				t.Errorf("read %d, %v", n, err)
			}
		})
	}
	wg.Wait()
	if got := time.Since(start); got < 81*time.Millisecond {
		t.Errorf("800 kB took %v, 81 ms is the least", got)
	}
}

// TestNewBottleneckTakesAnything: a rate out of range is none, and a bottleneck
// without a limit lets all through.
func TestNewBottleneckTakesAnything(t *testing.T) {
	for _, rate := range []BitRate{0, -1, BitRate(math.NaN())} {
		synctest.Test(t, func(t *testing.T) {
			a, b := Pair(Link{Bottleneck: NewBottleneck(rate)})
			if _, last := fetch(t, a, b, 1<<20); last > time.Millisecond {
				t.Errorf("took %v at a bottleneck of %v", last, rate)
			}
		})
	}
}

// TestTurns: among those that are ready it is the turn of who has had least, the
// older one if equal.
func TestTurns(t *testing.T) {
	b := NewBottleneck(Mbit)
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		b.busy = nil
		for i := range 1 + r.IntN(6) {
			h := &half{}
			h.queue.id, h.queue.tag, h.queue.ready = i, r.Int64N(3), time.Duration(r.IntN(4))
			b.busy = append(b.busy, h)
		}
		r.Shuffle(len(b.busy), func(i, j int) { b.busy[i], b.busy[j] = b.busy[j], b.busy[i] })
		at := b.start()
		got := &b.next(at).queue
		if got.ready > at {
			t.Fatalf("goes at %v, ready at %v", at, got.ready)
		}
		for _, h := range b.busy {
			if q := &h.queue; q.ready <= at && q != got && (q.tag < got.tag || q.tag == got.tag && q.id < got.id) {
				t.Fatalf("%+v goes before %+v", *got, *q)
			}
		}
	}
}
