package mux

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/cookie"
)

func TestDecodeReadsWhatEncodeWrote(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := header{
			kind:   kind(rapid.IntRange(0, 3).Draw(rt, "kind")),
			flags:  rapid.Uint16().Draw(rt, "flags"),
			stream: rapid.Uint32().Draw(rt, "stream"),
			length: rapid.Uint32().Draw(rt, "length"),
		}
		var b [headerSize]byte
		yamuxCodec{}.encode(b[:], want)
		if got, ok := (yamuxCodec{}).decode(b[:]); !ok || got != want {
			rt.Fatalf("got %+v, %v", got, ok)
		}
		if wire := wireHead(byte(want.kind), want.flags, want.stream, want.length); !bytes.Equal(b[:], wire) {
			rt.Fatalf("encoded %x, want %x", b, wire)
		}
	})
}

func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, tt := range []struct {
		version, kind byte
		ok            bool
	}{{0, 0, true}, {0, 3, true}, {0, 4, false}, {0, 255, false}, {1, 0, false}, {255, 2, false}} {
		b := wireHead(tt.kind, 0, 0, 0)
		b[0] = tt.version
		if _, ok := (yamuxCodec{}).decode(b); ok != tt.ok {
			t.Errorf("version %d, type %d: %v", tt.version, tt.kind, ok)
		}
	}
}

func TestOnlyDataHasABody(t *testing.T) {
	for k := kindData; k <= kindGoAway; k++ {
		want := uint32(0)
		if k == kindData {
			want = 7
		}
		if got := (header{kind: k, length: 7}).body(); got != want {
			t.Errorf("kind %d: %d bytes follow, want %d", k, got, want)
		}
	}
}

func TestCookieFrame(t *testing.T) {
	const v = cookie.Value(0x89abcdef)
	var b [headerSize]byte
	yamuxCodec{}.encode(b[:], yamuxCodec{}.cookie(v))
	if want := wireHead(wirePing, wireSYN, 0, uint32(v)); !bytes.Equal(b[:], want) {
		t.Errorf("cookie is %x, want %x: some implementations refuse all else", b, want)
	}
	h, _ := yamuxCodec{}.decode(wirePong(uint32(v)))
	if got, ok := (yamuxCodec{}).echo(h); !ok || got != v {
		t.Errorf("echo is %x, %v", got, ok)
	}
}

func TestEchoIsAnAnswerWithBit31(t *testing.T) {
	for _, tt := range []struct {
		h    header
		want bool
	}{
		{header{kind: kindPing, flags: flagACK, length: 1 << 31}, true},
		{header{kind: kindPing, flags: flagACK | flagSYN, length: 1<<31 | 5}, true},
		{header{kind: kindPing, flags: flagACK, length: 1<<31 - 1}, false},
		{header{kind: kindPing, flags: flagSYN, length: 1 << 31}, false},
		{header{kind: kindPing, length: 1 << 31}, false},
		{header{kind: kindWindow, flags: flagACK, length: 1 << 31}, false},
		{header{kind: kindData, flags: flagACK, length: 1 << 31}, false},
	} {
		if _, got := (yamuxCodec{}).echo(tt.h); got != tt.want {
			t.Errorf("%+v: %v", tt.h, got)
		}
	}
}

func TestAtMost(t *testing.T) {
	for _, tt := range []struct {
		n     int
		limit uint32
		want  int
	}{{5, 3, 3}, {3, 5, 3}, {0, 9, 0}, {9, 0, 0}, {7, math.MaxUint32, 7}, {7, 1 << 31, 7}} {
		if got := atMost(tt.n, tt.limit); got != tt.want {
			t.Errorf("atMost(%d, %d) = %d, want %d", tt.n, tt.limit, got, tt.want)
		}
	}
}
