package labview

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// View is what has been seen of a run. It is safe for concurrent use.
type View struct {
	s *scenario.Scenario

	mu     sync.Mutex
	now    time.Duration // of the newest event
	lines  []string      // not yet taken
	peers  map[string]*seen
	order  []string       // peers as they came
	said   map[string]int // how often a peer had an event of a kind
	plans  map[int]plan
	status string
	early  int // peers there from the beginning, not yet told
	user   progress
}

// seen is what has been seen of a peer.
type seen struct {
	bad             bool
	there           bool
	picks           int // primaries of the user's fetches
	predicted, took time.Duration
}

// plan is who was asked first for a datum, and what was predicted of it.
type plan struct {
	peer      string
	predicted time.Duration
}

// progress is of the user's fetches.
type progress struct {
	began, ended, failed, bad int
	waited                    time.Duration
}

// New returns a view of a scenario before its first event.
func New(s *scenario.Scenario) *View {
	return &View{s: s, peers: map[string]*seen{}, said: map[string]int{}, plans: map[int]plan{}}
}

// Observe takes an event; it is for engine.PlayOptions.
func (v *View) Observe(e engine.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = max(v.now, e.At)
	if e.Kind != engine.PeerJoined {
		v.tellEarly()
	}
	switch e.Kind {
	case engine.PeerJoined, engine.PeerLeft:
		v.membership(e)
	case engine.FetchBegan:
		if e.User {
			v.user.began++
		}
	case engine.FetchPlanned:
		v.plan(e)
	case engine.FetchEnded:
		v.ended(e)
	case engine.TransferBegan:
		v.asked(e)
	case engine.TransferAdvised:
		v.say("%s, fetch %d: advice: %s", v.name(e.Peer), e.Fetch, e.Text)
	case engine.TransferEnded:
		v.transferred(e)
	case engine.ChooserSaid:
		v.report(e.Ranking)
	case engine.FaultBegan:
		v.say("our own fault: %s", e.Text)
	case engine.Violated:
		v.say("A CHECK OF THE LAB FAILED: %s: %s", e.Peer, e.Text)
	}
}

// Lines returns the lines of the log since the last call.
func (v *View) Lines() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := v.lines
	v.lines = nil
	return lines
}

// mostLines bounds those that nobody takes.
const mostLines = 10_000

// say adds a line to the log. Needs mu.
func (v *View) say(format string, args ...any) {
	if len(v.lines) < mostLines {
		v.lines = append(v.lines, fmt.Sprintf("%7s  %s", clock(v.now), fmt.Sprintf(format, args...)))
	}
}

// atOnce is until when a peer counts as there from the beginning.
const atOnce = 50 * time.Millisecond

func (v *View) membership(e engine.Event) {
	p := v.peer(e.Peer)
	p.there = e.Kind == engine.PeerJoined
	switch {
	case p.there && e.At < atOnce:
		v.early++
	case p.there:
		v.tellEarly()
		v.say("%s joins", v.name(e.Peer))
	case v.user.ended < v.s.Workload.Fetches: // else the run is over, and all leave
		v.say("%s leaves", v.name(e.Peer))
	}
}

// tellEarly tells of the peers that were there from the beginning. Needs mu.
func (v *View) tellEarly() {
	if v.early > 0 {
		v.say("%d peers are there; first each is asked by itself, if the scenario has a warm-up", v.early)
		v.early = 0
	}
}

// counted is what a count in the file adds to a name, and again is the mark of a
// new identity.
var (
	counted = regexp.MustCompile(`-[0-9]+$`)
	again   = regexp.MustCompile(`~[0-9]+$`)
)

// peer is one by its name. Needs mu.
func (v *View) peer(name string) *seen {
	p, ok := v.peers[name]
	if !ok {
		p = &seen{bad: v.bad(name)}
		v.peers[name] = p
		v.order = append(v.order, name)
	}
	return p
}

// bad says whether the file has a peer as an adversary.
func (v *View) bad(name string) bool {
	name = again.ReplaceAllString(name, "")
	family := counted.ReplaceAllString(name, "")
	return slices.ContainsFunc(v.s.Peers, func(p scenario.Peer) bool {
		return p.Bad && (p.Name == name && p.Count <= 1 || p.Name == family && p.Count > 1)
	})
}

// name is a peer's, with what the file says of it: this is the truth, which the
// ranker does not know.
func (v *View) name(peer string) string {
	if v.peer(peer).bad {
		return peer + " (bad)"
	}
	return peer
}

func (v *View) plan(e engine.Event) {
	if first, ok := v.plans[e.Fetch]; ok {
		v.say("fetch %d: asks %s after %s, %s", e.Fetch, v.name(e.Peer), first.peer, e.Text)
	}
	v.plans[e.Fetch] = plan{e.Peer, e.Predicted}
	p := v.peer(e.Peer)
	if !e.User {
		v.status = fmt.Sprintf("warm-up: asks %s for %s", v.name(e.Peer), amount(e.Bytes))
		return
	}
	p.picks++
	if p.bad {
		v.user.bad++
	}
	v.status = fmt.Sprintf("asks %s for %s, %s predicted: %s", v.name(e.Peer), amount(e.Bytes), seconds(e.Predicted), e.Text)
	if p.picks == 1 || p.bad {
		v.say("fetch %d: %s", e.Fetch, v.status)
	}
}

// slow is how many times as long as predicted a fetch takes that is told of.
const slow = 2

func (v *View) ended(e engine.Event) {
	p := v.plans[e.Fetch]
	delete(v.plans, e.Fetch)
	if e.User {
		v.user.ended++
		v.user.waited += e.Took
		if v.user.ended == v.s.Workload.Fetches {
			v.status = "all fetched; other runs of the scenario, the oracle's among them, may take a moment more"
		}
	}
	switch {
	case e.Failed && e.User:
		v.user.failed++
		v.say("fetch %d: nobody brought it in %s", e.Fetch, seconds(e.Took))
	case e.User && p.predicted > 0 && e.Took > slow*p.predicted:
		v.say("fetch %d: %s from %s took %s, where %s was predicted", e.Fetch, amount(e.Bytes), v.name(e.Peer), seconds(e.Took), seconds(p.predicted))
	}
}

func (v *View) asked(e engine.Event) {
	if e.Role == ranking.Primary {
		return
	}
	// A critical datum has copies from the start, which is no news after the first.
	key := e.Role.String()
	if v.said[key]++; e.Role == ranking.Redundant && v.said[key] > mostAlike {
		return
	}
	v.say("fetch %d: asks %s too (%s)", e.Fetch, v.name(e.Peer), e.Role)
	if e.Role == ranking.Redundant && v.said[key] == mostAlike {
		v.say("(no more of redundant copies)")
	}
}

func (v *View) transferred(e engine.Event) {
	switch e.Text {
	case "whole":
		p := v.peer(e.Peer)
		p.predicted, p.took = e.Predicted, e.Took
	case "another copy came first", "the run ended":
	default:
		v.say("%s, fetch %d: %s after %s and %s", v.name(e.Peer), e.Fetch, e.Text, seconds(e.Took), amount(e.Bytes))
	}
}

// mostAlike is how often the same is said of a peer.
const mostAlike = 3

// report tells what the ranker says.
func (v *View) report(e ranking.Event) {
	key := e.Kind.String() + " " + e.Peer
	if v.said[key]++; v.said[key] > mostAlike && e.Kind != ranking.VerdictChanged {
		return
	}
	switch e.Kind {
	case ranking.VerdictChanged:
		v.say("%s is found %s", v.name(e.Peer), e.Verdict.String())
	case ranking.Demoted, ranking.Redeemed:
		v.say("%s is %s: %s", v.name(e.Peer), e.Kind, e.Detail)
	case ranking.Hedged: // told where it begins
	default:
		v.say("%s", e.String())
	}
	if v.said[key] == mostAlike && e.Kind != ranking.VerdictChanged && e.Kind != ranking.Hedged {
		v.say("(no more of %s)", e.Kind)
	}
}
