// Package accuracy holds the node's predictions against what fetches take.
//
// A node fetches 12 MB over a simulated path with slow start, in virtual time,
// and reads round trip and rate off its own meter, as it would of any peer. Then
// it fetches data of several sizes, over a connection gone cold and over a warm
// one, each predicted by ranking.Predict before. The same fetches predicted with
// the path's true parameters stand beside, so that an error of the estimate is
// told from one of the prediction.
//
// `make accuracy` runs all of the grid and prints the tables; `make test` runs
// some paths of it. What is measured is the raw prediction, which the audit
// holds a peer to; the ranker's own is calibrated besides.
package accuracy
