package cast

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/ranking"
)

// quietPlay is one without a stage.
func quietPlay(live *screen) *play {
	p := &play{cfg: Config{Live: live}.normal(), members: Members(), began: time.Now(), turn: make(chan struct{}, 1), tally: map[string]*tally{}, picks: map[string]int{}}
	for _, m := range p.members {
		p.tally[m.Name] = &tally{troubled: map[ranking.Trouble]int{}}
	}
	return p
}

func TestNote(t *testing.T) {
	p := quietPlay(new(screen))
	for range 3 {
		p.note(fetcher.Result{Parts: []fetcher.Part{
			{Peer: "pacer", Troubles: []ranking.Trouble{ranking.Stalled, ranking.Late}},
			{Peer: "fast", Role: ranking.Hedge},
		}})
	}
	if got := p.tally["pacer"]; got.fetches != 3 || got.troubled[ranking.Stalled] != 3 || got.troubled[ranking.Late] != 3 {
		t.Errorf("the pacer: %+v", got)
	}
	if got := p.tally["fast"]; got.fetches != 3 || len(got.troubled) != 0 {
		t.Errorf("the fast one: %+v", got)
	}
}

func TestOthers(t *testing.T) {
	p := quietPlay(new(screen))
	for _, m := range p.members {
		if got := p.others(m); len(got) != len(p.members)-1 || slices.Contains(got, m.Name) {
			t.Errorf("others than %s: %v", m.Name, got)
		}
	}
}

// TestSay: lines don't mix.
func TestSay(t *testing.T) {
	live := new(screen)
	p := quietPlay(live)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { p.say("line %d", i) })
	}
	wg.Wait()
	form := regexp.MustCompile(`^ +\d\.\d s  line \d+$`)
	for line := range strings.Lines(live.all.String()) {
		if !form.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("line %q", line)
		}
	}
	if n := strings.Count(live.all.String(), "\n"); n != 20 {
		t.Errorf("%d lines", n)
	}
}

// TestEvents: what a person wants to know is said, and nothing twice.
func TestEvents(t *testing.T) {
	caught := audit.Verdict{Kind: audit.ProvenLie, Kinds: 1 << audit.ProvenLie, Lie: audit.FalseSize}
	for kind, want := range map[ranking.EventKind]string{
		ranking.VerdictChanged: "liar is found proven lie: gave a size that the datum proved false",
		ranking.DropNow:        "drop_now liar",
		ranking.HoldBegan:      "hold_began",
		ranking.Redeemed:       "redeemed liar",
		ranking.Demoted:        "", ranking.SizeLie: "", ranking.CriticalMissed: "", ranking.AttesterFault: "",
	} {
		live := new(screen)
		quietPlay(live).event(ranking.Event{Kind: kind, Peer: "liar", Verdict: caught})
		if got := live.all.String(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%v: said %q, want %q", kind, got, want)
		}
	}
}

func TestRest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	rest(ctx, time.Hour)
	if time.Since(began) > time.Minute {
		t.Error("rested on")
	}
	rest(t.Context(), time.Nanosecond)
}

// TestNoStage: where nothing can be set up that is said, and nothing is left.
func TestNoStage(t *testing.T) {
	t.Setenv("TMPDIR", "/dev/null")
	doc, err := Run(t.Context(), Config{Length: time.Second})
	if doc != nil || err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("%v, %v", doc, err)
	}
}

// TestStageIsCleared: no file stays.
func TestStageIsCleared(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	joined, ranked := 0, 0
	cfg := Config{
		Length: time.Second,
		Ranked: func(r *ranking.Ranker, clock func() time.Duration, size int64) {
			if ranked++; r == nil || clock() < 0 || size != wantedSize {
				t.Errorf("ranker %v for %d bytes", r, size)
			}
		},
	}.normal()
	s, err := setUp(t.Context(), cfg, Members(), func(ranking.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	joined = len(s.peers)
	if len(s.wanted) != data || len(s.filler) != data || joined != len(Members()) || ranked != 1 {
		t.Errorf("%d wanted, %d fillers, %d peers, %d rankers", len(s.wanted), len(s.filler), joined, ranked)
	}
	s.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := setUp(ctx, cfg, Members(), func(ranking.Event) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind by what did not begin: %v", left)
	}
}

// TestRepeat: only what a held verdict may explain is played again, and not for
// ever.
func TestRepeat(t *testing.T) {
	doc := new(report.Cast)
	type end struct {
		doc  *report.Cast
		held bool
		err  error
	}
	bars, held := end{doc, false, ErrBars}, end{doc, true, ErrBars}
	tests := map[string]struct {
		takes []end
		want  error
	}{
		"well":              {[]end{{doc, false, nil}}, nil},
		"well, though held": {[]end{{doc, true, nil}}, nil},
		"badly":             {[]end{bars}, ErrBars},
		"held, then well":   {[]end{held, {doc, false, nil}}, nil},
		"held, then badly":  {[]end{held, bars}, ErrBars},
		"held for ever":     {[]end{held, held, held}, ErrBusy},
		"interrupted":       {[]end{held, {nil, false, context.Canceled}}, context.Canceled},
	}
	for name, tt := range tests {
		n := 0
		_, err := repeat(t.Context(), Config{}.normal(), func(_ context.Context, cfg Config) (*report.Cast, bool, error) {
			n++
			if cfg.last != (n == mostTakes) {
				t.Errorf("%s: take %d is said to be the last: %v", name, n, cfg.last)
			}
			return tt.takes[n-1].doc, tt.takes[n-1].held, tt.takes[n-1].err
		})
		if n != len(tt.takes) || !errors.Is(err, tt.want) || errors.Is(err, ErrBusy) != errors.Is(tt.want, ErrBusy) {
			t.Errorf("%s: %v after %d takes, want %v after %d", name, err, n, tt.want, len(tt.takes))
		}
	}
}
