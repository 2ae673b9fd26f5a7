// Package report says how true the figures are that peers publish of themselves, from what a speed
// test measured.
//
// A [Document] holds what was measured; [Analyse] makes the errors of it, by the names that FlashFlow
// gave them [1]: of each peer the capacity error 1 - A/C and the weight error w/c, of the network
// 1 - sum A / sum C and half the sum of |w - c|, for A each of the figures there are. They are signed
// and never clipped, for a peer that claims more than it has is the one to know of.
//
// Whether large peers understate more is a question of correlation, and one with a trap: the error
// and either choice of x, the figure or the capacity, share a term, so that they correlate even where
// the error has nothing to do with size. Each [Correlation] therefore stands beside a null that keeps
// the shared term.
//
// All is computed from arguments: no clock, no files, and chance comes from a seed.
//
// References:
//
//	[1] M. Traudt, R. Jansen, A. Johnson, "FlashFlow: a secure speed test for Tor", ICDCS 2021.
//	[2] R. Jansen, A. Johnson, "On the accuracy of Tor bandwidth estimation", PAM 2021.
//	[3] B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993.
package report
