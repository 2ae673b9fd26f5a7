package passive

import "time"

// Traffic is payload that passed: bytes delivered to the application or taken from it, without the
// multiplexer's headers.
type Traffic struct {
	Read, Written int64 // bytes; a negative count is none
	Test          bool  // part of a speed test
}

// kinds of series: two directions, each with the bytes of tests and without.
const (
	read = iota
	written
	readOrdinary
	writtenOrdinary
	kinds
)

// overtaken is how far two readers' instants may cross. More would let a clock that was set back by
// so much stretch a second; less would take a reader that was not scheduled for a clock set back.
const overtaken = time.Second

// Meter observes the goodput of a node. Create it with New. About 7 KB by default, for one node and
// not one a peer. Not safe for concurrent use.
//
// A second counts once it is over, and windows are of whole seconds. Time that passes without traffic
// (idle, or the machine asleep) costs nothing, and counts as seconds without bytes. Instants should
// be those of one monotonic clock. One that lies up to a second behind the newest is of a reader that
// was overtaken: its bytes count in the second under way. One that lies further behind means that the
// clock was set back, and time runs on from there. Only what passed between the last instant before
// and the first after is lost: a rate across it is too high by that, once.
type Meter struct {
	cfg    Config
	newest time.Duration // the latest instant, since the clock was last set back
	age    time.Duration // the time that has passed
	second int64         // the one under way, counted from 0
	bucket int64         // in which it lies, counted from 0
	series [kinds]series
}

// New returns a meter that starts at an instant. The error is ErrConfig.
func New(cfg Config, at time.Duration) (*Meter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Meter{cfg: cfg, newest: at}
	for i := range m.series {
		// One bucket more than the window has, for the one under way.
		m.series[i] = newSeries(int(cfg.Best/time.Second), cfg.Buckets+1)
	}
	return m, nil
}

// Add counts traffic at an instant. Its cost does not depend on how long ago the last was.
func (m *Meter) Add(at time.Duration, t Traffic) {
	m.advance(m.now(at))
	m.count(read, t.Read, t.Test)
	m.count(written, t.Written, t.Test)
}

func (m *Meter) count(kind int, n int64, test bool) {
	if n <= 0 {
		return
	}
	m.series[kind].add(n)
	if !test {
		m.series[kind+readOrdinary].add(n)
	}
}

// Figures returns what was observed until an instant, with no limit configured: see
// Figures.WithLimit. A node that is younger than Best has the bytes it has, over all of Best: what it
// can do at least.
func (m *Meter) Figures(at time.Duration) Figures {
	m.advance(m.now(at))
	f := Figures{
		Read:                 m.series[read].rate(),
		Written:              m.series[written].rate(),
		ObservedWithoutTests: min(m.series[readOrdinary].rate(), m.series[writtenOrdinary].rate()),
	}
	f.Observed = min(f.Read, f.Written)
	return f.WithLimit(0)
}

// MeanGoodput returns the bytes per second of either direction, tests included, over the window or
// over the meter's life if that is shorter; 0 in its first second.
func (m *Meter) MeanGoodput(at time.Duration) (readRate, writtenRate float64) {
	m.advance(m.now(at))
	since := max(0, m.bucket-int64(m.cfg.Buckets)) * m.bucketSeconds()
	if m.second == since {
		return 0, 0
	}
	seconds := float64(m.second - since)
	return m.series[read].bytes() / seconds, m.series[written].bytes() / seconds
}

// Utilisation returns mean goodput over a capacity in bytes per second, of the busier direction: 1 is
// a node that is always at its limit. 0 if the capacity is not positive.
func (m *Meter) Utilisation(at time.Duration, capacity float64) float64 {
	if !(capacity > 0) {
		return 0
	}
	r, w := m.MeanGoodput(at)
	return max(r, w) / capacity
}

func (m *Meter) bucketSeconds() int64 { return int64(m.cfg.bucket() / time.Second) }

// oldest bounds a meter's age (146 years), so that no sum overflows. It then stands still.
const oldest = 1 << 62

// now returns the second in which an instant lies, by the meter's own age.
func (m *Meter) now(at time.Duration) int64 {
	switch passed := at - m.newest; {
	case at >= m.newest:
		if passed < 0 || passed > oldest-m.age {
			passed = oldest - m.age
		}
		m.age, m.newest = m.age+passed, at
	case passed >= 0 || passed < -overtaken:
		m.newest = at
	}
	return int64(m.age / time.Second)
}

// advance makes a second the one under way.
func (m *Meter) advance(to int64) {
	// After as many seconds as a run has, only the one that is next to go is not zero.
	for range min(to-m.second, int64(m.cfg.Best/time.Second)) {
		slot := m.slot(m.bucket)
		for i := range m.series {
			m.series[i].finish(slot)
		}
		m.second++
		m.roll()
	}
	m.second = to
	m.roll()
}

// roll empties the buckets that begin, up to that of the second under way.
func (m *Meter) roll() {
	now := m.second / m.bucketSeconds()
	buckets := int64(m.cfg.Buckets) + 1
	for b := max(m.bucket, now-buckets) + 1; b <= now; b++ {
		slot := m.slot(b)
		for i := range m.series {
			m.series[i].best[slot], m.series[i].total[slot] = 0, 0
		}
	}
	m.bucket = now
}

func (m *Meter) slot(bucket int64) int { return int(bucket % int64(m.cfg.Buckets+1)) }
