// Package labview shows a run of a scenario (package engine) while it goes on, in
// real time: on a terminal a table of the peers in the order of their rank, drawn
// anew again and again below a log of what happens and why; elsewhere the log
// alone, with a line of progress now and then.
//
// A [View] is a pure state machine that is fed events; a [Probe] lends the ranker
// of the run to whoever draws it; [Show] does the drawing.
package labview
