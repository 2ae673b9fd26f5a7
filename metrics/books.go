package metrics

import (
	"time"

	"github.com/assay-mux/assay/mux"
)

// books keep the counters of connections past and present, so that no sum
// falls when a connection goes. They hold an entry for each connection of the
// last scrape and an account for each of their names, and no more. The caller
// locks.
type books struct {
	series  []count // of all counters, in order
	total   []uint64
	entries map[key]*entry
	names   map[string]*account // nil if nobody asks for them
	round   uint64              // of scrapes
	scratch []uint64
}

// key tells one connection from another.
type key struct {
	meter *mux.Meter
	name  string // if there is no meter
	nth   int    // among the peers of that name
}

// entry is what a connection's counters were last time.
type entry struct {
	at    time.Duration
	name  string
	last  []uint64
	round uint64
}

// account is what the connections of one name have counted while one of them
// was there.
type account struct {
	total []uint64
	round uint64
}

func newBooks(counters []counter, byName bool) *books {
	b := &books{entries: make(map[key]*entry)}
	for _, c := range counters {
		b.series = append(b.series, c.series...)
	}
	b.total = make([]uint64, len(b.series))
	b.scratch = make([]uint64, len(b.series))
	if byName {
		b.names = make(map[string]*account)
	}
	return b
}

// take books the peers of one scrape and forgets those that have gone.
func (b *books) take(peers []Peer) {
	b.round++
	unmetered := make(map[string]int)
	for i := range peers {
		p := &peers[i]
		k := key{meter: p.Meter}
		if p.Meter == nil {
			k.name, k.nth = p.Name, unmetered[p.Name]
			unmetered[p.Name]++
		}
		b.fold(k, label(p.Name), &p.Snapshot)
	}
	b.forget()
}

// fold adds what a connection has counted since last time.
func (b *books) fold(k key, name string, s *mux.Snapshot) {
	e := b.entries[k]
	if e == nil {
		e = &entry{last: make([]uint64, len(b.series))}
		b.entries[k] = e
	}
	for i, c := range b.series {
		b.scratch[i] = c.read(s)
	}
	if k.meter == nil && e.restarted(s.At, b.scratch) {
		clear(e.last)
	}
	e.at, e.name, e.round = s.At, name, b.round
	b.add(e, b.account(name))
}

// add books the growth of scratch over e. A meter listed twice, or with an old
// snapshot, adds nothing.
func (b *books) add(e *entry, a *account) {
	for i, v := range b.scratch {
		grown := v - min(v, e.last[i])
		e.last[i] += grown
		b.total[i] += grown
		if a != nil {
			a.total[i] += grown
		}
	}
}

// account is that of a name, or nil if none is kept.
func (b *books) account(name string) *account {
	if b.names == nil || name == "" {
		return nil
	}
	a := b.names[name]
	if a == nil {
		a = &account{total: make([]uint64, len(b.series))}
		b.names[name] = a
	}
	a.round = b.round
	return a
}

// forget drops what the present round has not seen.
func (b *books) forget() {
	for k, e := range b.entries {
		if e.round != b.round {
			delete(b.entries, k)
		}
	}
	for name, a := range b.names {
		if a.round != b.round {
			delete(b.names, name)
		}
	}
}

// retire books the last of a connection and forgets it.
func (b *books) retire(m *mux.Meter, s *mux.Snapshot) {
	k := key{meter: m}
	name := ""
	if e := b.entries[k]; e != nil {
		name = e.name
	}
	b.fold(k, name, s)
	delete(b.entries, k)
}

// restarted says that the counters now are not those of the connection that e
// tells of: time or a count has gone back.
func (e *entry) restarted(at time.Duration, now []uint64) bool {
	if at < e.at {
		return true
	}
	for i, v := range now {
		if v < e.last[i] {
			return true
		}
	}
	return false
}
