// Package burst turns the arrivals of one connection into a serialisation rate, and says how far
// that rate may be trusted.
//
// A [Window] is fed every read that carried payload. It groups reads into bursts, keeps a burst
// open while the peer serves promptly (the gate), and when one closes reports a [Sample]: how many
// bytes took how long. An [Estimate] ages the samples of one peer and reads them as a rate with a
// standard error and a coverage.
//
// Why not simply divide bytes by time? Because a peer chooses when to be silent. A rate over bursts
// alone is flattered by a peer that sends 50 kB at line rate and then sleeps; a rate over all time
// blames the peer for the pauses between our own requests. So silence is attributed:
//
//   - a gap within the promptness spacing is tight;
//   - a gap of our own making (no credit granted, our reader away) is ours, and never charged;
//   - before the first byte of a fetch it is waiting, which belongs to the time to first byte;
//   - everything else from a declared fetch's first byte to its end is the peer's and counts in the
//     rate, whether or not the burst had closed meanwhile.
//
// The gate decides coverage only, that is trust: bytes that came after a silence for which nothing
// vouches count in the rate and not in coverage. A gap is vouched for by an echo of a cookie sent
// after the last payload, which is why a Window cannot be built without the queue whose echoes do
// so ([Echoes]): a rate and the echoes that vouch for it live at the same granularity.
//
// The slow start of an honest cold transfer is silent for about a round trip between windows. Its
// bytes are left out of the rate by count, never by skipping long gaps, and time spent on them
// beyond what a slow start can explain is put back.
//
// Nothing here reads a clock, starts a goroutine, takes a lock or allocates once a Window has seen
// its first payload. An instant is a time.Duration since a base the caller chooses per session.
// Nothing in this package is safe for concurrent use; the caller locks.
//
// Sources: the peer-ranking design on promptness-gated burst windows for network-mux; RFC 6928
// (initial window of ten segments); Cardwell, Savage and Anderson, "Modeling TCP Latency", INFOCOM
// 2000, for the closed form of slow start; RFC 5681 section 4.1 for its restart after idleness.
package burst
