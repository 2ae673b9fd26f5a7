// Package ranking chooses the peer that will deliver a datum soonest, watches the fetch, and learns
// from every outcome.
//
// Where a peer has completed fetches, their measured times decide, for those cannot be talked up.
// Before that, and for any other size, [Predict] says how long a transfer takes over a path whose
// round trip and rate are known, slow start included. A peer may understate a size, so the sizes
// that peers advertise are weighed by network location ([GroupOf]) and never taken at their least.
//
// A [Ranker] puts it together. Peers Join with a meter and Offer data; Choose says whom to ask, Begin
// and the [Fetch] it returns follow what happens, Advice says what to do meanwhile, and the outcome
// moves the ranking and the charts of package audit, which tells those that withhold from those that
// are slow. Rank, Churn, Events and Stats say what is thought of everyone; Save and Load carry it over
// a restart (package statefile has the file).
//
// The parts, one idea a file: the prediction and its inverse, network groups, the book of sizes,
// measured completions, calibration, penalties, the order kept for each size, the choice, fetches in
// flight and their conclusion, the budgets of extra bytes, exploration, churn, and the rule that tells
// our own trouble from the peers'.
// All of it is state without goroutine, clock or socket: an instant is a time.Duration since a base
// the caller chooses per session, and randomness comes from an injected source.
//
// Sources: the peer-ranking design for network-mux; RFC 6928 and RFC 5681 for the windows of slow
// start; Cardwell, Savage and Anderson, "Modeling TCP Latency", INFOCOM 2000, for its closed form.
package ranking
