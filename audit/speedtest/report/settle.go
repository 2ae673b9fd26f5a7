package report

// Settle sums the runs up in the peer: its capacity is that of the best run, since nothing makes a
// peer deliver more than it can and much makes it deliver less; a lower bound remains one. A peer
// without runs keeps what it says.
func (p *Peer) Settle() {
	if p.Outcome == "" {
		p.Outcome = Pending
	}
	if len(p.Runs) > 0 {
		p.Capacity, p.LowerBound, p.LimitedBy, p.Outcome = 0, false, "", p.Runs[len(p.Runs)-1].Outcome
	}
	for _, r := range p.Runs {
		if r.Outcome == Measured && r.Capacity > p.Capacity {
			p.Capacity, p.LowerBound, p.LimitedBy, p.Outcome = r.Capacity, r.LowerBound, r.LimitedBy, Measured
		}
	}
	if p.OptedOut && p.Outcome != Measured {
		p.Outcome = OptedOut
	}
}

// at returns the peer's figures of a phase: of several the last one before the tests, and the first
// with the largest advertised figure later, as Tor's study took them; false if there are none.
func (p *Peer) at(phase Phase) (Published, bool) {
	var best Published
	found := false
	for _, f := range p.Published {
		if f.Phase == phase && (!found || phase == Before || f.Advertised > best.Advertised) {
			best, found = f, true
		}
	}
	return best, found
}

// Claim returns the figures that the test is to judge: the last that the peer published before it,
// or the first there are; false if it has published none.
func (p *Peer) Claim() (Published, bool) {
	if f, ok := p.at(Before); ok {
		return f, true
	}
	if len(p.Published) == 0 {
		return Published{}, false
	}
	return p.Published[0], true
}
