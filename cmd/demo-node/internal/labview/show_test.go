package labview

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/ranking"
)

// screen is a terminal of so many rows that understands what a view writes.
type screen struct {
	mu    sync.Mutex
	lines []string // all, those scrolled out too
	row   int
	bad   string
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(p)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[A"):
			text, s.row = text[3:], s.row-1
		case strings.HasPrefix(text, "\x1b[J"):
			text, s.lines = text[3:], s.lines[:s.row]
		case strings.HasPrefix(text, "\r"):
			text = text[1:]
		default:
			line, rest, whole := strings.Cut(text, "\n")
			if !whole || strings.ContainsAny(line, "\x1b\r") || s.row != len(s.lines) {
				s.bad = fmt.Sprintf("%q at row %d of %d", text, s.row, len(s.lines))
			}
			s.lines, s.row, text = append(s.lines, line), s.row+1, rest
		}
	}
	return len(p), nil
}

func rank(int64) (time.Duration, []ranking.Standing) { return time.Second, standings() }

// TestTerminal: the log stays and the table is drawn anew below it, once only on the
// screen at the end, with the ranking that there was.
func TestTerminal(t *testing.T) {
	var s screen
	v := New(scene(t))
	live := true
	d := &drawing{v: v, s: Screen{W: &s, Size: func() (int, int) { return 100, 30 }, Rank: func(n int64) (time.Duration, []ranking.Standing) {
		if !live {
			return time.Second, nil
		}
		return rank(n)
	}}}
	for _, e := range script() {
		v.Observe(e)
		d.draw(true)
	}
	live = false // the run is over, and nobody is connected
	d.draw(true)
	text := strings.Join(s.lines, "\n")
	if s.bad != "" || strings.Count(text, "predicted  actual") != 1 || strings.Count(text, "] 3 of 4 fetches") != 1 {
		t.Errorf("%s\n%s", s.bad, text)
	}
	for _, want := range []string{"fetch 2: asks good-1", "is demoted: it stalls", "1  good-1 ", "DEMOTED, withholdin…"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is there %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
}

// TestPlainLines: without a terminal there are lines and no control characters, and
// progress where it is due.
func TestPlainLines(t *testing.T) {
	var b strings.Builder
	v := New(scene(t))
	d := &drawing{v: v, s: Screen{W: &b, Rank: rank}}
	for i, e := range script() {
		v.Observe(e)
		d.draw(i == 12)
	}
	text := b.String()
	if strings.ContainsAny(text, "\x1b\r") || strings.Count(text, "ranking: good-1, good-2, cheat (bad)") != 1 || !strings.HasSuffix(text, "a rate too high\n") {
		t.Error(text)
	}
	if n := strings.Count(text, "\n"); n != 14+1 {
		t.Errorf("%d lines in\n%s", n, text)
	}
}

// TestShowEnds: what came last is shown, and its goroutine ends.
func TestShowEnds(t *testing.T) {
	var b strings.Builder // read only after the end
	v := New(scene(t))
	end := v.Show(Screen{W: &b, Rank: new(Probe).Rank})
	v.Observe(engine.Event{Kind: engine.FaultBegan, Text: "the last"})
	end()
	if !strings.Contains(b.String(), "our own fault: the last\n") || !strings.Contains(b.String(), "0 of 4 fetches") {
		t.Error(b.String())
	}
}

func TestProbe(t *testing.T) {
	var p Probe
	if now, rank := p.Rank(1000); now != 0 || rank != nil {
		t.Errorf("before the run: %v, %v", now, rank)
	}
	c, err := p.New(engine.Setting{Seed: 1, Window: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if now, rank := p.Rank(1000); now <= 0 || len(rank) != 0 || c.Name() != "assay" {
		t.Errorf("of nobody: %v, %v", now, rank)
	}
	p.ranker = ranks{}
	if _, rank := p.Rank(1000); len(rank) != 3 {
		t.Errorf("%v", rank)
	}
}

// ranks ranks as the script ends.
type ranks struct{}

func (ranks) Rank(time.Duration, int64, int) []ranking.Standing { return standings() }

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestSummary(t *testing.T) {
	d := &engine.Document{
		Scenario: "pacer", Seed: 3, Pass: true, Assay: &engine.Result{}, Oracle: &engine.Result{},
		Bars: []engine.BarResult{{Bar: "failed is 0", Found: "0", Pass: true, Why: "all come"}, {Bar: "x is 1", Found: "1", Pass: true}},
	}
	var b strings.Builder
	if err := Summary(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{engine.Header() + "\n" + d.Line() + "\n", "  pass  failed is 0: 0 (all come)\n", "  pass  x is 1: 1\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "jitter") {
		t.Error("what passes is excused")
	}
	d.Pass, d.Bars[1].Pass = false, false
	b.Reset()
	if err := Summary(&b, d); err != nil || !strings.Contains(b.String(), "  FAIL  x is 1: 1\n") || !strings.Contains(b.String(), "make lab") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if Summary(full{}, d) == nil {
		t.Error("nobody is told that it could not be written")
	}
}
