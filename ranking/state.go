package ranking

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit"
)

const (
	// stateVersion is that of the format. A reader refuses any other.
	stateVersion = 1
	// stateMost is how many records a state holds. More remember longer, in a larger file.
	stateMost = 10_000
	// stateHeader begins a state: version, checksum of the rest (CRC-32C), its length.
	stateHeader = "assay-ranking %d %08x %d\n"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save returns the state to keep across a restart: records, verdicts with their charts, groups. At most
// 10,000 records are kept, those never picked being dropped first and convicted ones last. Package
// ranking/statefile keeps it in a file.
func (r *Ranker) Save(now time.Duration) ([]byte, error) {
	r.mu.Lock()
	s := r.snapshot(now)
	r.mu.Unlock()
	body, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("ranking: the state can't be written: %w", err)
	}
	head := fmt.Sprintf(stateHeader, stateVersion, crc32.Checksum(body, castagnoli), len(body))
	return append([]byte(head), body...), nil
}

func (r *Ranker) snapshot(now time.Duration) saved {
	kept := make([]*peer, 0, len(r.peers))
	for _, p := range r.peers {
		kept = append(kept, p)
	}
	slices.SortFunc(kept, func(a, b *peer) int {
		if missedLess(a, b) {
			return 1
		}
		return -1
	})
	kept = kept[:min(len(kept), stateMost)]
	s := saved{Typical: r.typical}
	for _, p := range kept {
		s.Peers = append(s.Peers, r.save(now, p))
	}
	for _, g := range r.population.groups {
		s.Groups = append(s.Groups, savedGroup{[]byte(g.name), ageOf(now, g.since), g.convictions, ageOf(now, g.convictedAt)})
	}
	slices.SortFunc(s.Groups, func(a, b savedGroup) int {
		return cmp.Or(cmp.Compare(b.Convictions, a.Convictions), bytes.Compare(a.Name, b.Name))
	})
	s.Groups = s.Groups[:min(len(s.Groups), 2*stateMost)]
	return s
}

// Load takes in a saved state. away is how long ago it was saved, by whatever clock there is: what
// ages has aged by that, but a clock that went backwards counts as none. Records of peers that are
// known already are left out. On an error, which is [ErrDamagedState], nothing was taken in.
func (r *Ranker) Load(now time.Duration, state []byte, away time.Duration) error {
	s, err := parseState(state)
	if err != nil {
		return err
	}
	s.age(min(max(away, 0), 10*365*day))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = now
	return r.restoreAll(now, s)
}

// parseState reads a state and checks every value of it.
func parseState(state []byte) (*saved, error) {
	line, body, ok := bytes.Cut(state, []byte("\n"))
	var version, length int
	var sum uint32
	if _, err := fmt.Sscanf(string(line)+"\n", stateHeader, &version, &sum, &length); !ok || len(line) > 80 || err != nil {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrDamagedState)
	}
	switch {
	case version != stateVersion:
		return nil, fmt.Errorf("%w: it is of version %d, this program reads %d", ErrDamagedState, version, stateVersion)
	case length != len(body):
		return nil, fmt.Errorf("%w: %d bytes of %d are there", ErrDamagedState, len(body), length)
	case sum != crc32.Checksum(body, castagnoli):
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrDamagedState)
	}
	s := new(saved)
	if err := json.Unmarshal(body, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamagedState, err)
	}
	return s, s.check()
}

func (s *saved) check() error {
	if len(s.Peers) > stateMost || len(s.Groups) > 2*stateMost || !fair(s.Typical, 40) {
		return fmt.Errorf("%w: it holds more than it may", ErrDamagedState)
	}
	for i := range s.Groups {
		if !s.Groups[i].ok() {
			return fmt.Errorf("%w: group %d has a value that can't be", ErrDamagedState, i)
		}
	}
	seen := make(map[string]bool, len(s.Peers))
	for i := range s.Peers {
		p := &s.Peers[i]
		if !p.ok() || seen[string(p.ID)] {
			return fmt.Errorf("%w: record %d has a value that can't be", ErrDamagedState, i)
		}
		seen[string(p.ID)] = true
	}
	return nil
}

// age makes all ages that much larger. Charts and the ages of the audit stand.
func (s *saved) age(by time.Duration) {
	for i := range s.Groups {
		older(&s.Groups[i].Age, by)
		older(&s.Groups[i].ConvictedAge, by)
	}
	for i := range s.Peers {
		s.Peers[i].age(by)
	}
}

func (s *savedRecord) age(by time.Duration) {
	for _, d := range []*time.Duration{
		&s.Age, &s.SeenAge, &s.Gone.Age, &s.Long.Age, &s.Failure.Age, &s.Peak.Age, &s.ClearAge, &s.ShadowAge, &s.Tested.Age,
	} {
		older(d, by)
	}
	for i := range s.Waits {
		older(&s.Waits[i].Age, by)
	}
	for i := range s.Calibration {
		older(&s.Calibration[i].Age, by)
	}
	for i := range s.Costs {
		older(&s.Costs[i], by)
	}
}

// older makes one age larger. They add up over restarts, and never to more than the next one would take.
func older(age *time.Duration, by time.Duration) { *age = min(*age+by, mostAge) }

func (r *Ranker) restoreAll(now time.Duration, s *saved) error {
	var states []audit.PeerState
	kept := make([]*savedRecord, 0, len(s.Peers))
	for i := range s.Peers {
		p := &s.Peers[i]
		if r.peers[string(p.ID)] != nil || len(r.peers)+len(kept) >= r.cfg.MaxPeers {
			continue
		}
		kept = append(kept, p)
		if p.Audit != nil {
			st := *p.Audit
			st.Peer, st.Group = string(p.ID), string(p.Group)
			states = append(states, st)
		}
	}
	if err := r.auditor.Import(now, states); err != nil {
		return fmt.Errorf("%w: %w", ErrDamagedState, err)
	}
	for _, g := range s.Groups {
		o := r.group(now, Group(g.Name))
		o.since = min(o.since, now-g.Age)
		if g.Convictions*decay(g.ConvictedAge, r.cfg.HalfGroup) > o.convictions*decay(now-o.convictedAt, r.cfg.HalfGroup) {
			o.convictions, o.convictedAt = g.Convictions, now-g.ConvictedAge
		}
	}
	for _, p := range kept {
		r.restore(now, p)
	}
	for _, g := range r.population.groups {
		r.dropGroup(now, g)
	}
	r.typical = s.Typical
	r.population.prior = 0 // what was loaded votes at once
	r.population.renew(now, &r.cfg)
	return nil
}
