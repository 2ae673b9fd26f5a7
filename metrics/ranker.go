package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// rankerFamily is a family over what a ranker knows. Each yields its series, the
// values of its labels last.
type rankerFamily struct {
	family
	each func(r *Ranking, yield func(v float64, labels ...string))
}

// newRanked makes a family with one value.
func newRanked(t Type, name, help string, read func(*Ranking) float64) rankerFamily {
	return rankerFamily{newFamily(t, "ranking_"+name, help), func(r *Ranking, yield func(float64, ...string)) { yield(read(r)) }}
}

// newRankedEach makes a family with labels.
func newRankedEach(t Type, name, help string, labels []string, each func(*Ranking, func(float64, ...string))) rankerFamily {
	return rankerFamily{newFamily(t, name, help, labels...), each}
}

// rankerFamilies are all that WithRanker adds, but for the rank slots and the
// residuals.
func rankerFamilies() []rankerFamily {
	all := append(rankerCounters(), rankerGauges()...)
	return append(append(all, budgetGauges()...), auditGauges()...)
}

func rankerCounters() []rankerFamily {
	return []rankerFamily{
		newRanked(Counter, "plans_total", "Choices made.", func(r *Ranking) float64 { return float64(r.Stats.Plans) }),
		newRankedEach(Counter, "ranking_transfers_total", "Transfers begun, by their role: the primary of a plan, a redundant copy of it, a hedge in flight, a shadow for a demoted peer, an exploration of one too little is known of.",
			[]string{"role"}, func(r *Ranking, yield func(float64, ...string)) {
				for role, n := range r.Stats.Picks {
					yield(float64(n), ranking.Role(role).String())
				}
			}),
		newRankedEach(Counter, "ranking_outcomes_total", "Transfers that ended: completed, or failed by the peer's doing or the path's.",
			[]string{"outcome"}, func(r *Ranking, yield func(float64, ...string)) {
				yield(float64(r.Stats.Completions), "completed")
				yield(float64(r.Stats.Failures), "failed")
			}),
		newRanked(Counter, "hedges_total", "Hedges: the missing range of a fetch asked of another peer in flight.", func(r *Ranking) float64 { return float64(r.Stats.Hedges) }),
		newRanked(Counter, "own_fault_seconds_total", "Seconds of finished fetches that were our own doing, and are held against nobody.", func(r *Ranking) float64 { return r.Stats.Ours.Seconds() }),
		newRankedEach(Counter, "ranking_events_total", "Events reported to the host, by kind.",
			[]string{"event"}, func(r *Ranking, yield func(float64, ...string)) {
				for kind, n := range r.Stats.Events {
					yield(float64(n), ranking.EventKind(kind).String())
				}
			}),
		newRanked(Counter, "events_dropped_total", "Events that the host did not take in time.", func(r *Ranking) float64 { return float64(r.Stats.Dropped) }),
	}
}

func rankerGauges() []rankerFamily {
	return []rankerFamily{
		newRanked(Gauge, "peers", "Peers with a record, those that have left included.", func(r *Ranking) float64 { return float64(r.Stats.Peers) }),
		newRanked(Gauge, "connected_peers", "Peers connected now.", func(r *Ranking) float64 { return float64(r.Stats.Connected) }),
		newRanked(Gauge, "connected_groups", "Groups, that is network locations, of the connected peers.", func(r *Ranking) float64 { return float64(r.Stats.Groups) }),
		newRanked(Gauge, "demoted_peers", "Connected peers that are chosen no more.", func(r *Ranking) float64 { return float64(r.Stats.Demoted) }),
		newRankedEach(Gauge, "ranking_verdicts", "Connected peers by what the audit says of them, the gravest where several verdicts stand.",
			[]string{"verdict"}, func(r *Ranking, yield func(float64, ...string)) {
				for kind, n := range r.Stats.Verdicts {
					yield(float64(n), verdictLabel(audit.Kind(kind)))
				}
			}),
		newRankedEach(Gauge, "ranking_verdicts_held", "1 while verdicts are held because we suspect ourselves, else 0, and why.",
			[]string{"cause"}, func(r *Ranking, yield func(float64, ...string)) {
				yield(one(r.Stats.Held != notHeld), label(r.Stats.Held))
			}),
		newRanked(Gauge, "prior_bytes_per_second", "The rate in payload bytes per second that strangers are taken for.", func(r *Ranking) float64 { return r.Stats.Prior.BytesPerSecond() }),
	}
}

// notHeld is what a ranker calls the cause where nothing is held.
const notHeld = "not_held"

func budgetGauges() []rankerFamily {
	return []rankerFamily{
		newRankedEach(Gauge, "ranking_budget_left_bytes", "Extra bytes that may be spent now: ordinary on hedges, shadows and exploration, critical on hedges of critical fetches, redundant on their copies from the start.",
			[]string{"purpose"}, func(r *Ranking, yield func(float64, ...string)) {
				yield(float64(r.Stats.OrdinaryLeft), "ordinary")
				yield(float64(r.Stats.CriticalLeft), "critical")
				yield(float64(r.Stats.RedundantLeft), "redundant")
			}),
		newRanked(Gauge, "budget_spent_bytes", "Extra bytes spent in the last hour.", func(r *Ranking) float64 { return float64(r.Stats.Spent) }),
	}
}

// stratumLabels name a stratum by its lower bounds.
func stratumLabels() []string { return []string{"size_bytes_from", "rtt_seconds_from", "lossy"} }

func stratumValues(s *audit.Stratum) []string {
	return []string{
		strconv.FormatInt(s.SizeFrom, 10),
		strconv.FormatFloat(s.RTTFrom.Seconds(), 'g', 4, 64),
		strconv.FormatBool(s.Lossy),
	}
}

func auditGauges() []rankerFamily {
	stratum := func(name, help string, read func(*audit.Stratum) float64) rankerFamily {
		return newRankedEach(Gauge, name, help, stratumLabels(), func(r *Ranking, yield func(float64, ...string)) {
			for i := range r.Strata {
				yield(read(&r.Strata[i]), stratumValues(&r.Strata[i])...)
			}
		})
	}
	return []rankerFamily{
		stratum("audit_threshold_ratio", "By how much a fetch may exceed its claim, as a share of that, by stratum of size, base round trip and loss.",
			func(s *audit.Stratum) float64 { return s.Threshold.Value }),
		stratum("audit_threshold_raw_ratio", "The threshold before the clamp, 0 while nobody votes.",
			func(s *audit.Stratum) float64 { return s.Threshold.Raw }),
		stratum("audit_threshold_thin", "1 where too few groups vote, so that the ceiling stands in for a threshold.",
			func(s *audit.Stratum) float64 { return one(s.Threshold.Thin) }),
		stratum("audit_threshold_voters", "Groups behind the threshold, those of merged neighbours included.",
			func(s *audit.Stratum) float64 { return float64(s.Threshold.Voters) }),
		stratum("audit_threshold_merges", "How many times strata were merged to find enough voters.",
			func(s *audit.Stratum) float64 { return float64(s.Threshold.Merged) }),
		stratum("audit_stratum_voters", "Groups that vote in the stratum itself.",
			func(s *audit.Stratum) float64 { return float64(s.Voters) }),
		newRankedEach(Gauge, "audit_free_rate_ratio", "The share of its audited fetches that a peer may spoil for ever without that verdict.",
			[]string{"verdict"}, func(r *Ranking, yield func(float64, ...string)) {
				for _, f := range r.FreeRates {
					yield(f.Rate, verdictLabel(f.Kind))
				}
			}),
		newRankedEach(Gauge, "audit_convicting_run", "How many spoilt fetches in a row bring that verdict on a peer with a clean record.",
			[]string{"verdict"}, func(r *Ranking, yield func(float64, ...string)) {
				for _, f := range r.FreeRates {
					yield(float64(f.InARow), verdictLabel(f.Kind))
				}
			}),
	}
}

// residuals are the histogram of a stratum's residuals. They only rise.
func residuals() family {
	return newFamily(Histogram, "audit_residual_ratio", "By how much audited fetches exceeded their claim, as a share of that, by stratum. Below 0 are those that were faster.", stratumLabels()...)
}

func (t *rankerTables) showResiduals(out []prometheus.Metric, r *Ranking) []prometheus.Metric {
	for i := range r.Strata {
		s := &r.Strata[i]
		below := make(map[float64]uint64)
		s.Residuals.Buckets(func(bound float64, n uint64) bool { below[bound] = n; return true })
		out = append(out, prometheus.MustNewConstHistogram(t.residuals.desc, s.Residuals.Count, s.Residuals.Sum, below, stratumValues(s)...))
	}
	return out
}

// standing is a figure of one peer, shown in the rank slots.
type standing struct {
	family
	read func(*ranking.Standing) float64
}

func standings() []standing {
	slot := func(name, help string, read func(*ranking.Standing) float64) standing {
		return standing{newFamily(Gauge, "ranking_top_"+name, help+" Of the peer in that rank, 1 being the best.", "slot"), read}
	}
	return []standing{
		slot("expected_seconds", "Seconds that a datum of the size asked about should take: what ranks.", func(s *ranking.Standing) float64 { return s.Expected.Seconds() }),
		slot("claim_seconds", "Seconds that the peer's own rate claims for it, 0 without one.", func(s *ranking.Standing) float64 { return s.Claim.Seconds() }),
		slot("measured_ratio", "How much of what is expected rests on completed fetches, 0 to 1; the rest is predicted.", func(s *ranking.Standing) float64 { return s.Measured }),
		slot("calibration_ratio", "How much longer than claimed the peer takes.", func(s *ranking.Standing) float64 { return s.Calibration }),
		slot("penalty_ratio", "What failures and slow completions multiply the expected time with.", func(s *ranking.Standing) float64 { return s.Penalty }),
		slot("outstanding_bytes", "Bytes awaited from the peer.", func(s *ranking.Standing) float64 { return float64(s.Outstanding) }),
		slot("completions", "Fetches that the peer completed, as far as is remembered.", func(s *ranking.Standing) float64 { return float64(s.Completions) }),
		slot("failures", "Fetches that failed with the peer, as far as is remembered.", func(s *ranking.Standing) float64 { return float64(s.Failures) }),
		slot("demoted", "1 if the peer is chosen no more, and ranks behind all that are.", func(s *ranking.Standing) float64 { return one(s.Demoted) }),
		slot("verdict_gravity", "The gravest verdict as a number: 0 clear, 1 slow to start, 2 path, 3 overclaims, 4 never alone, 5 withholding, 6 proven lie.", func(s *ranking.Standing) float64 { return float64(s.Verdict.Kind) }),
	}
}

// rankerTables are the metrics that WithRanker adds.
type rankerTables struct {
	top       int
	all       []rankerFamily
	slots     []standing
	residuals family
}

func newRankerTables(top int) *rankerTables {
	t := &rankerTables{top: top, all: rankerFamilies(), residuals: residuals()}
	if top > 0 {
		t.slots = standings()
	}
	return t
}

func (t *rankerTables) families() []family {
	if t == nil {
		return nil
	}
	all := make([]family, 0, len(t.all)+len(t.slots)+1)
	for _, f := range t.all {
		all = append(all, f.family)
	}
	for _, s := range t.slots {
		all = append(all, s.family)
	}
	return append(all, t.residuals)
}

// show makes the ranker's metrics of one scrape.
func (t *rankerTables) show(r Ranking) []prometheus.Metric {
	var out []prometheus.Metric
	for _, f := range t.all {
		f.each(&r, func(v float64, labels ...string) { out = append(out, f.metric(v, labels...)) })
	}
	for i := range r.Best[:min(t.top, len(r.Best))] {
		for _, s := range t.slots {
			out = append(out, s.metric(s.read(&r.Best[i]), strconv.Itoa(i+1)))
		}
	}
	return t.showResiduals(out, &r)
}

// verdictLabel is a kind as a label: with underscores, like the ranker's own.
func verdictLabel(k audit.Kind) string {
	b := []byte(k.String())
	for i := slices.Index(b, ' '); i >= 0; i = slices.Index(b, ' ') {
		b[i] = '_'
	}
	return string(b)
}
