package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/assay-mux/assay/ranking"
)

// slowest is how long a transfer that nobody could replace may be silent before it
// is given up all the same on the advice to cancel. Longer bears with worse paths.
const slowest = 10 * time.Second

// mostTransfers bounds the transfers of one plan.
const mostTransfers = 64

// job is one plan on its way.
type job struct {
	w      *world
	datum  *datum
	rec    *FetchRecord
	alone  bool // ask nobody else
	all    []*transfer
	live   int
	ends   chan *transfer
	halted bool
}

// phase is what a fetch is for.
type phase bool

const (
	phaseWarmup phase = false
	phaseUser   phase = true
)

// fetch brings a datum, from whomever it takes.
func (w *world) fetch(d *datum, p phase) {
	w.offer(d, false)
	w.wg.Go(func() {
		if pause(lateAfter, w.ctx.Done()) {
			w.offer(d, true)
		}
	})
	rec := w.log.began(d, p)
	exclude := w.others(d)
	for range mostTries {
		failed, err := w.attempt(d, rec, exclude)
		if err == nil || w.ctx.Err() != nil || d.only != "" {
			w.log.fetched(rec, err)
			return
		}
		if errors.Is(err, ranking.ErrNoPeer) {
			if len(exclude) == 0 || !pause(time.Second, w.ctx.Done()) {
				w.log.fetched(rec, err)
				return
			}
			exclude = nil // a user asks again
			continue
		}
		exclude = append(exclude, failed...)
	}
	w.log.fetched(rec, ranking.ErrNoPeer)
}

// others are all peers but the one to ask, if it is to be one.
func (w *world) others(d *datum) []string {
	if d.only == "" {
		return nil
	}
	var out []string
	for _, a := range w.everyone() {
		if a.id != d.only {
			out = append(out, a.id)
		}
	}
	return out
}

// attempt makes a plan and carries it out. Failed are whom not to ask again.
func (w *world) attempt(d *datum, rec *FetchRecord, exclude []string) (failed []string, err error) {
	w.awake()
	q := ranking.Query{Datum: d.name(), Critical: d.critical, Exclude: exclude}
	if d.deadline > 0 {
		q.Deadline = rec.at + d.deadline
	}
	plan, err := w.chooser.Choose(w.now(), q)
	if err != nil {
		return nil, err
	}
	w.log.planned(rec, plan)
	j := &job{w: w, datum: d, rec: rec, alone: d.only != "", ends: make(chan *transfer, mostTransfers)}
	defer j.close()
	t, err := w.chooser.Begin(w.now(), plan)
	if err != nil {
		return []string{plan.Primary.Peer}, err
	}
	j.start(t, nil)
	for _, p := range plan.Redundant {
		j.add(t, p, nil)
	}
	for _, p := range plan.Shadow {
		w.try(t, p, d, rec)
	}
	err = j.watch()
	for _, t := range j.all {
		failed = append(failed, t.pick.Peer)
	}
	return failed, err
}

// start begins a transfer.
func (j *job) start(t Transfer, parent *transfer) {
	x := j.w.newTransfer(t, j.datum, j.rec, parent)
	j.all = append(j.all, x)
	j.live++
	j.w.wg.Go(func() {
		x.run()
		j.ends <- x
	})
}

func (w *world) newTransfer(t Transfer, d *datum, rec *FetchRecord, parent *transfer) *transfer {
	x := &transfer{
		w: w, t: t, pick: t.Pick(), datum: d, parent: parent, began: w.now(),
		conn: w.connection(t.Pick().Conn), ended: make(chan struct{}),
	}
	x.last.Store(int64(x.began))
	x.rec = w.log.asked(x, rec)
	return x
}

// add begins another part of the same fetch, if the chooser lets it.
func (j *job) add(t Transfer, p ranking.Pick, parent *transfer) {
	if j.halted || len(j.all) == mostTransfers {
		return
	}
	if more, err := t.Add(j.w.now(), p); err == nil {
		j.start(more, parent)
	}
}

// watch waits for the datum, acting on advice meanwhile.
func (j *job) watch() error {
	timer := time.NewTimer(j.advise())
	defer timer.Stop()
	var first error
	for j.live > 0 {
		select {
		case t := <-j.ends:
			j.live--
			err := j.took(t)
			if err == nil {
				return nil
			}
			if first == nil {
				first = err
			}
		case <-timer.C:
			j.w.awakeAfter(j.turn())
			timer.Reset(j.advise())
		case <-j.w.ctx.Done():
			return errCancelled
		}
	}
	return first
}

// took takes the end of a transfer: an error, or the datum if it is right.
func (j *job) took(t *transfer) error {
	if t.err != nil {
		return t.err
	}
	wrong := t.wrong.Load()
	for p := t.parent; p != nil; p = p.parent {
		p.end(errLost)
		<-p.ended
		wrong = wrong || p.wrong.Load()
	}
	switch {
	case !wrong:
		t.conclude(nil, t.done(j.datum.size))
		j.w.log.whole(j.rec, t)
		return nil
	case t.parent == nil:
		t.conclude(errCorrupt, t.failing(ranking.Corrupt))
	default: // one of several, and it can't be told which
		t.conclude(errCorrupt, t.t.Abort)
	}
	return errCorrupt
}

// close ends all transfers and waits for them.
func (j *job) close() {
	j.halted = true
	for _, t := range j.all {
		t.end(errLost)
	}
	for _, t := range j.all {
		<-t.ended
		t.conclude(errLost, t.t.Abort) // does nothing where its end was told
	}
}

// turn sets the jobs apart that a freeze would wake at one instant.
func (j *job) turn() time.Duration { return time.Duration(j.rec.N%8) * apart }

// advise asks for advice on each transfer, acts on it, and returns when to ask
// again.
func (j *job) advise() time.Duration {
	again := time.Second
	for _, t := range slices.Clone(j.all) {
		if t.over() {
			continue
		}
		now := j.w.now()
		silent, took := t.silent(now), now-t.began
		if silent > time.Duration(j.w.s.Workload.Timeout) || took > time.Duration(j.w.s.Workload.Limit) {
			t.end(errTimeout)
			continue
		}
		a := t.t.Advice(now)
		j.w.log.advised(t, a)
		if a.Again > 0 {
			again = min(again, a.Again)
		}
		j.act(t, a, silent)
	}
	return again
}

func (j *job) act(t *transfer, a ranking.Advice, silent time.Duration) {
	if a.Kind == ranking.Wait {
		return
	}
	if a.To.Peer != "" && !j.alone {
		j.add(t.t, a.To, t)
	}
	switch a.Kind {
	case ranking.ResetConn:
		if c := t.conn; c != nil {
			c.client.Close() // the peer's life dials again
		}
	case ranking.Cancel:
		if a.To.Peer != "" || j.alone || silent > slowest || j.another(t) {
			t.end(errGivenUp)
		}
	case ranking.Wait, ranking.AddHedge:
	}
}

// another says whether another transfer is under way.
func (j *job) another(t *transfer) bool {
	return slices.ContainsFunc(j.all, func(o *transfer) bool { return o != t && !o.over() })
}

// trialLimit is how long a copy that nobody waits for may take. Longer learns more
// of slow peers and holds a stream for longer.
const trialLimit = time.Minute

// try fetches a copy that nobody waits for, to learn of its peer.
func (w *world) try(t Transfer, p ranking.Pick, d *datum, rec *FetchRecord) {
	more, err := t.Add(w.now(), p)
	if err != nil {
		return
	}
	x := w.newTransfer(more, d, rec, nil)
	w.wg.Go(x.run)
	w.wg.Go(func() { w.oversee(x) })
}

// oversee asks for advice on a trial, and ends it if that is the advice, or if it
// takes too long.
func (w *world) oversee(t *transfer) {
	for !t.over() {
		now := w.now()
		a := t.t.Advice(now)
		w.log.advised(t, a)
		stop := (a.Kind == ranking.Cancel || a.Kind == ranking.ResetConn) && a.Trouble != ranking.Delivered
		if stop || now-t.began > trialLimit {
			t.end(errGivenUp)
			break
		}
		timer := time.NewTimer(max(a.Again, time.Millisecond))
		select {
		case <-t.ended:
		case <-timer.C:
		case <-w.ctx.Done():
			t.end(errCancelled)
		}
		timer.Stop()
	}
	<-t.ended
	w.settle(t)
}

// settle tells the end of a trial.
func (w *world) settle(t *transfer) {
	switch {
	case t.err != nil:
		t.conclude(t.err, t.t.Abort) // does nothing where its end was told
	case t.wrong.Load():
		t.conclude(errCorrupt, t.failing(ranking.Corrupt))
	case t.pick.Bytes > 0 || t.pick.Offset > 0:
		t.conclude(nil, t.done(0))
	default:
		t.conclude(nil, t.done(t.datum.size))
	}
}
