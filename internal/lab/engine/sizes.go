package engine

import (
	"slices"
	"time"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

// SizeResult is a peer by data of one size.
type SizeResult struct {
	// Name is the size as a file has it, in the largest unit of which it is a whole
	// number.
	Name string `json:"name"`
	// Completed counts the data of the size that it brought whole, by itself, and Took
	// is how long they took on average; 0 if there are none.
	Completed int     `json:"completed"`
	Took      float64 `json:"took"`
	// Expected is how long the chooser expects one to take of it at the end of the run,
	// which is what ranks it; 0 where it has no such opinion, or does not know the peer.
	Expected float64 `json:"expected"`
}

// sizes are those of all data of a file, the least first.
func sizes(l *scenario.Workload) []scenario.Size {
	all := slices.Clone(l.Sizes)
	if l.Warmup != nil {
		all = append(all, l.Warmup.Sizes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ranked notes what the chooser thinks of everybody, by size: at the end, while they
// are still connected.
func (w *world) ranked() {
	now := w.now()
	for _, a := range w.everyone() {
		for _, n := range sizes(&w.s.Workload) {
			e := w.expected(now, a.id, int64(n))
			w.log.mu.Lock()
			t := w.log.tally(a.id)
			t.expected = append(t.expected, e)
			w.log.mu.Unlock()
		}
	}
}

// bySize sums up what a peer brought of each size.
func (p *PeerResult) bySize(l *scenario.Workload, r *Result, expected []time.Duration) {
	for i, n := range sizes(l) {
		s := &SizeResult{Name: n.String()}
		if i < len(expected) {
			s.Expected = expected[i].Seconds()
		}
		for _, t := range r.Transfers {
			if t.Peer == p.Name && t.End == "whole" && t.Offset == 0 && t.Got == int64(n) {
				s.Completed++
				s.Took += t.Took
			}
		}
		if s.Completed > 0 {
			s.Took /= float64(s.Completed)
		}
		p.Sizes = append(p.Sizes, s)
	}
}
