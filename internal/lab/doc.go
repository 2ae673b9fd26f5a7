// Package lab holds simulated links, on which the real shim and the real yamux
// are tried: a net.Conn pair with rate, delay and slow start, and a relay that
// shapes real TCP connections by the same model.
//
// Kernel shaping needs privileges and real time; a test of a 20 s stall needs
// neither. The only notion of time here is package time, so that a [Pair] made
// inside a testing/synctest bubble runs in virtual time, exactly and in
// milliseconds, and the same pair outside a bubble runs in real time. Bubbles
// that hold a yamux session go through the package bubble, and put
// [WholeFrames] between the conn (or the shim) and yamux; each says which trap
// it is there for.
//
// # The model
//
// A direction of a link is a serializer followed by a delay. A write is cut
// into segments of one MSS. A segment leaves when the serializer is free and,
// with [Link.SlowStart], when the congestion window has room; it arrives OneWay
// later, and its acknowledgement is back one round trip after it left. The
// window starts at ten segments (RFC 6928) and grows by every byte acknowledged,
// that is it doubles each round trip, until the serializer is the limit; it
// grows no further than twice what was in flight (RFC 7661). There is no loss,
// no jitter, no header overhead and no delayed acknowledgement: rates are
// payload rates. All instants follow from the writes alone, so they are fixed
// when a segment is written and nothing drifts.
//
// Measured on it: bare yamux shows the first byte of a 1 MiB write over
// 10 Mbit/s and 50 ms one way after 889 ms, for it sends one frame and hands
// none of it up before the whole is in.
package lab
