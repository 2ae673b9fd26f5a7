package audit

import "time"

// A Record is one finished fetch, as the audit is told it. Negative times count as zero.
type Record struct {
	// Peer names who served it, Group the network location the peer shares with its neighbours.
	// The audit compares them and does nothing else with them.
	Peer, Group string

	// Size is the true size of the datum in bytes: hashed, not advertised.
	Size int64

	// BaseRTT is the path's round trip without queues, the same figure that the claim was made with.
	BaseRTT time.Duration

	// Claim is the time predicted when the peer was picked, from the peer's own raw rate: neither
	// shrunk to a prior nor calibrated, and not updated since. A fetch without one is not audited.
	Claim time.Duration

	// ClaimError is the claim's error bar for Size bytes: two standard errors of the rate at least, and
	// more where the path is known to lose packets.
	ClaimError time.Duration

	// Coverage is how many gate-vetted bytes the rate rests on.
	Coverage int64

	// Actual is the time from request to the end of the fetch, whatever the end was.
	Actual time.Duration

	// TTFB is the time from request to the first byte, less what of it was ours; 0 is unknown, or on
	// a failed fetch that no byte came. ExpectedTTFB is what the claim allows for it; 0 takes
	// BaseRTT.
	TTFB, ExpectedTTFB time.Duration

	// Ours is the part of Actual that was our own doing and that Claim does not already allow for (a
	// claim bounded by our own window contains the waiting for our credit).
	Ours time.Duration

	// Stalled is the silence in the fetch after its first byte, stalls summed, and Echoes says what
	// our cookies did meanwhile. Where some stalls had echoes and some had none, report those
	// without, and EchoesStopped.
	Stalled time.Duration
	Echoes  Echoes

	// Loss is the kernel's hint on the path during this fetch.
	Loss Loss

	// KernelRTT is a round trip that the peer's application has no part in: the kernel's where it
	// is fresh, the handshake's elsewhere, 0 where neither is known. AppRTT is the high quantile of
	// the echoes of cookies that met no queue of payload, 0 where unknown.
	KernelRTT, AppRTT time.Duration

	// CommonMode is the residual that the whole population shows at present, as a share of the
	// claim. It is subtracted.
	CommonMode float64

	// Critical says that the host marked the fetch as critical.
	Critical bool

	// Failed says that the fetch ended without the datum and not because we gave it up early: a
	// timeout, a reset, a disconnect, "not found". Actual is then a lower bound, so that it may
	// count against the peer and never for it.
	Failed bool

	// Held says that at present we suspect ourselves. The record then moves nothing.
	Held bool
}

// Echoes says what the echoes of our cookies did while a fetch stalled.
type Echoes uint8

// What the echoes did. A TCP loss stall stops echoes and payload alike, since both ride in one byte
// stream; a peer that sits on our data keeps echoing.
const (
	EchoesUnknown Echoes = iota // no cookies: whose silence it was can't be told
	EchoesFlowed                // they came while the payload did not, or nothing stalled
	EchoesStopped               // they stopped too
)

// Loss is whether the path lost packets during a fetch, as far as the kernel can tell.
type Loss uint8

// The kernel's hint. Unknown is taken like Clear.
const (
	LossUnknown Loss = iota
	LossClear
	LossSeen
)
