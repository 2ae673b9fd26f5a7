// Package speedtestdemo is a network on loopback whose true capacities are
// known, on which a speed test has to find them.
//
// Each target is a whole node behind a relay of internal/lab that limits its
// link. What it publishes comes about as it would: those that were busy for ten
// seconds on end have observed what they can do, those that never were have not,
// and one lies. A target of our own is tested first; what it can do is known, and
// if the test does not find that it tests nobody else.
package speedtestdemo
