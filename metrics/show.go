package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// show makes the metrics of one scrape.
func (t *tables) show(best list, b *books) []prometheus.Metric {
	var out []prometheus.Metric
	out = t.showCounters(out, b.total)
	for i := range t.gauges {
		out = t.gauges[i].show(out, best)
	}
	for i := range t.figures {
		out = append(out, t.distribution(i, best))
	}
	for i, p := range best.first(t.top) {
		out = t.showSlot(out, strconv.Itoa(i+1), p)
	}
	if t.perPeer > 0 {
		out = t.showPeers(out, best, b)
	}
	return out
}

func (t *tables) showCounters(out []prometheus.Metric, total []uint64) []prometheus.Metric {
	for i := range t.counters {
		c := &t.counters[i]
		for j, s := range c.series {
			out = append(out, c.metric(c.unit*float64(total[j]), labels(s.label)...))
		}
		total = total[len(c.series):]
	}
	return out
}

func (g *gauge) show(out []prometheus.Metric, peers list) []prometheus.Metric {
	for _, s := range g.series {
		v := 0.0
		for _, p := range peers {
			v = g.join(v, s.read(&p.Snapshot))
		}
		out = append(out, g.metric(v, labels(s.label)...))
	}
	return out
}

// labels is the one value, or none if it is empty.
func labels(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// distribution counts the peers whose figure is known by its size.
func (t *tables) distribution(i int, peers list) prometheus.Metric {
	if t.native {
		return t.figures[i].natively(peers)
	}
	return t.figures[i].fixed(peers)
}

// fixed counts in fixed buckets alone.
func (v *view) fixed(peers list) prometheus.Metric {
	in := make([]uint64, len(v.bounds)+1)
	var n uint64
	var sum float64
	for _, p := range peers {
		if x, ok := v.read(&p.Snapshot); ok {
			i, _ := slices.BinarySearch(v.bounds, x) // a bucket takes its bound in
			in[i]++
			n++
			sum += x
		}
	}
	below := make(map[float64]uint64, len(v.bounds))
	var running uint64
	for i, bound := range v.bounds {
		running += in[i]
		below[bound] = running
	}
	return prometheus.MustNewConstHistogram(v.all.desc, n, sum, below)
}

// showSlot shows what is known of the peer in a rank.
func (t *tables) showSlot(out []prometheus.Metric, slot string, p *Peer) []prometheus.Metric {
	for i := range t.figures {
		f := &t.figures[i]
		if x, ok := f.read(&p.Snapshot); ok && f.slots {
			out = append(out, f.slot.metric(x, slot))
		}
	}
	return out
}

// showPeers shows the first names, the figures of each being those of its best
// connection and the counters those of all its connections.
func (t *tables) showPeers(out []prometheus.Metric, best list, b *books) []prometheus.Metric {
	shown, omitted := best.named(t.perPeer)
	out = append(out, t.omitted.metric(float64(omitted)))
	for _, p := range shown {
		name := label(p.Name)
		for i := range t.figures {
			f := &t.figures[i]
			if x, ok := f.read(&p.Snapshot); ok {
				out = append(out, f.peer.metric(x, name))
			}
		}
		out = t.showAccount(out, name, b.names[name].total)
	}
	return out
}

func (t *tables) showAccount(out []prometheus.Metric, name string, total []uint64) []prometheus.Metric {
	for i := range t.counters {
		c := &t.counters[i]
		for j, s := range c.series {
			if c.byPeer {
				values := append([]string{name}, labels(s.label)...)
				out = append(out, c.peer.metric(c.unit*float64(total[j]), values...))
			}
		}
		total = total[len(c.series):]
	}
	return out
}
