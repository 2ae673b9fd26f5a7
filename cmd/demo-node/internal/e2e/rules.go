package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// evaluated is a rule as the server sees it.
type evaluated struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Health    string `json:"health"`
	LastError string `json:"lastError"`
}

// rules wants each rule to evaluate, and each recording rule to record.
func (t *trial) rules(ctx context.Context) (string, error) {
	var data struct {
		Groups []struct {
			Rules []evaluated `json:"rules"`
		} `json:"groups"`
	}
	if err := t.prom.api(ctx, "rules", url.Values{}, &data); err != nil {
		return "", err
	}
	n, records := 0, 0
	var wrong []error
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			n++
			if r.Health != "ok" {
				wrong = append(wrong, fmt.Errorf("%s is %s: %s", r.Name, r.Health, r.LastError))
				continue
			}
			if r.Type != "recording" {
				continue
			}
			records++
			wrong = append(wrong, t.recorded(ctx, r.Name))
		}
	}
	if n == 0 {
		wrong = append(wrong, errors.New("the server has no rules"))
	}
	wrong = append(wrong, t.addsUp(ctx))
	return fmt.Sprintf("%d, of which %d record; the fleet's are the sums of its nodes'", n, records), first(wrong)
}

// recorded wants a rule to have recorded something, unless there is nothing.
func (t *trial) recorded(ctx context.Context, name string) error {
	samples, err := t.prom.query(ctx, name)
	if err == nil && len(samples) == 0 && !t.nothing(name) {
		err = fmt.Errorf("%s records nothing", name)
	}
	return err
}

// nothing says whether a rule rightly records nothing: where every stratum is
// thin there is no threshold that rests on voters.
func (t *trial) nothing(name string) bool {
	for _, s := range t.last.after.Ranking.Strata {
		if !s.Threshold.Thin {
			return false
		}
	}
	return name == "job_size_rtt:assay_audit_threshold_ratio:min" || name == "job_size_rtt:assay_audit_threshold_ratio:max"
}

// addsUp wants the fleet to be twice the cast, in native histograms and in
// numbers: it is scraped as two nodes, and at rest.
func (t *trial) addsUp(ctx context.Context) error {
	peers := float64(len(t.last.after.Peers))
	for expr, want := range map[string]float64{
		"job:assay_nodes:count":                                        3,
		"job:assay_connections:sum":                                    2 * peers,
		"histogram_count(job:assay_rtt_base_seconds:sum)":              2 * peers,
		"histogram_count(job:assay_rate_bytes_per_second:sum)":         2 * expect(t.last.after)["assay_rate_bytes_per_second_count"],
		"job:assay_ranking_demoted_peers:sum":                          2 * float64(t.last.after.Ranking.Stats.Demoted),
		`sum(job_verdict:assay_ranking_verdicts:sum)`:                  2 * float64(t.last.after.Ranking.Stats.Connected),
		`job_verdict:assay_ranking_verdicts:sum{verdict="proven_lie"}`: 2 * expect(t.last.after)[`assay_ranking_verdicts{verdict="proven_lie"}`],
	} {
		samples, err := t.prom.query(ctx, expr)
		if err != nil {
			return err
		}
		if len(samples) != 1 {
			return fmt.Errorf("%s has %d series, want one", expr, len(samples))
		}
		if v, err := samples[0].number(); err != nil || v != want {
			return fmt.Errorf("%s is %v, want %v: %w", expr, v, want, errors.Join(err, errNotSum))
		}
	}
	return nil
}

var errNotSum = errors.New("it is not the sum of the nodes")
