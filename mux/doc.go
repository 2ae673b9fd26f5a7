// Package mux is a drop-in shim around hashicorp/yamux that measures what each
// peer really delivers: round trip, serialisation rate and liveness, from the
// frames that pass anyway, against peers that run nothing of ours.
//
// A node that uses yamux changes one import:
//
//	import yamux "github.com/assay-mux/assay/mux"
//
// and asks session.Meter() for what it has seen. A node that makes its own
// session, or runs libp2p's go-yamux, wraps the conn alone with Wrap.
//
// The shim sits between the multiplexer and the connection. Outbound it puts a
// header and its body in one write where yamux makes two, cuts large frames
// into SDUs from 16 KiB on so that the reader sees the first before the last has
// been sent, and now and then lets a cookie ride along: a yamux ping request
// with an unguessable value, which every yamux answers. Inbound it takes our
// echoes out, hands long frames of an unwrapped peer up as they arrive where they
// are slow to come, stamps each read, and feeds payload arrivals to a gated burst
// window (package burst) and echoes to a round-trip digest (package cookie).
//
// It knows whose fault a silence is, for it sees both directions and its own
// reader: the credit we granted, whether anyone was reading, whether the
// process ran at all.
//
// # What it costs
//
// Over TCP round trips and small writes are faster than bare yamux's with both ends
// wrapped; large writes are on some processors, and 10 to 20 % slower at 2 GB/s on
// others. Over TLS less is gained, and up to 12 % lost. docs/limits.md has figures. An
// idle connection holds less than 8 KiB more, one that has been used about 11. No method
// allocates per frame.
//
// # Limits
//
// An echo vouches for the path and the peer's process, not for its service.
// Echo round trips include the peer's send queue; the base RTT is the least of
// all that vouch for it. Frames of an unknown version or type turn the shim
// transparent for good.
package mux
