package cookie

import "time"

// Reading is what RTT knows at an instant. All of it is zero where unknown.
type Reading struct {
	// Base is the least round-trip time of the last BaseSpan/2 to BaseSpan.
	Base time.Duration
	// P50 and P95 are quantiles of the samples that met no queue of payload; of
	// the loaded ones where there are no others. P95, not P50, also counts the
	// cookies that were given up, at the age they had.
	P50, P95 time.Duration
	// UnloadedP50 and UnloadedP95 are the same with nothing standing in: what
	// waited behind seconds of payload says nothing of the wait when there is
	// none, so that predictions use these.
	UnloadedP50, UnloadedP95 time.Duration
	// LoadedP50 and LoadedP95 are the same of the samples that met a queue, and of
	// the cookies that were given up in one.
	LoadedP50, LoadedP95 time.Duration
	// Samples, LoadedSamples and Censored say how many samples the quantiles rest
	// on: of the last one to two HalfSpans, at most 32 for each Flush. They are not
	// totals; Counts has those.
	Samples, LoadedSamples, Censored uint64
	// NewestAt is when the newest sample came, censored ones apart. On an idle
	// connection the last values known stay; their age is for the caller to judge.
	NewestAt time.Duration
}

// RTT summarises round-trip times: a windowed minimum, and quantiles of the
// unloaded and of the loaded samples, both ageing. Make one with NewRTT. It is
// not safe for concurrent use, not even Reading, which ages what it reads.
//
// Memory is fixed: under 1 KiB before the first sample, at most 10 KiB more for
// each of the two kinds of sample that comes at all.
type RTT struct {
	cfg      RTTConfig
	base     windowedMin
	unloaded digest
	loaded   digest
	newestAt time.Duration
}

// NewRTT returns an empty RTT. A config that does not validate is replaced by the
// default.
func NewRTT(cfg RTTConfig) *RTT {
	cfg = cfg.orDefault()
	d := digest{
		compression: cfg.Compression,
		span:        cfg.HalfSpan,
		flushAfter:  cfg.Flush,
		seed:        cfg.Seed,
	}
	return &RTT{cfg: cfg, base: windowedMin{half: cfg.BaseSpan / 2}, unloaded: d, loaded: d}
}

// Observe takes in a round-trip time measured at now, clamped to 0 and Max. Each
// call's now is at or after the last one's. Every sample may lower the base, as
// no queue makes a round trip shorter.
func (r *RTT) Observe(now, rtt time.Duration, loaded bool) {
	rtt = r.clamp(rtt)
	r.base.observe(now, rtt)
	r.newestAt = now
	r.of(loaded).add(sample{at: now, value: rtt})
}

// Censor takes in a round trip that was given up at now, having lasted age: its
// true time is longer, so it raises the P95 of its kind and nothing else. An echo
// that is stuck behind payload for seconds says as little of the unloaded path as
// one that comes late for the same reason.
func (r *RTT) Censor(now, age time.Duration, loaded bool) {
	r.of(loaded).add(sample{at: now, value: r.clamp(age), censored: true})
}

// of is the digest of one of the two kinds.
func (r *RTT) of(loaded bool) *digest {
	if loaded {
		return &r.loaded
	}
	return &r.unloaded
}

// Vouch takes in a round trip that was measured otherwise at now, such as the
// first answer to a request. It counts for the base as an observed one does and
// enters no quantile.
func (r *RTT) Vouch(now, rtt time.Duration) {
	r.base.observe(now, r.clamp(rtt))
}

// Base returns Reading's Base alone, for a caller that needs it with every echo:
// it costs a comparison.
func (r *RTT) Base() time.Duration { return r.base.value() }

// Reading returns the quantiles as of now, with every sample so far counted.
func (r *RTT) Reading(now time.Duration) Reading {
	u, l := r.unloaded.read(now), r.loaded.read(now)
	out := Reading{
		Base: r.base.value(),
		P50:  u.p50, P95: u.p95,
		UnloadedP50: u.p50, UnloadedP95: u.p95,
		LoadedP50: l.p50, LoadedP95: l.p95,
		Samples: u.n, LoadedSamples: l.n, Censored: u.censored + l.censored,
		NewestAt: r.newestAt,
	}
	if u.n == 0 {
		out.P50, out.P95 = l.p50, max(l.p95, u.p95)
	}
	return out
}

// clamp keeps a time within [0, Max].
func (r *RTT) clamp(d time.Duration) time.Duration {
	return min(r.cfg.Max, max(0, d))
}

// windowedMin is a minimum over a window kept in two halves: the current half and
// the one before. When idle for longer, the last minimum known stays.
type windowedMin struct {
	half          time.Duration
	start         time.Duration // of the current half
	current, last time.Duration
	seen, hasLast bool
}

// observe takes in a value; now must not run backwards.
func (w *windowedMin) observe(now, value time.Duration) {
	switch age := now - w.start; {
	case !w.seen || age >= 2*w.half:
		w.start, w.current, w.hasLast = now, value, false
	case age >= w.half:
		w.last, w.hasLast = w.current, true
		w.start, w.current = w.start+w.half, value
	default:
		w.current = min(w.current, value)
	}
	w.seen = true
}

// value returns the minimum, or 0 before the first value.
func (w *windowedMin) value() time.Duration {
	if w.hasLast {
		return min(w.current, w.last)
	}
	return w.current
}
