package cookie

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// The domain: 31 bits in two unequal halves.
const (
	sequences = 1 << 31 // numbers in the domain, and cookies under one key
	leftMask  = 1<<15 - 1
	rightBits = 16
	rightMask = 1<<rightBits - 1
	// rounds: four make a strong pseudorandom permutation [1], but with halves
	// this short its bound is worth little after some hundred values. The standard
	// [2] took eight (FF3) and ten (FF1) for plaintexts that must stay secret;
	// ours need only stay unpredictable, for which eight leave margin.
	rounds = 8
)

// useRekey is the last byte of the AES input that derives a key; it is 0 in every
// input of the round function, which keeps the two uses apart.
const useRekey = 1

// permutation is a keyed bijection on 31-bit numbers: a Feistel network that
// alternates between an unequal left and right half, as FF1 does [2], with AES
// as its round function. The blocks are fields, as an array handed to
// cipher.Block would escape. Not safe for concurrent use.
type permutation struct {
	block   cipher.Block
	in, out [aes.BlockSize]byte
}

// newPermutation keys a permutation.
func newPermutation(key [16]byte) *permutation {
	// NewCipher fails on a key of the wrong length only, and this one's is fixed
	// by its type.
	block, _ := aes.NewCipher(key[:])
	return &permutation{block: block}
}

// round is the round function: 32 bits of AES over the round's number and a half.
func (p *permutation) round(i uint8, half uint32) uint32 {
	binary.LittleEndian.PutUint32(p.in[:], half)
	p.in[4] = i
	p.block.Encrypt(p.out[:], p.in[:])
	return binary.LittleEndian.Uint32(p.out[:])
}

// encode maps a sequence number (below 2^31) to its 31 bits.
func (p *permutation) encode(seq uint32) uint32 {
	left, right := seq>>rightBits, seq&rightMask
	for i := uint8(0); i < rounds; i += 2 {
		left ^= p.round(i, right) & leftMask
		right ^= p.round(i+1, left) & rightMask
	}
	return left<<rightBits | right
}

// decode is the inverse of encode.
func (p *permutation) decode(bits uint32) uint32 {
	left, right := bits>>rightBits, bits&rightMask
	for i := uint8(rounds); i > 0; i -= 2 {
		right ^= p.round(i-1, left) & rightMask
		left ^= p.round(i-2, right) & leftMask
	}
	return left<<rightBits | right
}

// successor returns the permutation for the next epoch, keyed by AES of a
// constant that the round function never asks for. Who knows the new key does
// not learn the old one.
func (p *permutation) successor() *permutation {
	var in, key [aes.BlockSize]byte
	in[aes.BlockSize-1] = useRekey
	p.block.Encrypt(key[:], in[:])
	return newPermutation(key)
}
