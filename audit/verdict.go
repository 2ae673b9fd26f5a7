package audit

import (
	"fmt"
	"strings"
	"time"
)

// A Verdict is what stands against a peer, with its evidence. It is a value: the auditor keeps no
// hold of it.
type Verdict struct {
	Peer, Group string
	// Kind is the gravest of Kinds.
	Kind  Kind
	Kinds Kinds
	// Evidence is the chart that gave Kind; of a clear peer, the one of overclaims, of a proven
	// liar, the one of withholding.
	Evidence ChartState
	// Lie and Detail are the proof behind ProvenLie. Forged counts forged echoes, proof or not.
	Lie    LieKind
	Detail string
	Forged int
	// EchoHolding says that the peer's echoes keep lagging the kernel's round trip: what looks like
	// distance is the peer's doing. An attribution, no verdict; Holding is its evidence, with the
	// application's round trip as Actual and the kernel's as Claim.
	EchoHolding bool
	Holding     ChartState
	// Latest is how the record was taken that led here; zero where there was none.
	Latest Finding
}

// A Finding is how one record was taken.
type Finding struct {
	Outcome Outcome
	// Actual is the fetch's time less what was ours, and Claim what was predicted.
	Actual, Claim time.Duration
	// Residual is how far the fetch exceeded its claim, in shares of it: first byte, our own share,
	// common mode and the path's stalls taken out. Late is the first byte's excess in the same unit.
	Residual, Late float64
	// Threshold is what Residual was held to, and Gross the residual at which withholding begins
	// (at least: the peer's own median, which may raise it, is looked up where it may matter).
	Threshold Threshold
	Gross     float64
	// Contradicts says that the first byte came sooner than the base round trip: one of the two is
	// wrong.
	Contradicts bool
}

// Credit says whether the fetch may be credited to the peer as a completion. One that was mostly our
// own doing, or came while we suspected ourselves, or failed, may not.
func (f Finding) Credit() bool {
	return f.Outcome == Judged || f.Outcome == Unclaimed || f.Outcome == Unsupported
}

// verdict returns what stands against a peer.
func (p *peer) verdict(f Finding) Verdict {
	v := Verdict{
		Peer: p.name, Group: p.group.name,
		Kinds:  p.kinds(),
		Lie:    p.lie,
		Detail: p.detail,
		Forged: p.forged,
		Latest: f,
	}
	v.Kind = v.Kinds.Gravest()
	v.Evidence = p.charts[chartOf(v.Kind)]
	v.Holding = p.charts[chartHolding]
	v.EchoHolding = v.Holding.Stands
	return v
}

// chartOf returns which chart is a kind's evidence.
func chartOf(k Kind) int {
	switch k {
	case SlowToStart:
		return chartSlowToStart
	case Path:
		return chartPath
	case NeverAlone:
		return chartCritical
	case Withholding, ProvenLie:
		return chartWithholding
	case Clear, Overclaims, kindCount:
	}
	return chartOverclaims
}

// Reason says in a sentence why the verdict is what it is, with its figures.
func (v Verdict) Reason() string {
	e := v.Evidence
	of := fmt.Sprintf("%d of the last %d audited fetches", e.Hits, e.Run)
	last := fmt.Sprintf("the last of them took %s where %s was claimed", short(e.Actual), short(e.Claim))
	switch v.Kind {
	case ProvenLie:
		return v.lieReason()
	case Withholding:
		return fmt.Sprintf("alive but %s took more than %.1f times their claim while its echoes kept coming; %s", of, 1+e.Threshold, last)
	case NeverAlone:
		return fmt.Sprintf("missed %d of the last %d critical fetches; %s", e.Hits, e.Run, last)
	case Overclaims:
		return fmt.Sprintf("slower than its own rate says: %s took more than %.2f times their claim; %s", of, 1+e.Threshold, last)
	case Path:
		return fmt.Sprintf("a bad path: %s stalled together with our echoes, or lost packets; %s", of, last)
	case SlowToStart:
		return fmt.Sprintf("the first byte of %s came late, the last by %s where the whole fetch was claimed to take %s", of, short(e.Actual), short(e.Claim))
	case Clear, kindCount:
	}
	return v.clearReason()
}

func (v Verdict) lieReason() string {
	s := "gave a size that the datum proved false"
	if v.Lie == ForgedEcho {
		s = fmt.Sprintf("echoed %d cookies that were never issued", v.Forged)
	}
	if v.Detail != "" {
		s += ": " + v.Detail
	}
	return s
}

func (v Verdict) clearReason() string {
	if v.Evidence.Hits == 0 {
		return "nothing stands against it"
	}
	return fmt.Sprintf("nothing stands against it: %d of the last %d audited fetches took longer than they may, too few to say", v.Evidence.Hits, v.Evidence.Run)
}

// String returns kind and reason, and the attribution if there is one.
func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.Kind, v.Reason())
	if v.EchoHolding {
		fmt.Fprintf(&b, "; it holds its echoes (%s where the kernel sees %s)", short(v.Holding.Actual), short(v.Holding.Claim))
	}
	return b.String()
}

// short writes a time to two or three digits.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f us", d.Seconds()*1e6)
}
