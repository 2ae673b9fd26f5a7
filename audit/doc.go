// Package audit compares what peers deliver with what their own measured rate says they can, and
// tells those that withhold from those that are merely slow, far, or on a bad path.
//
// A prediction made from a peer's bursts is a claim: a peer that serves something else fast, or
// serves in bursts, has a rate that flatters it. The claim is not trusted but audited. Of every
// finished fetch the [Auditor] takes the residual, actual/claim - 1, and asks how often it is larger
// than honest peers' residuals are.
//
// # The threshold
//
// What honest peers' residuals are is learnt from the population, by strata of size and round trip,
// and not from the suspect. Identities are cheap and network locations are not, so groups vote, one
// vote each, and a peer's own group has none on it: a group's vote is the median over its peers of
// twice their p95, and the threshold T the median over the groups. It is clamped to 0.8 to 0.95. The
// floor is what honest delivery needs, so that hostile groups which merely serve well can't get
// honest peers convicted; the ceiling is what half-rate service exceeds, so that hostile groups
// which serve badly can't hide a padder. Hostile groups can move T within the clamp, and no further.
//
// # The verdicts
//
// A peer that serves at half its claimed rate on purpose, and an honest one whose disk is half as
// fast as its line, look alike in all that we see. So there are two verdicts. [Overclaims] (residual
// above T, in most fetches) is no fault: the claim is wrong, calibration corrects it, and the
// verdict is lifted once the claim is right. [Withholding] (residual above 4 T, in more than a few
// of a hundred) is punitive, and counts only while the peer's echoes keep flowing: where they stop
// together with the payload, or the kernel saw loss, it is the [Path], which blames nobody. The wait
// for the first byte is judged apart ([SlowToStart]), critical fetches are counted apart
// ([NeverAlone]), and a [ProvenLie] needs no statistics.
//
// Each verdict falls when a sequential test, a [Chart], says so; what a peer can do below its rate
// for ever is published ([Auditor.FreeRates]), since redundancy, not the audit, has to cover it.
//
// What the numbers do to honest peers and to others is measured by internal/lab/auditstudy.
//
// Nothing here reads a clock, starts a goroutine or takes a lock. An instant is a time.Duration
// since a base the caller chooses. Nothing in this package is safe for concurrent use; the caller
// locks.
//
// References:
//
//	[1] E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954.
//	[2] M. R. Reynolds, Z. G. Stoumbos, "A CUSUM chart for monitoring a proportion when inspecting
//	    continuously", J. Quality Technology 31(1), 1999.
//	[3] C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with
//	    relative-error guarantees", PVLDB 12(12), 2019.
package audit
