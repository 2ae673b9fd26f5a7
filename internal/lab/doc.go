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
// grows no further than twice what was in flight (RFC 7661). There is no header
// overhead and no delayed acknowledgement: rates are payload rates, and a queue
// is as long as the buffer allows, for it loses nothing by itself. The other
// direction's queue, jitter and losses do not touch the acknowledgements.
//
// On top of that a link may have, each by a field whose zero value is none:
//
//   - Jitter, uniform for each segment, in order.
//   - Loss, by a share and in bursts (Gilbert and Elliott), as what TCP makes of
//     it. Bytes still arrive in order and once; all that is behind a lost segment
//     waits for it, our echoes too. With three segments behind it the
//     retransmission is there a round trip after them, and the window is 0.7 of
//     what it was, to grow by half a segment a round trip (CUBIC as it is on paths
//     like these, RFC 9438): so the goodput is that of Mathis, Semke, Mahdavi
//     and Ott (1997). With fewer it waits for the timer, round trip plus 200 ms or four
//     deviations, doubled each time that a retransmission is lost too; then the
//     window is two segments. The tail loss probe of newer kernels is not there,
//     which would end many such waits sooner, nor is BBR, which hardly slows
//     down. Without SlowStart a loss delays, and slows nothing. A lost segment
//     takes the serializer twice.
//   - A token bucket: Burst bytes at Peak, then Rate.
//   - Changes of rate and delay at instants, in the middle of a segment even.
//   - A [Bottleneck] shared with other links, by turns.
//
// All instants follow from the writes, the seed and, at a bottleneck, the writes
// of those who share it; so they are the same in each run, and nothing drifts.
// Without a bottleneck they are fixed when a segment is written, but for one that is
// lost, whose repair depends on what is written behind it.
//
// Package shape has the model by itself, without conns.
//
// The transfer times are those of the closed formula (request to last byte, by
// size, rate, round trip and first window) within 0.4 % for small segments, cold
// and warm. With segments of 1448 bytes each round that waits takes one segment's
// time more: 5 % at the most, 16 kB at 10 Mbit/s and 12 ms.
//
// Measured on it: bare yamux shows the first byte of a 1 MiB write over
// 10 Mbit/s and 50 ms one way after 889 ms, for it sends one frame and hands
// none of it up before the whole is in.
package lab
