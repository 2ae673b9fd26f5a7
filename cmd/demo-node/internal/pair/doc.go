// Package pair runs two nodes against each other over real TCP on loopback,
// with a relay between them that adds rate, delay and slow start, and reads
// from each node's meter what it makes of the other.
//
// What the relay was set to is the truth that the readings are held against.
// The nodes know nothing of it.
package pair
