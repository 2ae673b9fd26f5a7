package ranking

import (
	"math"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// saved is what a state file holds. Instants are kept as ages: a clock that jumped between two runs
// must neither flush a verdict nor keep one for ever.
type saved struct {
	Typical float64       `json:"typical"` // log of the usual size
	Groups  []savedGroup  `json:"groups"`
	Peers   []savedRecord `json:"peers"`
}

// savedGroup is a group. Names are bytes, for a peer may choose some of its own.
type savedGroup struct {
	Name         []byte        `json:"name"`
	Age          time.Duration `json:"age"`
	Convictions  float64       `json:"convictions,omitempty"`
	ConvictedAge time.Duration `json:"convicted_age,omitempty"`
}

// savedRecord is a peer.
type savedRecord struct {
	ID      []byte        `json:"id"`
	Group   []byte        `json:"group"`
	Age     time.Duration `json:"age"`
	SeenAge time.Duration `json:"seen_age"`

	BaseRTT time.Duration `json:"base_rtt,omitempty"`
	HighRTT time.Duration `json:"high_rtt,omitempty"`
	Gone    savedPast     `json:"gone,omitzero"`
	Long    savedPast     `json:"long,omitzero"`

	Waits       []savedWait     `json:"waits,omitempty"`
	Calibration []savedRatio    `json:"calibration,omitempty"`
	Failure     savedPenalty    `json:"failure,omitzero"`
	Peak        savedPenalty    `json:"peak,omitzero"`
	Failures    int             `json:"failures,omitempty"`
	Tested      savedTest       `json:"tested,omitzero"`
	Costs       []time.Duration `json:"costs,omitempty"`

	Picked      int           `json:"picked,omitempty"`
	Completions int           `json:"completions,omitempty"`
	Bytes       int64         `json:"bytes,omitempty"`
	ClearAge    time.Duration `json:"clear_age,omitempty"`
	ShadowAge   time.Duration `json:"shadow_age,omitempty"`
	Shadowed    bool          `json:"shadowed,omitempty"`
	Pinned      bool          `json:"pinned,omitempty"`
	Proven      bool          `json:"proven,omitempty"`

	Audit *audit.PeerState `json:"audit,omitempty"`
}

type savedPast struct {
	Rate     float64       `json:"rate"`
	Coverage float64       `json:"coverage"`
	Age      time.Duration `json:"age"`
}

type savedWait struct {
	Class  int           `json:"class"`
	Weight float64       `json:"weight"`
	Age    time.Duration `json:"age"`
	Size   int64         `json:"size"`
	Time   float64       `json:"time"`
	First  float64       `json:"first"`
	Tail   float64       `json:"tail"`
}

type savedRatio struct {
	Age   time.Duration `json:"age"`
	Value float32       `json:"value"`
}

type savedTest struct {
	Rate float64       `json:"rate"`
	Age  time.Duration `json:"age"`
	Due  bool          `json:"due,omitempty"`
}

type savedPenalty struct {
	Value float64       `json:"value"`
	Age   time.Duration `json:"age"`
	Basis float64       `json:"basis,omitempty"` // of failures
	Bytes int64         `json:"bytes,omitempty"`
}

// save makes the record of a peer.
func (r *Ranker) save(now time.Duration, p *peer) savedRecord {
	seen := ageOf(now, p.seen)
	if p.connected() {
		seen = 0
	}
	gone := p.gone
	for _, c := range p.conns {
		gone.fold(now, burst.DefaultHalfLife, c.reading.Estimation)
	}
	s := savedRecord{
		ID: []byte(p.id), Group: []byte(p.group.name), Age: ageOf(now, p.since), SeenAge: seen,
		BaseRTT: p.base, HighRTT: p.high, Gone: gone.save(now), Long: p.long.save(now),
		Failure: savedPenalty{p.penalty.failure, ageOf(now, p.penalty.failedAt), min(p.penalty.basis, century), p.penalty.bytes},
		Peak:    savedPenalty{Value: p.penalty.peak, Age: ageOf(now, p.penalty.peakAt)}, Failures: p.penalty.failures,
		Tested: p.tested.save(now), Costs: p.costs.ages(now), Picked: p.picked, Completions: p.completions, Bytes: p.bytes,
		ClearAge: ageOf(now, p.clearSince), ShadowAge: ageOf(now, p.shadowedAt), Shadowed: p.shadowedEver,
		Pinned: p.pinned, Proven: p.proven,
	}
	if e, ok := r.explorer.shadow[p.id]; ok {
		s.ShadowAge, s.Shadowed = ageOf(now, e.last), e.ever
	}
	for class, w := range p.waits.class {
		if w.weight > 0 {
			s.Waits = append(s.Waits, w.save(now, class))
		}
	}
	for _, x := range p.calibration.oldestFirst() {
		s.Calibration = append(s.Calibration, savedRatio{ageOf(now, x.at), x.value})
	}
	if st, ok := r.auditor.Export(now, p.id); ok {
		st.Peer, st.Group = "", ""
		s.Audit = &st
	}
	return s
}

// save keeps within what a state file may hold: what is expected of a datum that is said to be huge is not.
func (w *wait) save(now time.Duration, class int) savedWait {
	return savedWait{class, w.weight, ageOf(now, w.aged), w.size, min(w.time, century), min(w.first, century), min(w.tail, century)}
}

func (p past) save(now time.Duration) savedPast {
	if p.coverage == 0 {
		return savedPast{}
	}
	return savedPast{float64(p.rate), p.coverage, ageOf(now, p.at)}
}

func (t tested) save(now time.Duration) savedTest {
	if t.rate == 0 {
		return savedTest{}
	}
	return savedTest{float64(t.rate), ageOf(now, t.at), t.due}
}

func (s savedTest) restore(now time.Duration) tested {
	return tested{burst.SecondsPerByte(s.Rate), now - s.Age, s.Due}
}

func (s savedPast) restore(now time.Duration) past {
	if s.Coverage == 0 {
		return past{}
	}
	return past{burst.SecondsPerByte(s.Rate), s.Coverage, now - s.Age}
}

// oldestFirst returns the samples in the order they came.
func (c *calibration) oldestFirst() []ratio {
	if c.n < calibrationSamples {
		return c.ring[:c.n]
	}
	return append(append([]ratio(nil), c.ring[c.next:]...), c.ring[:c.next]...)
}

// restore makes a peer of a record, in its group.
func (r *Ranker) restore(now time.Duration, s *savedRecord) *peer {
	p := r.newPeer(now, string(s.ID), Group(s.Group))
	p.since, p.seen = now-s.Age, now-s.SeenAge
	p.base, p.high = s.BaseRTT, s.HighRTT
	p.gone, p.long = s.Gone.restore(now), s.Long.restore(now)
	for _, w := range s.Waits {
		p.waits.put(w.Class, wait{w.Weight, now - w.Age, w.Size, w.Time, w.First, w.Tail})
	}
	for _, x := range s.Calibration {
		p.calibration.add(now-x.Age, float64(x.Value))
	}
	p.penalty = penalty{
		failure: s.Failure.Value, failedAt: now - s.Failure.Age, basis: s.Failure.Basis, bytes: s.Failure.Bytes,
		peak: s.Peak.Value, peakAt: now - s.Peak.Age, peakServed: r.tally.Completions, failures: s.Failures,
	}
	p.tested = s.Tested.restore(now)
	p.costs = restored(now, s.Costs)
	p.picked, p.completions, p.bytes = s.Picked, s.Completions, s.Bytes
	p.clearSince, p.shadowedAt, p.shadowedEver = now-s.ClearAge, now-s.ShadowAge, s.Shadowed
	p.pinned = s.Pinned
	if s.Proven {
		p.prove()
	}
	p.renew(now)
	r.population.vote(p, r.rateOf(p))
	p.verdict = r.auditor.Verdict(p.id)
	p.demoted = p.verdict.Kind.Punitive() && !p.pinned
	return p
}

// mostAge is the largest age that a state file may hold.
const mostAge = 100 * 365 * day

// ageOf is the age of an instant for a state file. What was noted while a Save waited for its turn is later than
// the instant given to that, which must not cost the whole file.
func ageOf(now, at time.Duration) time.Duration { return min(max(now-at, 0), mostAge) }

// bearable is an age that a state file may hold: up to a century.
func bearable(d time.Duration) bool { return d >= 0 && d <= mostAge }

// fair is a number that it may hold: finite, and within bounds.
func fair(x, most float64) bool { return x >= 0 && x <= most && !math.IsNaN(x) }

func (s *savedGroup) ok() bool {
	return len(s.Name) > 0 && len(s.Name) <= mostName+3 && bearable(s.Age) && bearable(s.ConvictedAge) && fair(s.Convictions, 1e9)
}

func (s *savedRecord) ok() bool {
	return len(s.ID) > 0 && len(s.ID) <= mostName && len(s.Group) > 0 && len(s.Group) <= mostName+3 &&
		bearable(s.Age) && bearable(s.SeenAge) && bearable(s.ClearAge) && bearable(s.ShadowAge) &&
		bearable(s.BaseRTT) && bearable(s.HighRTT) && s.Gone.ok() && s.Long.ok() &&
		fair(s.Tested.Rate, 1) && bearable(s.Tested.Age) &&
		fair(s.Failure.Value, failureMost) && bearable(s.Failure.Age) && fair(s.Failure.Basis, century) && s.Failure.Bytes >= 0 && fair(s.Peak.Value, peakMost) && bearable(s.Peak.Age) &&
		s.Failures >= 0 && s.Picked >= 0 && s.Completions >= 0 && s.Bytes >= 0 && s.partsOK()
}

func (s *savedRecord) partsOK() bool {
	if len(s.Costs) > costsPerDay || len(s.Calibration) > calibrationSamples || len(s.Waits) > sizeClasses {
		return false
	}
	for _, d := range s.Costs {
		if !bearable(d) {
			return false
		}
	}
	for _, x := range s.Calibration {
		if !bearable(x.Age) || !fair(float64(x.Value), calibrationMost) {
			return false
		}
	}
	for _, w := range s.Waits {
		if !w.ok() {
			return false
		}
	}
	return true
}

func (s savedPast) ok() bool {
	return fair(s.Rate, 1e6) && fair(s.Coverage, math.MaxInt64) && bearable(s.Age)
}

// century is the longest time that a state file may hold, in seconds.
const century = 100 * 365 * 86400

func (w savedWait) ok() bool {
	return w.Class >= 0 && w.Class < sizeClasses && fair(w.Weight, mostWait) && bearable(w.Age) &&
		w.Size > 0 && w.Size <= MaxSize && fair(w.Time, century) && fair(w.First, w.Time) && fair(w.Tail, century)
}
