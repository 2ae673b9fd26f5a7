package ranking

import (
	"math"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// A connection is taken for lossy by the share of its packets, and not for ever.
func TestLossesAreForgotten(t *testing.T) {
	var l losses
	if l.seen() {
		t.Error("loss without a packet")
	}
	l.add(0, 8e6)
	if l.add(300, 8e6); !l.seen() {
		t.Error("300 of some 11,000 packets are no loss")
	}
	served := 0
	for ; l.seen(); served += 8e6 {
		if l.add(0, 8e6); served > 1e9 {
			t.Fatal("never forgotten")
		}
	}
	if served < 50e6 {
		t.Errorf("forgotten after %d bytes", served)
	}
	for range 100 { // a few are reordered on any path
		l.add(1, 8e6)
	}
	if l.seen() {
		t.Error("one packet in 5,500 is loss")
	}
}

// The error bar is twice the standard error, and all of the prediction where packets are lost.
func TestErrorBar(t *testing.T) {
	p := Path{BaseRTT: 50 * ms, Rate: 1e-7, RateError: 1e-8}
	if got := p.ErrorBar(1e6); got != 20*ms {
		t.Errorf("got %v", got)
	}
	if got := p.ErrorBar(-1); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	p.Lossy = true
	if got, want := p.ErrorBar(1e6), Predict(1e6, p).Total; got != want {
		t.Errorf("lossy: got %v, want %v", got, want)
	}
	p.RateError = 1e-6
	if got := p.ErrorBar(1e6); got != 2000*ms {
		t.Errorf("lossy and erratic: got %v", got)
	}
}

// What a path has lost before widens the bar that the audit gets of the next claim.
func TestLossWidensTheClaim(t *testing.T) {
	w := served(t, 1, 4e6)
	a := w.order[0]
	fetch := func(lost uint64) Pick {
		f := w.started(a, Query{Size: 4e6})
		w.now += 400 * ms
		a.gauge.mu.Lock()
		a.gauge.reading.OutOfOrder += lost
		a.gauge.mu.Unlock()
		f.Progress(w.now, 4e6)
		f.Received(w.now)
		f.Done(w.now, 0)
		return f.pick
	}
	bar := func(p Pick) time.Duration { return p.path.ErrorBar(p.claimFor) }
	fetch(0)
	if p := fetch(500); bar(p) >= p.claim.Total/2 {
		t.Fatalf("without loss: %v of %v", bar(p), p.claim.Total)
	}
	if p := fetch(0); bar(p) < p.claim.Total {
		t.Errorf("with loss: %v of %v", bar(p), p.claim.Total)
	}
}

// No error that is no number makes a bar that is no time.
func TestErrorBarOfNoNumber(t *testing.T) {
	for _, e := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, n := range []int64{-1, 0, 1, math.MaxInt64} {
			p := Path{BaseRTT: ms, Rate: 1e-7, RateError: burst.SecondsPerByte(e)}
			if got := p.ErrorBar(n); got < 0 || n <= 0 && got > 0 {
				t.Errorf("error %v, %d bytes: %v", e, n, got)
			}
		}
	}
}

// The audit gets the error bar of the bytes that the claim is for: more than when it was picked where others
// were begun since, and fewer where less came.
func TestTheErrorBarIsOfTheClaim(t *testing.T) {
	w := served(t, 1, 4e6)
	a := w.order[0]
	a.gauge.set(func(r *burst.Reading) { r.Estimation.StandardError = r.Estimation.Rate / 4 })
	w.now += 2 * time.Second
	w.r.Poll(w.now)
	check := func(f *Fetch, n int, want int64) {
		t.Helper()
		f.Progress(w.now+time.Second, n)
		f.Received(w.now + time.Second)
		rec := w.r.record(w.now+time.Second, f, &burst.Reading{}, false)
		if bar := f.pick.path.ErrorBar(want); rec.Size != want || rec.ClaimError != bar {
			t.Errorf("%d bytes claimed in %v, give or take %v; want %d and %v", rec.Size, rec.Claim, rec.ClaimError, want, bar)
		}
	}
	plans := [2]Plan{w.choose(Query{Size: 4e6}), w.choose(Query{Size: 4e6})}
	var f *Fetch
	for _, p := range plans {
		var err error
		if f, err = w.r.Begin(w.now, p); err != nil {
			t.Fatal(err)
		}
	}
	check(f, 4e6, 8e6)

	w = served(t, 1, 4e6)
	w.r.conns[w.order[0].conn].losses.add(500, 8e6)
	f = w.started(w.order[0], Query{Size: 4e6})
	f.pick.Bytes = 4e6
	check(f, 1e5, 1e5)
}

// A packet out of order is one, however many fetches went on over its connection; and is one of all that came.
func TestLossOfFetchesAtOnce(t *testing.T) {
	w := served(t, 1, 4e6)
	a := w.order[0]
	var all []*Fetch
	for range 8 {
		all = append(all, w.started(a, Query{Size: 4e6}))
	}
	a.gauge.set(func(r *burst.Reading) { r.KernelRTT, r.OutOfOrder = 20*ms, 4 }) // of 22,000
	w.now += 4 * time.Second
	for _, f := range all {
		f.Progress(w.now, 4e6)
	}
	for i, f := range all {
		r := a.gauge.Reading()
		if got := lossOf(f, &r); got != audit.LossClear {
			t.Errorf("fetch %d: %v", i, got)
		}
		f.Done(w.now, 0)
	}
	if l := w.r.conns[a.conn].losses; l.outOfOrder > 4 || l.seen() {
		t.Errorf("of four packets in 32 MB: %+v", l)
	}
}
