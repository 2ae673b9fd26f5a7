package message

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
)

// maxMillis is the longest time a message states, in milliseconds: a year.
const maxMillis = 365 * 24 * 3600 * 1000

// fields takes a payload apart; bad says that something was out of range.
type fields struct {
	p   []byte
	bad bool
}

func (f *fields) take(n int) []byte {
	b := f.p[:n]
	f.p = f.p[n:]
	return b
}

func (f *fields) byte() uint8 { return f.take(1)[0] }
func (f *fields) u16() uint16 { return binary.BigEndian.Uint16(f.take(2)) }
func (f *fields) u64() uint64 { return binary.BigEndian.Uint64(f.take(8)) }

// count is a number of bytes, of streams, or bytes per second.
func (f *fields) count() int64 {
	n := f.u64()
	if n > math.MaxInt64 {
		f.bad = true
		return 0
	}
	return int64(n)
}

// span is a time, in milliseconds on the wire.
func (f *fields) span() time.Duration {
	n := f.u64()
	if n > maxMillis {
		f.bad = true
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func (f *fields) flag() bool {
	b := f.byte()
	f.bad = f.bad || b > 1
	return b == 1
}

func (f *fields) way() Way {
	w := Way(f.byte())
	f.bad = f.bad || w >= ways
	return w
}

func (f *fields) key() keystream.Key { return keystream.Key(f.take(keystream.KeySize)) }
func (f *fields) token() Token       { return Token(f.take(len(Token{}))) }

func appendCount(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(max(n, 0)))
}

// appendSpan rounds up: what is to be waited for is not over before.
func appendSpan(b []byte, d time.Duration) []byte {
	ms := max(int64(d), 0) / int64(time.Millisecond)
	if d > 0 && d%time.Millisecond != 0 {
		ms++
	}
	return binary.BigEndian.AppendUint64(b, uint64(min(ms, maxMillis)))
}

func appendFlag(b []byte, on bool) []byte {
	if on {
		return append(b, 1)
	}
	return append(b, 0)
}
