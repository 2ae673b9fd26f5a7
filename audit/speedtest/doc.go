// Package speedtest measures what a peer can really carry, with its consent.
//
// What peers publish of their own capacity is what they have observed of it, and
// a peer that was never busy has observed little; some claim what they do not
// have. The test says what is true, in twenty seconds, by the design of the
// experiment on Tor's relays [1] and with the safeguards of FlashFlow [2]:
//
//   - The peer is asked first. It answers with what it allows, or refuses with a
//     code and a time to ask again; it keeps to its bounds itself, whatever the
//     tester does (package policy). A peer that has opted out is never tested, and is
//     never the worse for it.
//   - Several streams carry the payload, all open before any starts: enough that
//     their windows over the round trip are twice what is expected. Where that
//     turns out too few they are doubled in the run.
//   - The payload is a keyed stream (package keystream). What comes is checked
//     byte for byte; for what is sent the target returns receipts that it cannot
//     make without having all of it. Only the measurer's own count of what was
//     proven counts.
//   - The first seconds are left out; the rest makes a rate for each second, from
//     the time that really passed (package curve). The figure is the median
//     second.
//   - Each run says what limited it. Only if that was the peer is the figure the
//     peer's; else it is a lower bound.
//
// The way is from the target to us, or to it, or through it: from our client by
// way of the target to an exit of ours and back, whose figure is the smaller of
// both directions, as relays are used.
//
// [Measure] is the tester's side and [Responder] the target's. Both work over
// streams of any multiplexer, a *mux.Session first of all.
//
// A test must not change what a ranker thinks of the peer, on either side, so a
// host does three things. It gives the test a session of its own: its bulk on a
// session whose meter ranks the peer would let a peer that serves tests well look
// better than it serves. It tells the ranker what is outstanding (Outstanding, of
// both sides' configurations), so that fetches go elsewhere meanwhile. And it
// ranks by a [Shade] of the meter, so that a fetch beside a test is no evidence.
// Afterwards it may tell the ranker the [Result.Ceiling] that the test found, which binds
// what is predicted of the peer and never raises it.
//
// References:
//
//	[1] R. Jansen, A. Johnson, "On the accuracy of Tor bandwidth estimation", PAM 2021.
//	[2] M. Traudt, R. Jansen, A. Johnson, "FlashFlow: a secure speed test for Tor", ICDCS 2021;
//	    Tor proposal 316.
package speedtest
