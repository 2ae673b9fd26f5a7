// Package cookie holds the unguessable values that a connection attaches to its
// outbound frames, the queue of those the peer has not echoed yet, and the
// digest of the round-trip times that the echoes give.
//
// A cookie answers one question, "how long does this peer take to react to
// us?", and answers it in a way that the peer cannot improve by lying: it cannot
// echo a value before it has read it, and it cannot guess the next one. Holding
// an echo back only makes the peer look slower. What it can do (echo late, echo
// twice, invent an echo, never echo) is told apart and counted apart, because
// some of it is weather and some of it is evidence.
//
// # The queue
//
// A queue of unechoed cookies has to find an entry by its value (when an echo
// comes) and by its send time (the oldest one, whose age says how long the peer
// has been silent). In general that is a priority search queue, a structure with
// two keys and logarithmic operations. Here both keys are one: a value is a keyed
// permutation of a sequence number, so that an echo decodes to its number, and
// numbers are dealt in the order of sending. A ring indexed by the number then
// does all the work. Finding an entry is a decode and an index, the oldest entry
// is the front of the ring, and the front moves on past answered entries, each
// once, so that every operation is O(1), amortised, in fixed memory.
//
// # The round-trip time
//
// [RTT] keeps three readings: a base (a windowed minimum: the path), quantiles of
// the echoes that met no queue of payload (the peer), and quantiles of those that
// did (the path and its buffers under load). Cookies that were never echoed enter
// the high quantile at the age at which they were given up, so that dropping
// echoes is no way around being measured.
//
// Nothing in this package reads a clock, starts a goroutine or takes a lock. An
// instant is a time.Duration, a monotonic offset from a base that the caller
// takes once for each session.
//
// References:
//
//	[1] M. Luby, C. Rackoff, "How to construct pseudorandom permutations from
//	    pseudorandom functions", SIAM J. Comput. 17(2), 1988.
//	[2] NIST SP 800-38G, "Methods for Format-Preserving Encryption" (the
//	    alternating Feistel network of FF1).
//	[3] R. Hinze, "A simple implementation technique for priority search
//	    queues", ICFP 2001.
//	[4] T. Dunning, O. Ertl, "Computing extremely accurate quantiles using
//	    t-digests", arXiv:1902.04023.
package cookie
