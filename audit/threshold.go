package audit

// A Threshold is the residual above which a fetch counts against its peer, and how it came about.
type Threshold struct {
	// Value is the threshold in shares of the claim, within the clamp.
	Value float64
	// Raw is the median of the votes before the clamp; 0 if there was none.
	Raw float64
	// Voters is how many groups voted, the peer's own not among them.
	Voters int
	// Merged is how many times strata were merged to find enough voters: 0 to 2.
	Merged int
	// Thin says that there never were enough, and that the ceiling stands in.
	Thin bool
}

// threshold returns what a peer is held to in a stratum: the median vote of the groups other than
// its own, in the finest stratum where enough of them vote. p may be nil.
func (a *Auditor) threshold(k key, p *peer) Threshold {
	var t Threshold
	for level := range uint8(levels) {
		s := a.strata[k.at(level).index()]
		if s == nil {
			continue
		}
		own := p.panel(s)
		if t.Voters = s.voters(own); t.Voters < a.cfg.MinGroups && level < coarsest {
			continue
		}
		t.Raw, t.Merged = s.median(own), int(level)
		if t.Voters >= a.cfg.MinGroups {
			t.Value = min(max(t.Raw, a.cfg.ThresholdMin), a.cfg.ThresholdMax)
			return t
		}
	}
	t.Thin, t.Merged, t.Value = true, coarsest, a.cfg.ThresholdMax
	return t
}
