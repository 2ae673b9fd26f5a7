package cookie

import (
	"crypto/aes"
	"encoding/binary"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func drawKey(t *rapid.T, label string) (key [16]byte) {
	copy(key[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
	return key
}

func TestPermutationInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPermutation(drawKey(t, "key"))
		seq := rapid.Uint32Range(0, sequences-1).Draw(t, "seq")
		coded := p.encode(seq)
		if coded >= sequences {
			t.Fatalf("encode(%d) = %#x leaves the domain", seq, coded)
		}
		if got := p.decode(coded); got != seq {
			t.Fatalf("decode(encode(%d)) = %d", seq, got)
		}
		if got := p.encode(p.decode(seq)); got != seq {
			t.Fatalf("encode(decode(%d)) = %d", seq, got)
		}
	})
}

// reference is the permutation written down plainly: eight rounds, even ones on
// the left 15 bits, odd ones on the right 16, each the low bits of AES of
// (half, 32 bits little-endian; round; zeros).
func reference(key [16]byte, seq uint32) uint32 {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	halves := [2]uint32{seq >> 16, seq & 0xffff}
	masks := [2]uint32{0x7fff, 0xffff}
	for round := range 8 {
		in := binary.LittleEndian.AppendUint32(nil, halves[1-round%2])
		in = append(in, byte(round), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		out := make([]byte, 16)
		block.Encrypt(out, in)
		halves[round%2] ^= binary.LittleEndian.Uint32(out) & masks[round%2]
	}
	return halves[0]<<16 | halves[1]
}

func TestPermutationIsAsDescribed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t, "key")
		seq := rapid.Uint32Range(0, sequences-1).Draw(t, "seq")
		p := newPermutation(key)
		if got, want := p.encode(seq), reference(key, seq); got != want {
			t.Fatalf("encode(%d) = %#x, want %#x", seq, got, want)
		}
		// The next key is AES of fifteen zeros and a one.
		block, _ := aes.NewCipher(key[:])
		var next [16]byte
		block.Encrypt(next[:], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
		if got, want := p.successor().encode(seq), reference(next, seq); got != want {
			t.Fatalf("the successor's encode(%d) = %#x, want %#x", seq, got, want)
		}
	})
}

func TestPermutationHasNoCollisions(t *testing.T) {
	p := newPermutation(testKey)
	const n = 1 << 17
	seen := make(map[uint32]uint32, n)
	for seq := range uint32(n) {
		coded := p.encode(seq)
		if other, ok := seen[coded]; ok {
			t.Fatalf("%d and %d both give %#x", seq, other, coded)
		}
		seen[coded] = seq
	}
}

// Decoding with another key must look like a random number: it falls below n for
// about n in 2^31.
func TestPermutationWrongKeyDoesNotDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey(t, "a"), drawKey(t, "b")
		if a == b {
			t.Skip("one key")
		}
		p, other := newPermutation(a), newPermutation(b)
		same := 0
		for seq := range uint32(64) {
			if other.decode(p.encode(seq)) < 1024 {
				same++
			}
		}
		// Expected 64*1024/2^31 = 3e-5; two of them once in 10^9 runs.
		if same > 1 {
			t.Fatalf("%d of 64 values decoded to a small number under the wrong key", same)
		}
	})
}

// Neighbours in sequence must differ in about half of all bits, or the next value
// could be guessed from the last.
func TestPermutationScattersNeighbours(t *testing.T) {
	p := newPermutation(testKey)
	const n = 10_000
	var flipped [31]int
	total := 0
	for seq := range uint32(n) {
		diff := p.encode(seq) ^ p.encode(seq+1)
		total += bits.OnesCount32(diff)
		for b := range flipped {
			flipped[b] += int(diff >> b & 1)
		}
	}
	if mean := float64(total) / n; mean < 15.2 || mean > 15.8 {
		t.Errorf("neighbours differ in %.2f bits of 31 on average", mean)
	}
	for b, f := range flipped {
		// 6 standard deviations of a fair coin.
		if f < n/2-300 || f > n/2+300 {
			t.Errorf("bit %d flips in %d of %d", b, f, n)
		}
	}
}

func TestSuccessorIsAnotherPermutation(t *testing.T) {
	p := newPermutation(testKey)
	next, again := p.successor(), p.successor()
	same := 0
	for seq := range uint32(1000) {
		if next.encode(seq) != again.encode(seq) {
			t.Fatal("the successor is not determined by the key")
		}
		if next.encode(seq) == p.encode(seq) {
			same++
		}
	}
	if same > 1 {
		t.Errorf("%d of 1000 values survive the change of keys", same)
	}
}
