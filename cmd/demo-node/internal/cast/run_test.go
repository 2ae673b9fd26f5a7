package cast

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is a writer for several goroutines.
type screen struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

// TestRun plays for a few seconds: too short for the bars, which only a long run
// can hold, but all are there, the liar is caught, and nothing is left behind.
func TestRun(t *testing.T) {
	live := new(screen)
	doc, err := Run(t.Context(), Config{Length: 8 * time.Second, Live: live})
	if doc == nil {
		t.Fatal(err)
	}
	if err != nil && !errors.Is(err, ErrBars) && !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	if len(doc.Peers) != len(Members()) {
		t.Fatalf("%d peers", len(doc.Peers))
	}
	for i, p := range doc.Peers {
		if p.Rank != i+1 || p.Picked == 0 || p.TrueSeconds <= 0 || p.Reason == "" || p.Kind == "" {
			t.Errorf("row %+v", p)
		}
		if p.Peer == "liar" && (Cause(p.Cause) != Lie || !p.Demoted) {
			t.Errorf("the liar: %+v", p)
		}
	}
	for _, want := range []string{"8 peers joined", "ranking: ", "liar is found proven lie", "now a user fetches"} {
		if !strings.Contains(live.all.String(), want) {
			t.Errorf("nothing said of %q in\n%s", want, live.all.String())
		}
	}
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	doc, err := Run(ctx, Config{Length: time.Minute})
	if doc != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", doc, err)
	}
}
