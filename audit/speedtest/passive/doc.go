// Package passive keeps what a node observes of its own capacity: the best ten seconds of goodput
// that it has had within the last day.
//
// This is the figure that Tor's relays publish [1]. It costs nothing and needs nobody's trust, and it
// is a lower bound only: a node that never has ten busy seconds never sees what it can do. How far it
// is off is what the speed test measures; so it is kept with the bytes of speed tests and without.
//
// A [Meter] is fed the payload of each read and write. It works in whole seconds, in bounded memory,
// and in bounded time however long nothing happened.
//
// References:
//
//	[1] Tor directory protocol, version 3, "bandwidth" in server descriptors.
package passive
