// Package livepage serves a page on which one can watch a node judge its peers:
// who ranks where and why, round trip, rate and coverage, what was predicted and
// what came, the burst window as it opens, extends and closes, and the audit's
// threshold with the residuals under it.
//
// All that the page needs is embedded, so that it asks no one but the node. The
// node sends it frames, each the whole state, as server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). A frame is
// made once for all clients, and only while there are any. No client has a
// queue: one that reads slowly gets the newest frame when it is ready for it,
// and one that reads nothing is cut off. What is remembered of the past is
// bounded in time and in peers.
package livepage
