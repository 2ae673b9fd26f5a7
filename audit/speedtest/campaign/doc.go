// Package campaign says what a campaign of speed tests does next: whom to tell,
// to read or to test, and when.
//
// It goes as the experiment on Tor's relays went, with consent made stricter.
// First a target of ours whose limit is known is tested; if that is not found
// nobody else is. Then all peers are told, and for a notice period can opt out.
// Then come rounds, days apart, in which each peer is tested once, the largest
// first and none at an instant that can be foretold. What peers publish of
// themselves is read when they are told, around each test, and once more after
// their figures have forgotten the tests.
//
// [State] is a value that a host keeps in a file, written anew before and after
// each step, so that a campaign goes on after it was killed at any point: what
// was found is not lost, and nobody is tested twice in a round. A test that was
// cut short counts as a try of its round; it is made up for after the peer's
// interval, if that is within the round.
//
// There is no clock: instants are seconds since 1970, and the host says which it
// is.
//
// Source: R. Jansen, "Measuring the Accuracy of Tor Relays' Advertised
// Bandwidths", tor-relays mailing list, July 2019.
package campaign
