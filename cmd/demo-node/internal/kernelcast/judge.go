package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// errBars says that it did not end as it must; the text after it says how.
var errBars = errors.New("the cast did not end as it must")

// The bars on the user's fetches.
const (
	regretBar   = 0.10
	leastBefore = 5 // fetches of each peer before the user's
)

// reason is why a peer ranks where it does, from what was measured alone.
func (t *tally) reason(s ranking.Standing) string {
	often := func(n int) bool { return n > 0 && 2*n >= t.parts }
	switch {
	case s.Verdict.Kind != audit.Clear:
		return s.Verdict.Kind.String()
	case often(t.troubled[ranking.Stalled]):
		return silent
	case s.Dropped, often(max(t.troubled[ranking.Collapsed], t.troubled[ranking.Hopeless])):
		return trickles
	}
	return delivers
}

// judge prints the ranking beside the truth, and says what is not as it must be.
func (p *play) judge(w io.Writer) error {
	f := p.stage.fetch
	ranked := f.Ranker().Rank(f.Now(), usual, len(p.cast))
	fmt.Fprintf(w, "%4s %-8s %-26s %8s %9s %6s %6s  %-12s %s\n", "rank", "peer", "truth", "true s", "expected", "fetch", "user's", "verdict", "reason")
	var misses []string
	for i, s := range ranked {
		m, t := p.member(s.Peer), p.tally[s.Peer]
		reason := t.reason(s)
		fmt.Fprintf(w, "%4d %-8s %-26s %8.2f %9.2f %6d %6d  %-12v %s\n", i+1, m.name, m.kind, m.takes(usual).Seconds(),
			s.Expected.Seconds(), t.parts, t.picked, s.Verdict.Kind, reason)
		misses = append(misses, p.judgeOne(m, t, s, reason)...)
		for _, below := range ranked[i+1:] {
			if b := p.member(below.Peer); b.honest && !m.honest && b.takes(usual) < m.takes(usual) {
				misses = append(misses, fmt.Sprintf("%s ranks above %s, which is truly faster", m.name, b.name))
			}
		}
	}
	regret, worst := p.regret()
	fmt.Fprintf(w, "%d fetches, %d the user's; regret %.1f %% of what the best peer takes by itself (bar %.0f), %.1f %% of what its path allows\n",
		p.all, len(p.choices), 100*regret, 100*regretBar, 100*worst)
	l := p.stage.net.Lateness()
	fmt.Fprintf(w, "the emulator was late by %v on average, %v at the worst\n", l.Mean, l.Worst)
	if !(regret <= regretBar) {
		misses = append(misses, fmt.Sprintf("regret %.3f", regret))
	}
	if len(misses) > 0 {
		return fmt.Errorf("%w: %q", errBars, misses)
	}
	fmt.Fprintln(w, "all as it must be")
	return nil
}

// judgeOne looks at one peer's verdict and reason.
func (p *play) judgeOne(m member, t *tally, s ranking.Standing, reason string) (misses []string) {
	if m.honest && (s.Verdict.Kind == audit.Withholding || s.Verdict.Kind == audit.ProvenLie) {
		misses = append(misses, fmt.Sprintf("honest %s is found %v: %s", m.name, s.Verdict.Kind, s.Verdict.Reason()))
	}
	if !m.honest && !m.right(reason) {
		misses = append(misses, fmt.Sprintf("%s (%s) is where it is for %s, which is not why", m.name, m.kind, reason))
	}
	if t.parts-t.picked < leastBefore && m.honest {
		misses = append(misses, fmt.Sprintf("%s was asked %d times before the user", m.name, t.parts-t.picked))
	}
	return misses
}

func (p *play) member(name string) member {
	return p.cast[slices.IndexFunc(p.cast, func(m member) bool { return m.name == name })]
}

// regret is how much longer the user's fetches took than an oracle's, which
// always asks the peer that is truly best, as a share: an oracle's that takes
// what that peer took when it was asked alone, and one's that takes what the
// path allows.
func (p *play) regret() (measured, ideal float64) {
	honest := slices.DeleteFunc(slices.Clone(p.cast), func(m member) bool { return !m.honest })
	best := slices.MinFunc(honest, func(a, b member) int { return int(a.takes(usual) - b.takes(usual)) })
	alone := make(map[int64][]time.Duration)
	for _, c := range p.choices {
		if c.from == best.name && c.part == 1 {
			alone[c.size] = append(alone[c.size], c.took)
		}
	}
	var took, oracle, path time.Duration
	for _, c := range p.choices {
		took += c.took
		path += best.takes(c.size)
		oracle += mean(alone[c.size])
	}
	return took.Seconds()/oracle.Seconds() - 1, took.Seconds()/path.Seconds() - 1
}

// mean is zero of none, which makes any regret infinite.
func mean(all []time.Duration) (m time.Duration) {
	for _, d := range all {
		m += d / time.Duration(len(all))
	}
	return m
}
