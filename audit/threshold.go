package audit

// A Threshold is the residual above which a fetch counts against its peer, and how it came about.
type Threshold struct {
	// Value is the threshold in shares of the claim, within the clamp.
	Value float64
	// Raw is the median of the votes before the clamp; 0 if there was none.
	Raw float64
	// Voters is how many groups voted, the peer's own not among them.
	Voters int
	// Merged is how many times strata were merged to find enough voters: 0 to 3.
	Merged int
	// Thin says that there never were enough, and that the ceiling stands in.
	Thin bool
}

// threshold returns what a peer of group g is held to in a stratum: the median vote of the other
// groups, in the finest stratum where enough of them vote. g may be nil.
func (a *Auditor) threshold(k key, g *group) Threshold {
	var t Threshold
	for level := range uint8(levels) {
		s := a.strata[k.at(level)]
		if s == nil {
			continue
		}
		t.Voters, t.Raw = s.others(g)
		t.Merged = int(level)
		if t.Voters >= a.cfg.MinGroups {
			t.Value = min(max(t.Raw, a.cfg.ThresholdMin), a.cfg.ThresholdMax)
			return t
		}
	}
	t.Thin, t.Value = true, a.cfg.ThresholdMax
	return t
}
