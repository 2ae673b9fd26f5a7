package ranking

import "testing"

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
	fetch(0)
	if p := fetch(500); p.claimErr >= p.claim.Total/2 {
		t.Fatalf("without loss: %v of %v", p.claimErr, p.claim.Total)
	}
	if p := fetch(0); p.claimErr < p.claim.Total {
		t.Errorf("with loss: %v of %v", p.claimErr, p.claim.Total)
	}
}
