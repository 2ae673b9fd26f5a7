// Package wire is the protocol of the demo node: one request and one reply on
// each yamux stream, but for those of a speed test.
//
// A message is a 4-byte big-endian length, then as many bytes: a version, a
// kind and the kind's own payload. Every kind has a largest size, checked
// before anything is read into memory, for the peer chooses the length.
//
//	list     empty                          answered by offers or refusal
//	get      hash [32], offset uint64       answered by data or refusal
//	speedtest  empty                        the stream then speaks audit/speedtest
//	offers   (hash [32], size uint64) ...   the files offered
//	data     size uint64                    then that many bytes, unframed
//	refusal  code uint8, text               why not; not found is a normal answer
//
// Data is unframed because the multiplexer below frames it already, and because
// its hash vouches for it.
package wire
