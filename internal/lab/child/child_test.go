package child

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What the child does, which the tests below start.
var (
	does  = flag.String("child.does", "", "write, panic, hang, fail or nothing")
	where = flag.String("child.out", "", "the file to write")
)

func TestChild(t *testing.T) {
	switch *does {
	case "write":
		if err := os.WriteFile(*where, []byte(`{"answer": 42}`), 0o644); err != nil {
			t.Fatal(err)
		}
	case "torn":
		_ = os.WriteFile(*where, []byte(`{"answer": `), 0o644)
	case "panic":
		panic("the roof is on fire")
	case "hang":
		time.Sleep(time.Hour)
	case "fail":
		t.Fatal(strings.Repeat("it is no good ", 1000))
	}
}

func child(t *testing.T, does string, limit time.Duration) Run {
	out := filepath.Join(t.TempDir(), "result.json")
	return Run{Test: "TestChild", Out: out, Limit: limit, Flags: []string{"-child.does=" + does, "-child.out=" + out}}
}

func TestDo(t *testing.T) {
	var got struct{ Answer int }
	if used, err := child(t, "write", time.Minute).Do(&got); err != nil || got.Answer != 42 || used <= 0 {
		t.Errorf("%+v after %v, %v", got, used, err)
	}
}

// What becomes of a child is said, and what it said of it.
func TestFailures(t *testing.T) {
	for does, want := range map[string]string{
		"panic":   "the roof is on fire",
		"hang":    "test timed out",
		"fail":    "it is no good",
		"torn":    "unexpected end",
		"nothing": ErrNothing.Error(),
	} {
		t.Run(does, func(t *testing.T) {
			limit := time.Minute
			if does == "hang" {
				limit = 200 * time.Millisecond
			}
			r := child(t, does, limit)
			// What is left from before must not pass for its result.
			if err := os.WriteFile(r.Out, []byte(`{"answer": 7}`), 0o644); err != nil {
				t.Fatal(err)
			}
			var got struct{ Answer int }
			_, err := r.Do(&got)
			if err == nil || !strings.Contains(err.Error(), want) || got.Answer != 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if hung := errors.Is(err, ErrHung); hung != (does == "hang") {
				t.Errorf("hung: %v", hung)
			}
			if n := len(err.Error()); n > mostSaid+200 {
				t.Errorf("%d bytes are said", n)
			}
		})
	}
}

// Jobs are done so many at a time and told of in their order.
func TestAll(t *testing.T) {
	var jobs, told []int
	for i := range 40 {
		jobs = append(jobs, i)
	}
	var now, most atomic.Int32
	All(jobs, 3, func(i int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Duration(40-i) * 100 * time.Microsecond)
		now.Add(-1)
	}, func(i int) { told = append(told, i) })
	if !slices.Equal(told, jobs) || most.Load() > 3 {
		t.Errorf("%v, %d at once", told, most.Load())
	}
	All(nil, 0, func(int) {}, func(int) { t.Error("told of nothing") })
}
