package ranking

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

const (
	// failureLeast times the expected time is what a failure scores at least: failing fast never looks
	// fast.
	failureLeast = 3
	// lateAfter times the expected time a fetch is late: hedged, and held against its peer if given up.
	lateAfter = 2
	// behindAt of the expected time a fetch of which less than behindGot has come is far behind. A slow
	// start has more than half of its bytes by then.
	behindAt, behindGot = 0.75, 0.25
	// defaultTypical is the log of the usual size before any: 1 MiB.
	defaultTypical = 13.86
	// clearAfter is how long a peer must have been without trouble for its trouble to be evidence of
	// ours.
	clearAfter = time.Hour
)

// elapsed is how long the fetch took, and how much of it was ours.
func (f *Fetch) elapsed(reading *burst.Reading) (all, ours time.Duration) {
	return f.elapsedAt(f.receivedAt, reading)
}

// elapsedAt is the same until an instant. Waiting for our credit that our window makes unavoidable is
// not ours: the prediction has it, and users wait for it. What the meter saw of us and what the pauses
// were are the same silences for the most part, so the more counts.
func (f *Fetch) elapsedAt(at time.Duration, reading *burst.Reading) (all, ours time.Duration) {
	all = max(at-f.began, 0)
	ours = min(max(reading.Ours-f.startOurs, 0), all)
	if ours > 0 && f.pick.path.StreamWindow > 0 {
		if p := Predict(max(f.got, 1), f.pick.path); p.CreditLimited {
			ours = max(ours-min(p.Ramp, f.waited(reading)), 0)
		}
	}
	return all, min(max(ours, f.pause.ours), all)
}

// waited is how long the peer has waited for our credit.
func (f *Fetch) waited(reading *burst.Reading) time.Duration {
	return max(reading.Credit-f.startCredit, 0)
}

// claimOf is the claim, for the bytes that really came and with our own contention: what we had
// outstanding with the peer when it began, or had from it meanwhile if that is more. The rate is that
// of when it was picked.
func (f *Fetch) claimOf() (Prediction, int64) {
	n := max(f.got, 1)
	all := f.all + f.got - f.pick.bytes
	if !f.received || f.got < f.pick.bytes && f.pick.Bytes == 0 {
		all = f.all
	}
	all = max(all, f.peer.bytes-f.servedBefore, n)
	switch {
	case !f.pick.claimed:
		return Prediction{}, all
	case all == f.pick.claimFor:
		return f.pick.claim, all
	}
	return Predict(all, f.pick.path), all
}

// expected is the seconds that the fetch was expected to take, for the bytes that really came.
func (f *Fetch) expected() float64 {
	e := f.pick.expected
	if over := float64(f.got) / float64(max(f.pick.bytes, 1)); over > 1 {
		e *= over
	}
	return max(e, f.pick.claim.Total.Seconds(), 1e-6)
}

// late says whether it takes far longer than expected, has stalled, or is far behind: of a peer that
// withholds behind a copy's back nothing else would ever be seen.
// Our own part of the time makes nothing late.
func (f *Fetch) late(now time.Duration, reading *burst.Reading) bool {
	at := now
	if f.received {
		at = f.receivedAt
	}
	all, ours := f.elapsedAt(f.seen(at), reading)
	took, expected := (all - ours).Seconds(), f.expected()
	behind := took > behindAt*expected && float64(f.got) < behindGot*float64(f.pick.bytes)
	return behind || took > lateAfter*expected || f.silence(at)-ours >= f.stallAfter()
}

// record is the fetch as the audit wants it.
func (r *Ranker) record(now time.Duration, f *Fetch, reading *burst.Reading, failed bool) audit.Record {
	claim, all := f.claimOf()
	actual, ours := f.elapsed(reading)
	f.quiet.over(f.silence(f.receivedAt), f.quietAfter(), f.first && failed)
	stalled, echoes := f.quiet.report()
	rec := audit.Record{
		Peer: f.peer.id, Group: string(f.peer.group.name),
		Size: all, BaseRTT: f.pick.path.BaseRTT,
		Claim: claim.Total, Coverage: f.pick.coverage,
		Actual: actual, Ours: ours, ExpectedTTFB: claim.FirstByte(),
		Stalled: stalled, Echoes: echoes, Loss: lossOf(f, reading),
		AppRTT: reading.P95RTT, Critical: f.job.plan.Critical, Failed: failed,
	}
	if f.pick.claimed {
		rec.ClaimError = f.pick.path.ErrorBar(all) // of the same bytes as the claim
	}
	if f.first {
		rec.TTFB = f.firstAt - f.began
	}
	switch {
	case reading.KernelFresh:
		rec.KernelRTT = reading.KernelRTT
	case reading.Confirmed:
		rec.KernelRTT = reading.BaseRTT
	}
	_, rec.Held = r.us.held(now)
	rec.CommonMode = r.us.commonMode(now)
	return rec
}

// observed is what the audit made of a fetch.
type observed struct {
	outcome audit.Outcome
	claim   time.Duration
	size    int64 // that the claim is for
	ttfb    time.Duration
}

// observe takes the outcome into the watch on ourselves and into the audit.
func (r *Ranker) observe(now time.Duration, f *Fetch, reading *burst.Reading, failed bool) observed {
	actual, ours := f.elapsed(reading)
	base := max(f.pick.claim.Total.Seconds(), f.expected())
	excess := (actual-ours).Seconds()/base - 1
	if failed {
		excess = max(excess, failureLeast-1)
	}
	p := f.peer
	sound := !p.verdict.Kind.Punitive() && !p.verdict.Kinds.Has(audit.Overclaims)
	r.us.observe(now, p.group.name, excess, sound && p.group.aged(now))
	r.ownTrouble(now, f, excess, actual, ours)
	r.noteHold(now)
	f.conn.losses.take(f.startLoss, reading.OutOfOrder, f.got)
	rec := r.record(now, f, reading, failed)
	claim := rec.Claim // the peer's own, whatever it is held against
	p.usual.hold(&rec, f.pick.path)
	r.judge(now, p, r.auditor.Observe(now, rec))
	r.tally.Ours += ours
	if excess > usDegraded {
		p.clearSince = now
	}
	return observed{p.verdict.Latest.Outcome, claim, rec.Size, rec.TTFB}
}

// ownTrouble looks for evidence that it is us, which holds verdicts where too few groups speak.
func (r *Ranker) ownTrouble(now time.Duration, f *Fetch, excess float64, actual, ours time.Duration) {
	if actual >= time.Second && ours > actual/2 {
		r.us.evidence(now, ownGaps)
	}
	p := f.peer
	if excess < usDegraded || p.completions < 20 || now-p.clearSince < clearAfter || !p.group.aged(now) {
		return
	}
	// Where enough groups speak it is their share that tells, which two of a coalition do not make; and
	// where anybody was prompt in between it is not us.
	another := r.probeGroup != p.group.name && r.probeGroup != "" && now-r.probeAt < usWindow
	if another && !r.us.enough() && r.us.promptAt <= r.probeAt {
		r.us.evidence(now, slowProbe)
	}
	r.probeGroup, r.probeAt = p.group.name, now
}

// complete takes in a completion.
func (r *Ranker) complete(now time.Duration, f *Fetch, reading *burst.Reading) {
	p := f.peer
	actual, ours := f.elapsed(reading)
	r.fared(now, f, actual-ours, false)
	seen := r.observe(now, f, reading, false)
	p.long.fold(now, day, reading.Estimation)
	r.tally.Completions++
	if f.got > 0 {
		r.learn(now, f, reading, seen, actual, ours)
	}
	r.population.vote(p, r.rateOf(p))
}

// learn takes in what a completion says of its peer: actual is how long it took, ours our part of that.
func (r *Ranker) learn(now time.Duration, f *Fetch, reading *burst.Reading, seen observed, actual, ours time.Duration) {
	p := f.peer
	if f.peer.bytes-f.servedBefore == f.got { // else others' waits would be taken for its own
		path := f.pick.path
		path.WindowRounds = f.conn.windowRounds // another may have taught it since this was picked
		if rounds := path.RoundsAfter(f.got, f.waited(reading)); rounds > 0 {
			f.conn.windowRounds, r.windowRounds = rounds, rounds
		}
	}
	took := max(actual-ours, 0)
	slower := took.Seconds() > f.expected()
	// While verdicts are held a slow completion may be our fault, a prompt one cannot; if most of the
	// time was ours it is the prompt one that shows nothing.
	void := seen.outcome == audit.Void || ours > actual/2
	if held := seen.outcome == audit.Held; held && slower || void && !slower {
		return
	}
	if why := f.job.plan.Why; f.pick.Role == Primary && why.Candidates > 1 {
		p.post.served(now, why.Kept)
	}
	f.conn.lastWindow = f.windowAfter()
	if p.completions == 0 {
		p.prove()
	}
	p.completions++
	p.tested.due = false
	c := completed{bytes: f.got, time: took, first: min(max(seen.ttfb, 0), took), tail: f.tail()}.alone(f)
	p.usual.add(c)
	path := f.pick.path
	times := p.waits.add(now, c, path, r.cfg.HalfWait)
	p.penalty.complete(now, r.tally.Completions, times, &r.cfg)
	if f.pick.claimed {
		claim := seen.claim
		if seen.size != f.got {
			claim = Predict(f.got, path).Total
		}
		p.calibration.add(now, c.time.Seconds()/claim.Seconds())
	}
	if p.penalty.failed(now, &r.cfg) >= failureOver { // by itself: what else is awaited makes it no slower
		e := r.expect(p, p.penalty.bytes-p.outstanding, now)
		// Of the prediction, which echoes that are held make longer for as long as the peer likes, nothing is learnt.
		p.penalty.learnt(now, e.measured*e.waited+(1-e.measured)*p.penalty.basis, &r.cfg)
	}
	if !f.spare() {
		r.typical += 0.05 * (math.Log(float64(f.got)) - r.typical)
		if !f.job.delivered { // a further copy is what budgets are for
			r.budget.fetched(now, f.got)
		}
	}
}

// alone scales a completion to what it would have taken without the other bytes that came of the peer
// meanwhile, as far as we had asked for them, by the prediction for both. What was only outstanding
// is no excuse here: it did not take the link's time.
func (c completed) alone(f *Fetch) completed {
	all := f.peer.bytes - f.servedBefore
	if f.pick.path.Rate <= 0 || all <= f.got {
		return c
	}
	share := float64(Predict(f.got, f.pick.path).Total) / float64(Predict(all, f.pick.path).Total)
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * share) }
	c.time = max(scale(c.time), c.first)
	c.tail = scale(c.tail)
	return c
}

// tail is the time of the second half of the bytes.
func (f *Fetch) tail() time.Duration {
	rest := f.got - f.halfGot
	if f.halfAt == 0 || rest <= 0 || f.receivedAt <= f.halfAt {
		return 0
	}
	return time.Duration(float64(f.receivedAt-f.halfAt) * float64(f.got) / (2 * float64(rest)))
}

// windowAfter is what the sender's window is believed to be now.
func (f *Fetch) windowAfter() int64 {
	path := f.pick.path
	path.Idle = 0
	return path.WindowAfter(f.got)
}

// rateOf is what a peer says of the network's rates: what it delivered, or else its estimate.
func (r *Ranker) rateOf(p *peer) float64 {
	if w := p.waits.largest(sizeClass(64 << 10)); w != nil {
		return w.tail
	}
	return float64(p.estimation.Rate)
}

// excuse is what of our own may excuse a failure.
type excuse uint8

const (
	byNothing excuse = iota // wrong bytes, "not found", a reset: proof by themselves
	byTrouble               // trouble of ours that many peers show: a connection that ended
	byOurTime               // that, or our own part of the time: whatever came too late
)

// excuseFor is what may excuse a failure.
func excuseFor(how Failure) excuse {
	switch how {
	case TimedOut:
		return byOurTime
	case Disconnected:
		return byTrouble
	default:
		return byNothing
	}
}

// fail takes in a failure: a sample that is never better than three times what was expected.
func (r *Ranker) fail(now time.Duration, f *Fetch, reading *burst.Reading, how string, excuse excuse) {
	p := f.peer
	actual, ours := f.elapsed(reading)
	if excuse >= byTrouble {
		r.fared(now, f, actual-ours, true)
	}
	seen := r.observe(now, f, reading, true)
	r.tally.Failures++
	f.conn.lastWindow = 0 // in doubt it is cold, and nothing looks sooner for having failed
	if f.job.plan.Critical {
		r.tell(now, CriticalMissed, p, f.job.plan.Datum, how)
	}
	if f.hard(now, reading) {
		r.dropNow(now, f, how)
	}
	if _, held := r.us.held(now); held && excuse >= byTrouble || seen.outcome == audit.Void && excuse >= byOurTime {
		return
	}
	expected := f.expected()
	times := max((actual-ours).Seconds()/expected, failureLeast)
	p.penalty.fail(now, times, expected, f.pick.bytes, &r.cfg)
	p.calibration.fail(now, times, r.cfg.HalfCalibration)
	charged := duration(times * expected)
	p.waits.punish(now, completed{bytes: max(f.pick.bytes, f.got), time: charged, first: charged}, f.pick.path, r.cfg.HalfWait)
	r.debts.add(f.job.plan.Datum, debt{peer: p.id, began: f.began, expected: expected, times: times, at: now})
}

// deliver takes in that the datum is here and how long it is.
func (r *Ranker) deliver(now time.Duration, f *Fetch, size int64) {
	j := f.job
	if j.delivered || j.plan.Datum == "" {
		j.delivered, f.won = true, !j.delivered
		return
	}
	j.delivered, j.booked, f.won = true, nil, true
	for _, d := range r.debts.pay(j.plan.Datum) {
		if p := r.peers[d.peer]; p != nil {
			p.penalty.more(now, (now-d.began).Seconds()/d.expected-d.times, &r.cfg)
			r.touch(p)
		}
	}
	r.settleSizes(now, j.plan.Datum, size)
}

// settleSizes proves who was wrong about a size.
func (r *Ranker) settleSizes(now time.Duration, datum string, size int64) {
	s := r.book.settle(datum, size)
	for _, id := range s.liars {
		p := r.peers[id]
		if p == nil {
			continue
		}
		detail := fmt.Sprintf("gave another size for a datum of %d bytes", size)
		v := r.auditor.Lie(now, id, string(p.group.name), audit.FalseSize, detail)
		r.judge(now, p, v)
		r.tell(now, SizeLie, p, datum, detail)
	}
	for _, s := range s.faults {
		r.tell(now, AttesterFault, nil, datum, fmt.Sprintf("the %s size was %d bytes, the datum has %d", s.Provenance, s.Bytes, size))
	}
	if s.eclipse {
		r.tell(now, EclipseSuspected, nil, datum, "all who advertised its size, of several groups, told the same lie")
	}
}

// dropNow says once for each fetch that its peer is to be dropped, unless we suspect ourselves.
func (r *Ranker) dropNow(now time.Duration, f *Fetch, why string) {
	if _, held := r.us.held(now); held || f.dropTold || f.peer.pinned {
		return
	}
	f.dropTold = true
	if !r.cfg.Dry {
		f.peer.dropped = true
		r.churned.add(now, 1)
	}
	r.tell(now, DropNow, f.peer, f.job.plan.Datum, why)
}
