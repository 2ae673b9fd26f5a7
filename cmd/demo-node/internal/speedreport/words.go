package speedreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// claimName is how a claim is called in sentences and tables.
func claimName(c report.Claim) string {
	return map[report.Claim]string{
		report.Advertised: "advertised", report.Observed: "observed",
		report.ObservedWithoutTests: "observed without tests", report.PassiveEstimate: "passive estimate",
	}[c]
}

func outcomeName(o report.Outcome) string {
	return strings.ReplaceAll(string(o), "_", " ")
}

// verdictName says what a peer's claim is worth.
func verdictName(v report.Verdict) string {
	return map[report.Verdict]string{
		report.True: "true", report.Understated: "says too little", report.Overstated: "SAYS TOO MUCH",
		report.Undecided: "undecided", report.Untold: "-",
	}[v]
}

func limitName(l report.Limit) string {
	return map[report.Limit]string{
		report.ByPeer: "the peer", report.ByPeerCap: "its cap", report.ByWindow: "our window", report.ByCPU: "our CPU",
		report.ByOurCap: "our cap", report.ByUnknown: "unknown",
	}[l]
}

// sentence is one that the report begins with; a bad one is of a peer that says too much.
type sentence struct {
	Text string
	Bad  bool
}

// lead is what the report comes to, in sentences.
func lead(a *report.Analysis) []sentence {
	var all []sentence
	say := func(format string, args ...any) { all = append(all, sentence{Text: fmt.Sprintf(format, args...)}) }
	c := a.Counts
	if a.CapacityFrom == report.FromPublished {
		say("%s with figures from before and after a speed test. What a peer advertises after it is taken for its capacity.",
			count(c.Measured, "peer", "peers"))
	} else {
		say("%d of %s measured%s.", c.Measured, count(c.Peers, "peer", "peers"), unmeasured(c))
	}
	if a.Shortened {
		say("The tests were shortened: they prove less than tests of 20 s.")
	}
	if e, ok := advertised(a); ok {
		say("Together they advertise %s and can do %s: a network capacity error of %s.",
			rate(e.SumClaimed), rate(e.SumCapacity), percent(e.NetworkCapacityError))
	}
	if a.Change.N > 0 {
		say("The test moved what they advertise from %s to %s, %s; the weights changed by %s in all.",
			rate(a.Change.Before), rate(a.Change.After), percent(a.Change.Discovered), share(a.Change.WeightChange))
	}
	if c.LowerBounds > 0 {
		say("Of %s there is only a lower bound.", count(c.LowerBounds, "peer", "peers"))
	}
	if a.Cost.Runs > 0 {
		say("The tests cost %s in %s, %s of transfer.", size(float64(a.Cost.Bytes)), count(a.Cost.Runs, "run", "runs"), span(a.Cost.Seconds))
	}
	return append(all, liars(a)...)
}

// unmeasured says why the rest was not.
func unmeasured(c report.Counts) string {
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{c.OptedOut, "opted out"}, {c.Refused, "refused for now"}, {c.Failed, "failed"}, {c.Pending, "still to come"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.text))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// mostNamed is how many liars are named in a sentence each.
const mostNamed = 10

// liars names the peers that advertise more than they can do, where a test of ours says so: a figure
// that fell of itself is no lie.
func liars(a *report.Analysis) []sentence {
	if a.CapacityFrom == report.FromPublished || a.Counts.Measured == 0 {
		return nil
	}
	// Beside a lower bound, or of a peer that says nothing, nothing can be said.
	if !slices.ContainsFunc(a.Rows, func(r report.Row) bool { return r.Verdict != report.Untold && r.Verdict != report.Undecided }) {
		return nil
	}
	if a.Counts.Overstated == 0 {
		return []sentence{{Text: fmt.Sprintf("None advertises more than it can do, by more than the %.0f %% that a test may be off.", report.Bar*100)}}
	}
	var all []sentence
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Verdict != report.Overstated {
			continue
		}
		if len(all) == mostNamed {
			return append(all, sentence{Text: fmt.Sprintf("And so do %d more.", a.Counts.Overstated-mostNamed)})
		}
		e, _ := r.Error(report.Advertised)
		all = append(all, sentence{Bad: true, Text: fmt.Sprintf("%s SAYS TOO MUCH: it advertises %s and can do %s, %.1f times less.",
			tame(r.Name), rate(e.Claimed), rate(r.Capacity), e.Claimed/r.Capacity)})
	}
	return all
}

// advertised are the errors of the advertised figure, false if nobody has one.
func advertised(a *report.Analysis) (report.Errors, bool) {
	for _, e := range a.Errors {
		if e.Claim == report.Advertised {
			return e, true
		}
	}
	return report.Errors{}, false
}
