package metrics

// tables are the metrics of one collector. All that it describes and all that
// it collects comes from here.
type tables struct {
	options
	counters []counter
	gauges   []gauge
	figures  []view
	omitted  family
	ranker   *rankerTables // nil without WithRanker
	campaign []campaignFamily
}

// view is a figure and the families it is shown in.
type view struct {
	figure
	all, slot, peer family
}

func newTables(o options) *tables {
	t := &tables{
		options: o, counters: counters(), gauges: gauges(),
		omitted: newFamily(Gauge, "peers_omitted", "Peers without series of their own, being beyond the cap or without a name; with WithPerPeer only."),
	}
	for _, f := range figures() {
		t.figures = append(t.figures, view{
			figure: f,
			all:    newFamily(Histogram, f.name, f.help+". Counts the connections of now: apply no rate()."),
			slot:   newFamily(Gauge, "top_"+f.name, f.help+". Of the peer in that rank, 1 being the best.", "slot"),
			peer:   newFamily(Gauge, "peer_"+f.name, f.help+". By peer; with WithPerPeer only.", "peer"),
		})
	}
	if o.ranker != nil {
		t.ranker = newRankerTables(o.top)
	}
	if o.campaign != nil {
		t.campaign = campaignFamilies()
	}
	return t
}

// families lists what the options ask for.
func (t *tables) families() []family {
	var all []family
	for _, c := range t.counters {
		all = append(all, c.family)
	}
	for _, g := range t.gauges {
		all = append(all, g.family)
	}
	for _, v := range t.figures {
		all = append(all, v.all)
	}
	all = append(append(all, t.slotFamilies()...), t.peerFamilies()...)
	all = append(all, t.ranker.families()...)
	for _, f := range t.campaign {
		all = append(all, f.family)
	}
	return all
}

func (t *tables) slotFamilies() []family {
	var all []family
	for _, v := range t.figures {
		if t.top > 0 && v.slots {
			all = append(all, v.slot)
		}
	}
	return all
}

func (t *tables) peerFamilies() []family {
	if t.perPeer == 0 {
		return nil
	}
	all := []family{t.omitted}
	for _, v := range t.figures {
		all = append(all, v.peer)
	}
	for _, c := range t.counters {
		if c.byPeer {
			all = append(all, c.peer)
		}
	}
	return all
}
