package burst

import "time"

// Reading is what the meter of one connection tells a ranker: values only, and
// ages instead of instants, since every connection counts from a base of its
// own. Zero means unknown.
type Reading struct {
	BaseRTT      time.Duration // least round trip that anything vouches for
	Confirmed    bool          // by handshake or kernel
	P50RTT       time.Duration // of echoes that no load delayed
	P95RTT       time.Duration // likewise; cookies given up count at their age
	LoadedP95RTT time.Duration // of echoes that waited in a send queue
	KernelRTT    time.Duration // the kernel's smoothed round trip
	KernelFresh  bool          // something of ours was acknowledged within the last second

	Estimation Estimation // rate, error and coverage

	Silence time.Duration // since the last payload
	EchoAge time.Duration // since the newest cookie that was echoed was sent: small while the path and the peer's process live
	Ours    time.Duration // silence inside bursts and fetches that was our own doing, summed since the connection began
	Credit  time.Duration // the part of Ours for want of our credit
	Peers   time.Duration // and the peer's

	Issued, Skipped, Forged uint64 // cookies sent, given up unanswered, and answers never asked for
	OutOfOrder              uint64 // packets the kernel saw out of order: a hint of loss on the way to us
}
