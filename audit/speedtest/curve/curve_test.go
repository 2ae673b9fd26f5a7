package curve

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)+1e-6
}

// TestLumpsDoNotShow: whatever the lumps, a steady rate has the same seconds.
func TestLumpsDoNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Pow(10, rapid.Float64Range(5, 8.1).Draw(t, "log rate"))
		lump := rapid.IntRange(1000, 64<<10).Draw(t, "lump")
		var c Curve
		for sent := lump; ; sent += lump {
			at := time.Duration(float64(sent) / rate * float64(time.Second))
			c.Add(at, lump)
			if at > 6*time.Second || float64(sent) > rate*6 {
				break
			}
		}
		for i, r := range c.Seconds(time.Second, 5*time.Second) {
			if !near(r, rate, 1e-6) {
				t.Fatalf("second %d: %g, want %g", i, r, rate)
			}
		}
	})
}

// TestBytesAreKept: all bytes are in the total and in the steps.
func TestBytesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Curve
		var at time.Duration
		var sum int64
		for range rapid.IntRange(0, 50).Draw(t, "arrivals") {
			at += time.Duration(rapid.Int64Range(-1e8, 3e9).Draw(t, "gap"))
			n := rapid.IntRange(-5, 1e6).Draw(t, "bytes")
			c.Add(at, n)
			sum += int64(max(n, 0))
		}
		if c.Bytes() != sum {
			t.Fatalf("%d bytes, want %d", c.Bytes(), sum)
		}
		if got := c.sum(0, len(c.bins)); !near(got, float64(sum), 1e-9) {
			t.Fatalf("the steps hold %g, want %d", got, sum)
		}
	})
}

func TestStallsAreSeconds(t *testing.T) {
	var c Curve
	for i := range 1001 { // 1 MB/s for a second, then for another after two of silence
		c.Add(time.Duration(i)*time.Millisecond, 1000)
	}
	c.Add(3*time.Second, 1)
	for i := range 1000 {
		c.Add(3*time.Second+time.Duration(i+1)*time.Millisecond, 1000)
	}
	got := c.Seconds(0, c.Last())
	for i, want := range []float64{1e6, 0, 0, 1e6} {
		if math.Abs(got[i]-want) > 2000 {
			t.Errorf("second %d: %g, want %g", i, got[i], want)
		}
	}
	if m := Median(got); math.Abs(m-0.5e6) > 2000 {
		t.Errorf("median %g", m)
	}
	if best, over := c.Best(0, c.Last(), time.Second); math.Abs(best-1e6) > 2000 || over != time.Second {
		t.Errorf("best second %g over %v", best, over)
	}
}

// TestBestAgainstPlain holds the sliding sum against summing each window anew.
func TestBestAgainstPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Curve
		var at time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "arrivals") {
			at += time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "gap"))
			c.Add(at, rapid.IntRange(1, 1e6).Draw(t, "bytes"))
		}
		from := time.Duration(rapid.IntRange(0, 50).Draw(t, "from")) * Step
		to := from + time.Duration(rapid.IntRange(0, 200).Draw(t, "span"))*Step
		length := time.Duration(rapid.IntRange(1, 120).Draw(t, "length")) * Step
		got, over := c.Best(from, to, length)
		want := 0.0
		for f := from; f+over <= to && over > 0; f += Step {
			want = max(want, c.Rate(f, f+over))
		}
		if over != min(length, to-from) || !near(got, want, 1e-9) {
			t.Fatalf("%g over %v, want %g over %v", got, over, want, min(length, to-from))
		}
	})
}

func TestEdges(t *testing.T) {
	var c Curve
	if c.Rate(0, time.Second) != 0 || len(c.Seconds(0, time.Second)) != 1 || c.Seconds(time.Second, 0) != nil {
		t.Error("an empty curve has a rate")
	}
	if r, over := c.Best(time.Second, 0, time.Second); r != 0 || over != 0 {
		t.Error("no span has a best")
	}
	c.Add(0, 5)
	c.Add(math.MaxInt64, 1000) // a clock gone mad costs neither memory nor time
	c.Add(0, 7)
	if c.Bytes() != 1012 || len(c.bins) > int(MaxLength/Step) {
		t.Errorf("%d bytes in %d steps", c.Bytes(), len(c.bins))
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := Median(tt.in); got != tt.want {
			t.Errorf("%v: %g, want %g", tt.in, got, tt.want)
		}
	}
	in := []float64{3, 1, 2}
	if Median(in); in[0] != 3 {
		t.Error("the order has changed")
	}
}

func Example() {
	var c Curve
	for i := range 50 { // 16 KiB every 131 ms: 1 Mbit/s
		c.Add(time.Duration(i+1)*131072*time.Microsecond, 16<<10)
	}
	seconds := c.Seconds(time.Second, 6*time.Second)
	fmt.Printf("%.0f B/s in the median of %d seconds\n", Median(seconds), len(seconds))
	// Output:
	// 125000 B/s in the median of 5 seconds
}
