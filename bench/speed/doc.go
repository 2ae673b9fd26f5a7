// Package speed compares how fast sessions are, wrapped and bare, and what
// other multiplexers and a bare connection reach beside them.
//
// Loopback timings drift with whatever else the machine does, by far more than
// what is to be told apart. So all modes take turns within one round, in an
// order shuffled anew each time; what is compared is the ratio of two modes in
// the same round; and of the ratios the median counts, with a bound that
// assumes no distribution (package stats).
package speed
