package ranking

import (
	"fmt"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// AdviceKind says what to do about a fetch in flight.
type AdviceKind uint8

// The kinds of advice.
const (
	// Wait: it goes as it should, or nothing else would be sooner.
	Wait AdviceKind = iota
	// AddHedge: also ask the peer named for the missing range, by [Fetch.Add].
	AddHedge
	// Cancel: give this transfer up, by resetting its stream and Abort. If a peer is named, ask it for
	// the missing range in its place.
	Cancel
	// ResetConn: the connection is dead; end it, and Fail its fetches. Rare advice: it narrows who we
	// are connected to.
	ResetConn
)

// String returns the kind as a label: lower case, underscores.
func (k AdviceKind) String() string {
	switch k {
	case Wait:
		return "wait"
	case AddHedge:
		return "add_hedge"
	case Cancel:
		return "cancel"
	case ResetConn:
		return "reset_conn"
	}
	return "unknown"
}

// Trouble is why something is to be done about a fetch.
type Trouble uint8

// The troubles.
const (
	// NoTrouble: none.
	NoTrouble Trouble = iota
	// Delivered: another copy has come whole.
	Delivered
	// Stalled: no byte has come for too long, however much came before.
	Stalled
	// Late: it has taken twice what was expected.
	Late
	// Collapsed: its rate fell to a tenth of what was expected, the mark of a slow-loris.
	Collapsed
	// AtRisk: it will not keep its deadline.
	AtRisk
	// Hopeless: it blew its hard timeout. Its peer is to be dropped too.
	Hopeless
)

// String returns the trouble as a label: lower case, underscores.
func (t Trouble) String() string {
	switch t {
	case NoTrouble:
		return "none"
	case Delivered:
		return "delivered"
	case Stalled:
		return "stalled"
	case Late:
		return "late"
	case Collapsed:
		return "collapsed"
	case AtRisk:
		return "at_risk"
	case Hopeless:
		return "hopeless"
	}
	return "unknown"
}

// Advice is what to do about a fetch now. It is a value.
type Advice struct {
	Kind    AdviceKind
	Trouble Trouble
	// To is whom to ask for the missing range; of no name if nobody.
	To Pick
	// Left is how long it is expected to take still, by its progress; 0 unknown.
	Left time.Duration
	// Again is how long from now the next advice should be asked for.
	Again time.Duration
}

// String returns the advice with its reason in one line.
func (a Advice) String() string {
	s := fmt.Sprintf("%s (%s)", a.Kind, a.Trouble)
	if a.To.Peer != "" {
		s += fmt.Sprintf(": ask %s for %d bytes from %d", a.To.Peer, a.To.bytes, a.To.Offset)
	}
	return s
}

const (
	// stallLeast and stallRTTs base round trips without a byte are a stall.
	stallLeast = time.Second
	stallRTTs  = 4
	// collapsedTo is the share of the expected rate below which a rate has collapsed.
	collapsedTo = 0.1
	// hopelessAfter times the expected time a fetch is hopeless.
	hopelessAfter = 8
	// mostHedges is how many hedges one fetch may have. More helps where most peers stall together, and
	// costs a second each; those that bring nothing cost no bytes.
	mostHedges = 8
	// resetEvery is the least time between two pieces of advice to reset a connection.
	resetEvery = 10 * time.Minute
	// adviceLeast and adviceMost bound how soon to ask again.
	adviceLeast, adviceMost = 50 * time.Millisecond, time.Second
)

// spare says that nobody waits for it: it goes on when the datum is here, and is not hedged.
func (f *Fetch) spare() bool { return f.pick.Role == Shadow || f.pick.Role == Exploration }

// stallAfter is how long a silence is a stall. The first byte may take twice what was expected of it; but no
// more than all of the datum was, for echoes that are held make the claim longer, and completions know better.
func (f *Fetch) stallAfter() time.Duration {
	d := max(stallLeast, stallRTTs*f.pick.path.BaseRTT)
	if !f.first {
		d = max(d, 2*min(f.pick.claim.FirstByte(), duration(f.pick.expected)))
	}
	return d
}

// hard says whether the fetch has blown its hard timeout. One that is more than half done by its
// progress has not: expectations of a stranger may be off by as much.
func (f *Fetch) hard(now time.Duration, reading *burst.Reading) bool {
	at := now
	if f.received {
		at = f.receivedAt
	}
	took := f.took(at, reading)
	if took <= max(f.r.cfg.HardTimeout, duration(hopelessAfter*f.expected())) {
		return false
	}
	left := f.left(at)
	return left == 0 || left > took || f.silence(at) >= f.stallAfter()
}

// took is how long the fetch has taken so far, but for what was ours.
func (f *Fetch) took(at time.Duration, reading *burst.Reading) time.Duration {
	all, ours := f.elapsedAt(f.seen(at), reading)
	return all - ours
}

// Advice says what to do about the fetch. Ask anew after Again, whether or not something came: only who
// asks while a peer is silent learns whether its echoes still come, without which nobody is ever
// convicted of withholding for a stall.
func (f *Fetch) Advice(now time.Duration) Advice {
	r := f.r
	reading := f.conn.meter.Reading()
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.ended || f.received {
		return Advice{Kind: Wait, Again: adviceMost}
	}
	r.now = now
	if silence := f.silence(now); silence >= f.quietAfter() {
		f.quiet.look(silence, reading)
	}
	return r.advise(now, f, &reading)
}

func (r *Ranker) advise(now time.Duration, f *Fetch, reading *burst.Reading) Advice {
	a := Advice{Kind: Wait, Again: f.again(now, reading)}
	a.Left = f.left(now)
	a.Trouble = f.trouble(now, a.Left, reading)
	f.troubled = a.Trouble
	switch a.Trouble {
	case NoTrouble:
		return a
	case Delivered:
		a.Kind = Cancel
		return a
	case Stalled, Collapsed, Late, AtRisk: // hedge, if anybody would be sooner
	case Hopeless:
		r.dropNow(now, f, fmt.Sprintf("nothing after %v where %v was expected", round(now-f.began), round(duration(f.expected()))))
		a.Kind = Cancel
		if r.mayReset(now, f) {
			r.resetAt, r.resetEver = now, true
			a.Kind = ResetConn
		}
	}
	if f.spare() {
		return a
	}
	to, ok := r.hedgeFor(now, f, a)
	if ok {
		a.To = to
	}
	if a.Kind == Wait && ok {
		a.Kind = AddHedge
		if !r.mayHedge(now, f, to.bytes) {
			a.Kind = Cancel
		}
	}
	if a.Kind == Cancel && a.Trouble != Hopeless && a.Trouble != Stalled && a.Trouble != Collapsed {
		a.Kind, a.To = Wait, Pick{} // what comes late but comes is not thrown away
	}
	return a
}

// trouble says what is wrong with the fetch, the worst first. Nothing is while we read none of it.
func (f *Fetch) trouble(now, left time.Duration, reading *burst.Reading) Trouble {
	took := f.took(now, reading)
	rate, span := f.pace.rate(f.seen(now), f.got)
	expected := f.expected()
	switch {
	case f.job.delivered && !f.spare():
		return Delivered
	case f.pause.length(now) >= pauseLeast:
		return NoTrouble
	case f.hard(now, reading):
		return Hopeless
	case f.silence(now) >= f.stallAfter():
		return Stalled
	case f.first && span >= 2*paceSpan && rate < collapsedTo*float64(f.pick.bytes)/expected:
		return Collapsed
	case took.Seconds() > lateAfter*expected:
		return Late
	case f.job.plan.Deadline > 0 && left > 0 && now+left > f.job.plan.Deadline && took.Seconds() > expected/4:
		return AtRisk
	}
	return NoTrouble
}

// left is how long the rest should take by the progress so far; 0 unknown.
func (f *Fetch) left(now time.Duration) time.Duration {
	rest := f.pick.bytes - f.got
	if rest <= 0 || f.pick.bytes <= 0 {
		return 0
	}
	now = f.seen(now)
	if rate, span := f.pace.rate(now, f.got); f.first && span >= paceSpan {
		if rate <= 0 {
			return duration(1e12)
		}
		return duration(float64(rest) / rate)
	}
	return max(duration(f.expected())-(now-f.began), 0)
}

// again is when the next thing could be wrong.
func (f *Fetch) again(now time.Duration, reading *burst.Reading) time.Duration {
	next := adviceMost
	_, ours := f.elapsedAt(now, reading)
	for _, at := range []time.Duration{
		f.lastAt + f.quietAfter(), f.lastAt + f.stallAfter(), f.began + ours + duration(lateAfter*f.expected()),
	} {
		if at > now {
			next = min(next, at-now)
		}
	}
	return min(max(next, adviceLeast), adviceMost)
}

// hedgeFor is who would bring the missing range sooner.
func (r *Ranker) hedgeFor(now time.Duration, f *Fetch, was Advice) (Pick, bool) {
	j := f.job
	live := 0
	exclude := slices.Clone(j.plan.exclude)
	for _, g := range j.fetches {
		exclude = append(exclude, g.pick.Peer)
		if g != f && !g.ended && !g.spare() && g.silence(now) < g.stallAfter() { // one that has stalled too is no help
			live++
		}
	}
	missing := max(f.pick.bytes-f.got, 1)
	if live > 0 || j.hedges >= mostHedges {
		return Pick{}, false
	}
	a := ask{
		Query: Query{Datum: j.plan.Datum, Size: missing, Critical: j.plan.Critical, Priority: j.plan.Priority, Exclude: exclude, RTT: j.plan.rtt},
		now:   now, size: missing,
	}
	r.gather(&a)
	best, ok := rescuer(a.candidates, j)
	if !ok {
		return Pick{}, false
	}
	if was.Trouble != Stalled && was.Trouble != Hopeless && was.Left > 0 && duration(best.time) >= was.Left {
		return Pick{}, false
	}
	p := r.pick(now, best, Hedge, f.pick.Offset+f.got, missing)
	p.Bytes = 0
	if f.pick.Bytes > 0 {
		p.Bytes = missing
	}
	return p, true
}

// rescuer is whom to ask in a trouble: the best that is no stranger and of another group than those
// who have been asked, if it is expected within unmoved times what the best of all is. A second
// failure costs the fetch more than that, and what befell one befalls its like.
func rescuer(candidates []candidate, j *job) (candidate, bool) {
	i := slices.IndexFunc(candidates, func(c candidate) bool { return c.tier != outcast })
	if i < 0 {
		return candidate{}, false
	}
	best := candidates[i]
	for _, c := range candidates[i:] {
		if c.tier != best.tier || c.time > unmoved*best.time {
			break
		}
		asked := slices.ContainsFunc(j.fetches, func(f *Fetch) bool { return f.peer.group == c.p.group })
		if c.measured >= provenAt && !asked {
			return c, true
		}
	}
	return best, true
}

// mayHedge says whether extra bytes may be spent on it: within the budget, and within what its peer may
// cost us.
func (r *Ranker) mayHedge(now time.Duration, f *Fetch, bytes int64) bool {
	return (f.troubled == AtRisk || f.peer.costs.left(now) > 0) && r.budget.left(now, f.job.purse(Pick{Role: Hedge})) >= bytes
}

// mayReset says whether ending the connection may be advised: it is dead by all signs, nothing else
// runs over it, it was not done lately, and enough groups are left.
func (r *Ranker) mayReset(now time.Duration, f *Fetch) bool {
	if f.quiet.now != audit.EchoesStopped || r.resetEver && now-r.resetAt < resetEvery {
		return false
	}
	for _, g := range f.peer.active {
		if g != f && g.conn == f.conn && g.silence(now) < g.stallAfter() {
			return false
		}
	}
	return r.connectedGroups() > r.cfg.MinGroups
}

func (r *Ranker) connectedGroups() int {
	seen := map[*group]bool{}
	for _, p := range r.slots {
		if p != nil {
			seen[p.group] = true
		}
	}
	return len(seen)
}
