package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// figures are what a node should show, by series: name{label="value"}, labels in
// order of their names. They are worked out from its snapshot alone, with no code
// of package metrics, so that the two can disagree.
type figures map[string]float64

// set adds a series; pairs are names and values of labels.
func (f figures) set(v float64, name string, pairs ...string) { f[series("assay_"+name, pairs...)] = v }

// series is a name with its labels as Prometheus writes them.
func series(name string, pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, fmt.Sprintf("%s=%q", pairs[i], pairs[i+1]))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return name
	}
	return name + "{" + strings.Join(all, ",") + "}"
}

// expect works out all series of a node.
func expect(s status.Snapshot) figures {
	f := make(figures)
	f.traffic(s)
	f.cookies(s)
	f.times(s)
	f.connections(s)
	f.distributions(s)
	f.slots(s)
	f.ranking(s)
	f.standings(s)
	f.audit(s)
	return f
}

// total sums over all connections there were.
func total(s status.Snapshot, read func(*mux.Snapshot) uint64) float64 {
	var n uint64
	for _, list := range [][]status.PeerSnapshot{s.Peers, s.Past} {
		for i := range list {
			n += read(&list[i].Snapshot)
		}
	}
	return float64(n)
}

// passed sums times over all connections there were, in seconds.
func passed(s status.Snapshot, read func(*mux.Snapshot) time.Duration) float64 {
	return total(s, func(m *mux.Snapshot) uint64 { return uint64(read(m)) }) / 1e9
}

// present sums over the connections of now.
func present(s status.Snapshot, read func(*mux.Snapshot) float64) float64 {
	v := 0.0
	for i := range s.Peers {
		v += read(&s.Peers[i].Snapshot)
	}
	return v
}

func (f figures) traffic(s status.Snapshot) {
	counts := func(read func(*mux.Counts) uint64) float64 {
		return total(s, func(m *mux.Snapshot) uint64 { return read(&m.Counts) })
	}
	f.set(counts(func(c *mux.Counts) uint64 { return c.FramesIn }), "frames_total", "direction", "in")
	f.set(counts(func(c *mux.Counts) uint64 { return c.FramesOut }), "frames_total", "direction", "out")
	f.set(counts(func(c *mux.Counts) uint64 { return c.BytesIn }), "wire_bytes_total", "direction", "in")
	f.set(counts(func(c *mux.Counts) uint64 { return c.BytesOut }), "wire_bytes_total", "direction", "out")
	f.set(counts(func(c *mux.Counts) uint64 { return c.PayloadIn }), "received_payload_bytes_total", "counted", "yes")
	f.set(counts(func(c *mux.Counts) uint64 { return c.UncountedIn }), "received_payload_bytes_total", "counted", "no")
	f.set(counts(func(c *mux.Counts) uint64 { return c.Reads }), "io_calls_total", "call", "read")
	f.set(counts(func(c *mux.Counts) uint64 { return c.Writes }), "io_calls_total", "call", "write")
	f.set(counts(func(c *mux.Counts) uint64 { return c.Splits }), "split_frames_total")
	f.set(counts(func(c *mux.Counts) uint64 { return c.Cuts }), "cut_frames_total")
	f.set(counts(func(c *mux.Counts) uint64 { return c.Resets }), "stream_resets_total")
	f.set(counts(func(c *mux.Counts) uint64 { return c.LateBytes }), "late_bytes_total")
	f.set(counts(func(c *mux.Counts) uint64 { return c.EchoesStripped }), "stripped_echoes_total")
	f.set(counts(func(c *mux.Counts) uint64 { return c.ForeignEchoes }), "foreign_echoes_total")
	f.set(counts(func(c *mux.Counts) uint64 { return c.LoneCookies }), "cookies_lone_total")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Kernel.OutOfOrder }), "kernel_out_of_order_packets_total")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Kernel.ReorderingSeen }), "kernel_reordering_events_total")
}

func (f figures) cookies(s status.Snapshot) {
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Issued }), "cookies_issued_total")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Skipped }), "cookies_skipped_total")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Withdrawn }), "cookies_withdrawn_total")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Echoed }), "cookie_echoes_total", "outcome", "sample")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Late }), "cookie_echoes_total", "outcome", "late")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Replayed }), "cookie_echoes_total", "outcome", "replay")
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Cookies.Forged }), "cookie_echoes_total", "outcome", "forged")
}

func (f figures) times(s status.Snapshot) {
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Gaps.Credit }), "gap_seconds_total", "cause", "credit")
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Gaps.Absent }), "gap_seconds_total", "cause", "absent")
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Gaps.Frozen }), "gap_seconds_total", "cause", "frozen")
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Burst.Tight }), "silence_seconds_total", "kind", "tight")
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Burst.Ours }), "silence_seconds_total", "kind", "ours")
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Burst.Peers }), "silence_seconds_total", "kind", "peers")
	f.set(passed(s, func(m *mux.Snapshot) time.Duration { return m.Burst.Waiting }), "silence_seconds_total", "kind", "waiting")
	for r := range burst.Reasons {
		f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Burst.Bursts[r] }), "bursts_total", "reason", r.String())
	}
	f.set(total(s, func(m *mux.Snapshot) uint64 { return m.Estimate.Bursts }), "rated_bursts_total")
}

func (f figures) connections(s status.Snapshot) {
	yes := func(b bool) float64 { return map[bool]float64{true: 1}[b] }
	f.set(float64(len(s.Peers)), "connections")
	f.set(present(s, func(m *mux.Snapshot) float64 { return yes(m.RTT.Confirmed) }), "confirmed_connections")
	f.set(present(s, func(m *mux.Snapshot) float64 { return yes(m.Counts.TransparentIn) }), "transparent_connections", "direction", "in")
	f.set(present(s, func(m *mux.Snapshot) float64 { return yes(m.Counts.TransparentOut) }), "transparent_connections", "direction", "out")
	f.set(present(s, func(m *mux.Snapshot) float64 { return float64(m.Fetches) }), "outstanding_fetches")
	f.set(present(s, func(m *mux.Snapshot) float64 { return float64(m.Outstanding) }), "outstanding_cookies")
	oldest := 0.0
	for _, p := range s.Peers {
		oldest = max(oldest, p.Snapshot.FrontAge.Seconds())
	}
	f.set(oldest, "front_age_max_seconds")
	f.set(present(s, func(m *mux.Snapshot) float64 { return float64(m.RTT.Samples) }), "rtt_samples", "kind", "unloaded")
	f.set(present(s, func(m *mux.Snapshot) float64 { return float64(m.RTT.LoadedSamples) }), "rtt_samples", "kind", "loaded")
	f.set(present(s, func(m *mux.Snapshot) float64 { return float64(m.RTT.Censored) }), "rtt_samples", "kind", "censored")
	open := func(m *mux.Snapshot) float64 { return yes(m.Burst.Gate != burst.Idle) }
	f.set(present(s, func(m *mux.Snapshot) float64 { return yes(m.Burst.Gate == burst.Open) }), "open_bursts", "gate", "open")
	f.set(present(s, func(m *mux.Snapshot) float64 { return yes(m.Burst.Gate == burst.Tripped) }), "open_bursts", "gate", "tripped")
	f.set(present(s, func(m *mux.Snapshot) float64 { return open(m) * yes(m.Burst.Cold) }), "open_bursts_cold")
	f.set(present(s, func(m *mux.Snapshot) float64 { return open(m) * float64(m.Burst.Bytes) }), "open_burst_bytes")
	f.set(present(s, func(m *mux.Snapshot) float64 { return open(m) * float64(m.Burst.Covered) }), "open_burst_covered_bytes")
}

// reading is a figure of one connection: what it is, and whether it is known.
type reading struct {
	name  string
	slots bool
	read  func(*mux.Snapshot) (v float64, known bool)
}

func readings() []reading {
	of := func(read func(*mux.Snapshot) float64) func(*mux.Snapshot) (float64, bool) {
		return func(m *mux.Snapshot) (float64, bool) { v := read(m); return v, v > 0 }
	}
	kernel := func(read func(*mux.Kernel) time.Duration) func(*mux.Snapshot) (float64, bool) {
		return func(m *mux.Snapshot) (float64, bool) {
			k := &m.Kernel
			v := read(k).Seconds()
			return v, v > 0 && k.At > 0 && m.At-k.At+k.AckAge <= 15*time.Second
		}
	}
	return []reading{
		{"rtt_base_seconds", true, of(func(m *mux.Snapshot) float64 { return m.RTT.Base.Seconds() })},
		{"rtt_median_seconds", false, of(func(m *mux.Snapshot) float64 { return m.RTT.P50.Seconds() })},
		{"rtt_p95_seconds", true, of(func(m *mux.Snapshot) float64 { return m.RTT.P95.Seconds() })},
		{"rtt_loaded_median_seconds", false, of(func(m *mux.Snapshot) float64 { return m.RTT.LoadedP50.Seconds() })},
		{"rtt_loaded_p95_seconds", true, of(func(m *mux.Snapshot) float64 { return m.RTT.LoadedP95.Seconds() })},
		{"kernel_rtt_seconds", false, kernel(func(k *mux.Kernel) time.Duration { return k.RTT })},
		{"kernel_rtt_min_seconds", false, kernel(func(k *mux.Kernel) time.Duration { return k.MinRTT })},
		{"rate_bytes_per_second", true, of(func(m *mux.Snapshot) float64 { return perSecond(m.Estimate.Rate) })},
		{"rate_error_ratio", true, func(m *mux.Snapshot) (float64, bool) {
			return float64(m.Estimate.StandardError) / float64(m.Estimate.Rate), m.Estimate.Rate > 0
		}},
		{"rate_floor_bytes_per_second", false, of(func(m *mux.Snapshot) float64 { return perSecond(m.Estimate.UpperBound) })},
		{"coverage_bytes", true, of(func(m *mux.Snapshot) float64 { return float64(m.Estimate.Coverage) })},
		{"front_age_seconds", false, func(m *mux.Snapshot) (float64, bool) { return m.FrontAge.Seconds(), m.Outstanding > 0 }},
		{"echo_age_seconds", false, of(func(m *mux.Snapshot) float64 { return m.EchoAge.Seconds() })},
		{"idle_seconds", false, func(m *mux.Snapshot) (float64, bool) { return (m.At - m.Burst.Last).Seconds(), m.Burst.Last > 0 }},
		{"connection_age_seconds", false, func(m *mux.Snapshot) (float64, bool) { return m.At.Seconds(), true }},
	}
}

// perSecond turns seconds per byte round; 0 is unknown.
func perSecond(r burst.SecondsPerByte) float64 {
	if r <= 0 {
		return 0
	}
	return 1 / float64(r)
}

func (f figures) distributions(s status.Snapshot) {
	for _, r := range readings() {
		n, sum := 0, 0.0
		for i := range s.Peers {
			if v, ok := r.read(&s.Peers[i].Snapshot); ok {
				n++
				sum += v
			}
		}
		f.set(float64(n), r.name+"_count")
		f.set(sum, r.name+"_sum")
	}
}

// slots are the connections by estimated rate, the fastest first.
func (f figures) slots(s status.Snapshot) {
	best := slices.Clone(s.Peers)
	slices.SortStableFunc(best, func(a, b status.PeerSnapshot) int {
		return cmp.Or(cmp.Compare(perSecond(b.Snapshot.Estimate.Rate), perSecond(a.Snapshot.Estimate.Rate)), cmp.Compare(a.Name, b.Name))
	})
	for i := range best {
		for _, r := range readings() {
			if v, ok := r.read(&best[i].Snapshot); ok && r.slots {
				f.set(v, "top_"+r.name, "slot", strconv.Itoa(i+1))
			}
		}
	}
}

func (f figures) ranking(s status.Snapshot) {
	r := &s.Ranking.Stats
	for name, v := range map[string]float64{
		"plans_total": float64(r.Plans), "hedges_total": float64(r.Hedges), "own_fault_seconds_total": r.Ours.Seconds(),
		"events_dropped_total": float64(r.Dropped), "peers": float64(r.Peers), "connected_peers": float64(r.Connected),
		"connected_groups": float64(r.Groups), "demoted_peers": float64(r.Demoted), "prior_bytes_per_second": perSecond(r.Prior),
		"budget_spent_bytes": float64(r.Spent),
	} {
		f.set(v, "ranking_"+name)
	}
	for role, n := range r.Picks {
		f.set(float64(n), "ranking_transfers_total", "role", ranking.Role(role).String())
	}
	f.set(float64(r.Completions), "ranking_outcomes_total", "outcome", "completed")
	f.set(float64(r.Failures), "ranking_outcomes_total", "outcome", "failed")
	for kind, n := range r.Events {
		f.set(float64(n), "ranking_events_total", "event", ranking.EventKind(kind).String())
	}
	for kind, n := range r.Verdicts {
		f.set(float64(n), "ranking_verdicts", "verdict", label(audit.Kind(kind)))
	}
	held := 0.0
	if r.Held != "not_held" {
		held = 1
	}
	f.set(held, "ranking_verdicts_held", "cause", r.Held)
	f.set(float64(r.OrdinaryLeft), "ranking_budget_left_bytes", "purpose", "ordinary")
	f.set(float64(r.CriticalLeft), "ranking_budget_left_bytes", "purpose", "critical")
	f.set(float64(r.RedundantLeft), "ranking_budget_left_bytes", "purpose", "redundant")
}

func label(k audit.Kind) string { return strings.ReplaceAll(k.String(), " ", "_") }

func (f figures) standings(s status.Snapshot) {
	for i, b := range s.Ranking.Best {
		demoted := 0.0
		if b.Demoted {
			demoted = 1
		}
		for name, v := range map[string]float64{
			"expected_seconds": b.Expected.Seconds(), "claim_seconds": b.Claim.Seconds(), "measured_ratio": b.Measured,
			"calibration_ratio": b.Calibration, "penalty_ratio": b.Penalty, "outstanding_bytes": float64(b.Outstanding),
			"completions": float64(b.Completions), "failures": float64(b.Failures), "demoted": demoted,
			"verdict_gravity": float64(b.Verdict.Kind),
		} {
			f.set(v, "ranking_top_"+name, "slot", strconv.Itoa(i+1))
		}
	}
}

func (f figures) audit(s status.Snapshot) {
	for i, st := range s.Ranking.Strata {
		in := []string{
			"size_bytes_from", strconv.FormatInt(st.SizeFrom, 10),
			"rtt_seconds_from", strconv.FormatFloat(st.RTTFrom.Seconds(), 'g', 4, 64),
			"lossy", strconv.FormatBool(st.Lossy),
		}
		thin := 0.0
		if st.Threshold.Thin {
			thin = 1
		}
		for name, v := range map[string]float64{
			"threshold_ratio": st.Threshold.Value, "threshold_raw_ratio": st.Threshold.Raw, "threshold_thin": thin,
			"threshold_voters": float64(st.Threshold.Voters), "threshold_merges": float64(st.Threshold.Merged),
			"stratum_voters":       float64(st.Voters),
			"residual_ratio_count": float64(st.Residuals.Count), "residual_ratio_sum": st.Residuals.Sum,
		} {
			f.set(v, "audit_"+name, in...)
		}
		for _, b := range s.Residuals[i] {
			f.set(float64(b.Count), "audit_residual_ratio_bucket", append(in, "le", strconv.FormatFloat(b.Bound, 'g', -1, 64))...)
		}
		f.set(float64(st.Residuals.Count), "audit_residual_ratio_bucket", append(in, "le", "+Inf")...)
	}
	for _, r := range s.Ranking.FreeRates {
		f.set(r.Rate, "audit_free_rate_ratio", "verdict", label(r.Kind))
		f.set(float64(r.InARow), "audit_convicting_run", "verdict", label(r.Kind))
	}
}
