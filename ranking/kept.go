package ranking

// Kept counts what a ranker holds on to: all that could grow with what peers do or say. It is a
// value.
type Kept struct {
	// Records and Audited are peers, those of the auditor too.
	Records, Audited int
	// Conns are connections, Fetches transfers that have not ended.
	Conns, Fetches int
	// Sized are data in the book of sizes, Claims the most that is kept of one.
	Sized, Claims int
	// Held are data with known holders, Holders the most of one.
	Held, Holders int
	// Events wait to be drained, Debts are failures whose datum has not come yet, Pending trials that
	// have not begun.
	Events, Debts, Pending int
}

// Kept counts what it holds on to. It looks at all of it, so it is for tests, and for whoever wonders
// where memory goes.
func (r *Ranker) Kept() Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := Kept{
		Records: len(r.peers), Audited: r.auditor.Len(), Conns: len(r.conns),
		Sized: len(r.book.data), Held: len(r.holders.data),
		Events: len(r.events.queue), Debts: len(r.debts), Pending: len(r.pending),
	}
	for _, p := range r.peers {
		k.Fetches += len(p.active)
	}
	for _, e := range r.book.data {
		k.Claims = max(k.Claims, len(e.claims))
	}
	for _, d := range r.holders.data {
		k.Holders = max(k.Holders, len(d.peers))
	}
	return k
}

// MostKept is the most that a ranker of this config ever keeps. Connections are bounded by the host,
// and so are fetches: 0 stands for no bound of ours.
func (c Config) MostKept() Kept {
	return Kept{
		Records: c.MaxPeers, Audited: c.MaxPeers,
		Sized: maxData, Claims: maxClaims, Held: maxData, Holders: mostHolders,
		Events: mostEvents, Debts: mostDebts, Pending: mostPending,
	}
}
