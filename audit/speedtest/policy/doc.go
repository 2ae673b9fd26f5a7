// Package policy is what a node that is asked for a speed test allows, whatever
// the one who asks does.
//
// A request of a few bytes buys hundreds of megabytes, and identities are free;
// so the bounds are the responder's own, kept on its own side of the connection: one test at a time,
// one for each identity in twelve hours, a few for each network group and a
// volume for each group and in all within any 24 hours, a length and a volume for each
// test, a share of the link left to ordinary traffic, a hard stop. An opt-out wins over all of
// it, at once, in the middle of a test too. A refusal is a normal answer, with a
// code and the time after which to ask again.
//
// [Gate] is a state machine without clock, goroutine or socket: instants are a
// time.Duration since a base that the host chooses. It remembers no more than
// the tests of the last day, of which it allows a bounded number, so that no
// requester can make it grow.
//
// Sources: Tor proposal 316 (FlashFlow) for the reserved quarter and for consent as part
// of the protocol; libp2p's perf protocol, where a client may ask for 2^64-1
// bytes, for what to avoid; libp2p's circuit relay v2 for quotas by peer and by
// network group.
package policy
