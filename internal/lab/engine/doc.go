// Package engine acts scenario files out: it joins peers to a node over
// simulated links (package lab), with real yamux and the real shim (package mux)
// at our end of each, lets them behave as the file says, fetches what the file
// says by a [Chooser], and judges the result by the file's own bars.
//
// Assay's own chooser is the real ranker with real meters. Rivals are choosers
// too, most of them a [Rule] in ten lines, and so is the oracle, which is told
// the true paths and what each peer is going to do. All have the same world: what
// a peer does to its n-th request is drawn from the seed and the n, so that runs
// of different choosers are paired.
//
// The only notion of time is package time: in a bubble (package bubble) a run is
// in virtual time, takes seconds for an hour, and repeats from its seed; outside
// it is in real time. [Play] runs all that a result document needs; [Run] is one
// chooser in one world. An [Options.Observe] sees what happens as it happens.
//
// Every run is checked while it goes (see [Violation]): what arrives is whole and
// right, no estimate is better than the link it was made over, what is our own
// fault is charged to no honest peer, queues keep within their bounds, and at
// the end nothing is left.
package engine
