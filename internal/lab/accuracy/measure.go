package accuracy

import (
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
)

// State is what the connection did before a fetch.
type State uint8

// The states.
const (
	// Cold: it was idle for so long that slow start begins anew.
	Cold State = iota
	// Warm: it just carried as many bytes, after it was cold.
	Warm
	// Hot: it just carried the longest fetch.
	Hot

	states
)

// String returns the state as a word.
func (s State) String() string {
	return [states + 1]string{"cold", "warm", "hot", "unknown"}[min(s, states)]
}

// cooling is the idleness before a cold fetch: a hundred timeouts, each of which
// halves the window.
const cooling = 60 * time.Second

// Fetch is one fetch, and what was predicted of it.
type Fetch struct {
	Way   Way
	State State
	Bytes int64

	Actual time.Duration
	Own    time.Duration // predicted with the node's own estimates
	True   time.Duration // and with the true parameters of the path
}

// Run is all fetches over one way.
type Run struct {
	Way     Way
	Reading burst.Reading // the node's estimates, on which its predictions rest
	Fetches []Fetch
}

// Measure fetches over a way. It must be called in a bubble, for it takes hours.
func Measure(w Way, sizes []int64) (Run, error) {
	n, err := newNode(w)
	if err != nil {
		return Run{}, err
	}
	r := Run{Way: w}
	if err = r.all(n, sizes); err != nil {
		n.close()
		return r, err
	}
	return r, n.close()
}

// all makes the fetches: one to learn from, then those that are predicted.
func (r *Run) all(n *node, sizes []int64) error {
	if _, err := n.fetch(longest); err != nil {
		return err
	}
	r.Reading = n.session.Meter().Reading()
	for _, size := range sizes {
		time.Sleep(cooling)
		window := [2]int64{}
		for _, s := range []State{Cold, Warm} {
			if err := r.fetch(n, s, size, &window); err != nil {
				return err
			}
		}
	}
	window := [2]int64{}
	time.Sleep(cooling)
	if err := r.fetch(n, states, longest, &window); err != nil {
		return err
	}
	for _, size := range sizes {
		if err := r.fetch(n, Hot, size, &window); err != nil {
			return err
		}
	}
	return nil
}

// fetch makes one fetch, from the windows that each prediction believes the
// sender has, and updates these. One in no state is made only for those.
func (r *Run) fetch(n *node, s State, bytes int64, windows *[2]int64) error {
	own, truth := r.paths()
	own.LastWindow, truth.LastWindow = windows[0], windows[1]
	took, err := n.fetch(bytes)
	if err != nil {
		return err
	}
	windows[0], windows[1] = own.WindowAfter(bytes), truth.WindowAfter(bytes)
	if s < states {
		r.Fetches = append(r.Fetches, Fetch{
			Way: r.Way, State: s, Bytes: bytes, Actual: took,
			Own: ranking.Predict(bytes, own).Total, True: ranking.Predict(bytes, truth).Total,
		})
	}
	return nil
}

// paths are the way as the ranker makes it of the node's own reading, and as it
// is.
func (r *Run) paths() (own, truth ranking.Path) {
	e := r.Reading.Estimation
	own = ranking.Path{
		BaseRTT: r.Reading.BaseRTT, HighRTT: max(r.Reading.P95RTT, r.Reading.BaseRTT),
		Rate: e.Rate, StreamWindow: streamWindow,
	}
	if own.Rate == 0 {
		own.Rate = e.UpperBound
	}
	truth = ranking.Path{
		BaseRTT: r.Way.RTT, StreamWindow: streamWindow,
		Rate: burst.SecondsPerByte(8 / float64(r.Way.Rate)),
	}
	return own, truth
}
