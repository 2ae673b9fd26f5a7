package status

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/ranking"
)

// still is a meter that knows nothing.
type still struct{}

func (still) Reading() burst.Reading { return burst.Reading{} }
func (still) Begin() func()          { return func() {} }

// TestRanking: nothing before there is a ranker, and then what it knows.
func TestRanking(t *testing.T) {
	var peers Peers
	var ranked Ranking
	s, err := Start(t.Context(), "127.0.0.1:0", Handler(&peers, metrics.WithRanker(&ranked)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := func(text string) {
		t.Helper()
		if code, body := get(t, "http://"+s.Addr()+"/metrics"); code != http.StatusOK || !strings.Contains(body, text) {
			t.Errorf("%d, want %q in %s", code, text, body)
		}
	}
	want("assay_ranking_connected_peers 0\n")
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Join(0, ranking.Peer{ID: "alice", Meter: still{}}); err != nil {
		t.Fatal(err)
	}
	ranked.Set(r, func() time.Duration { return time.Second }, 1000)
	want("assay_ranking_connected_peers 1\n")
	want(`assay_ranking_top_expected_seconds{slot="1"}`)
}
