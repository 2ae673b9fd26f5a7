// Package cast runs a small cast of honest and bad peers on this machine, over
// shaped paths of real TCP, and lets a ranker find out which is which.
//
// First each peer is asked for several data by itself, all peers at once: that
// is the survey, from which the audit gets its fetches. Then data are fetched as
// a user would, from whichever peers the ranker chooses. At the end the ranking is
// held against the truth.
package cast
