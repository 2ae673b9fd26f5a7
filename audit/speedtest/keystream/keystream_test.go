package keystream

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

var key = Key{1, 2, 3, 15: 9}

// whole is the payload by the definition: each block encrypted by itself.
func whole(t *testing.T, k Key, stream uint16, n int) []byte {
	t.Helper()
	block, err := aes.NewCipher(k[:])
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i := uint64(0); len(out) < n; i++ {
		var in, b [16]byte
		binary.BigEndian.PutUint16(in[:], stream)
		binary.BigEndian.PutUint64(in[8:], i)
		block.Encrypt(b[:], in[:])
		out = append(out, b[:]...)
	}
	return out[:n]
}

func TestFillIsAESInCounterMode(t *testing.T) {
	got := make([]byte, 1000)
	for i := range got {
		got[i] = 0xaa // Fill must not depend on what was there
	}
	NewSource(key, 7).Fill(got)
	if !bytes.Equal(got, whole(t, key, 7, 1000)) {
		t.Error("the payload is not AES-128-CTR with the stream's number on top")
	}
}

// TestChunksDoNotMatter: any chunking on either side carries the same payload.
func TestChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20_000).Draw(t, "bytes")
		send, check := NewSource(key, 1), NewSource(key, 1)
		sent := make([]byte, n)
		for at := 0; at < n; {
			k := rapid.IntRange(1, n-at).Draw(t, "sent")
			send.Fill(sent[at : at+k])
			at += k
		}
		var one, parts Sum
		one.Add(sent)
		for at := 0; at < n; {
			k := rapid.IntRange(1, n-at).Draw(t, "read")
			parts.Add(sent[at : at+k])
			if err := check.Check(sent[at : at+k]); err != nil {
				t.Fatalf("at %d: %v", at, err)
			}
			at += k
		}
		if one != parts || parts.Len() != int64(n) {
			t.Fatalf("the sum depends on the chunks: %x, %x", one.Value(), parts.Value())
		}
	})
}

// TestForgeriesAreFound: one bit anywhere, another key, another stream, zeros.
func TestForgeriesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := make([]byte, rapid.IntRange(1, 10_000).Draw(t, "bytes"))
		NewSource(key, 3).Fill(p)
		p[rapid.IntRange(0, len(p)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if err := NewSource(key, 3).Check(p); !errors.Is(err, ErrForged) {
			t.Fatalf("a flipped bit: %v", err)
		}
	})
	for name, forge := range map[string]func(p []byte){
		"zeros":          func(p []byte) { clear(p) },
		"another stream": NewSource(key, 4).Fill,
		"another key":    NewSource(Key{}, 3).Fill,
	} {
		p := make([]byte, 100)
		forge(p)
		if err := NewSource(key, 3).Check(p); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSumIsTheFoldOfWords holds the fast sum against the plain one.
func TestSumIsTheFoldOfWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes")
		var want uint64
		for i, b := range p {
			want ^= uint64(b) << (8 * (i % 8))
		}
		want ^= bits.ReverseBytes64(uint64(len(p)))
		var s Sum
		s.Add(p)
		if s.Value() != want {
			t.Fatalf("%x, want %x", s.Value(), want)
		}
	})
}

// TestSumMissesNothing: without a word, or cut short, the sum is another.
func TestSumMissesNothing(t *testing.T) {
	p := make([]byte, 4096)
	NewSource(key, 0).Fill(p)
	var all Sum
	all.Add(p)
	for at := 0; at < len(p); at += 8 {
		var s Sum
		s.Add(p[:at])
		s.Add(make([]byte, 8))
		s.Add(p[at+8:])
		if s.Value() == all.Value() {
			t.Fatalf("a missing word at %d is not seen", at)
		}
		s = Sum{}
		s.Add(p[:at])
		if s.Value() == all.Value() {
			t.Fatalf("an end at %d is not seen", at)
		}
	}
	var zeros Sum
	zeros.Add(make([]byte, 64))
	if zeros.Value() == (&Sum{}).Value() {
		t.Error("zeros are as good as nothing")
	}
}

func BenchmarkFill(b *testing.B)  { bench(b, NewSource(key, 0).Fill) }
func BenchmarkSum(b *testing.B)   { bench(b, new(Sum).Add) }
func BenchmarkCheck(b *testing.B) { bench(b, func(p []byte) { _ = NewSource(key, 0).Check(p) }) }

func bench(b *testing.B, f func([]byte)) {
	p := make([]byte, 32<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		f(p)
	}
}
