package ranking

import "slices"

// mostHolders is how many peers are remembered to have a datum. More offer more to choose from;
// beyond it the choice is wide enough.
const mostHolders = 256

// holders is who has which datum. It is bounded like the book of sizes, by dropping the datum that was
// not mentioned longest. It is not safe for concurrent use.
type holders struct {
	data  map[string]*holding
	clock uint64
}

type holding struct {
	peers []*peer
	used  uint64
}

func newHolders() *holders { return &holders{data: map[string]*holding{}} }

func (h *holders) add(datum string, p *peer) {
	h.clock++
	d := h.data[datum]
	if d == nil {
		if len(h.data) >= maxData {
			h.dropOne()
		}
		d = &holding{}
		h.data[datum] = d
	}
	d.used = h.clock
	if slices.Contains(d.peers, p) {
		return
	}
	if len(d.peers) >= mostHolders && !d.makeRoom(p) {
		return
	}
	d.peers = append(d.peers, p)
}

// makeRoom drops a holder of the group that has most of them, unless that is the newcomer's own.
func (d *holding) makeRoom(p *peer) bool {
	count := map[*group]int{}
	for _, q := range d.peers {
		count[q.group]++
	}
	victim := 0
	for i, q := range d.peers {
		if count[q.group] > count[d.peers[victim].group] {
			victim = i
		}
	}
	if count[d.peers[victim].group] <= count[p.group]+1 {
		return false
	}
	d.peers = slices.Delete(d.peers, victim, victim+1)
	return true
}

func (h *holders) dropOne() {
	victim, found := "", false
	for datum, d := range h.data {
		if !found || d.used < h.data[victim].used {
			victim, found = datum, true
		}
	}
	delete(h.data, victim)
}

// of returns who has a datum; not to be kept.
func (h *holders) of(datum string) []*peer {
	if d := h.data[datum]; d != nil {
		return d.peers
	}
	return nil
}

// forget takes a peer out everywhere.
func (h *holders) forget(p *peer) {
	for datum := range h.data {
		h.drop(datum, p)
	}
}

// drop takes a peer out of the holders of a datum.
func (h *holders) drop(datum string, p *peer) {
	d := h.data[datum]
	if d == nil {
		return
	}
	if i := slices.Index(d.peers, p); i >= 0 {
		d.peers = slices.Delete(d.peers, i, i+1)
	}
	if len(d.peers) == 0 {
		delete(h.data, datum)
	}
}
