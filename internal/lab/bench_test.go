package lab

import (
	"io"
	"strconv"
	"testing"
)

// BenchmarkPair is the cost of carrying bytes where nothing waits.
func BenchmarkPair(b *testing.B) {
	for _, size := range []int{76, 4096, 64 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			x, y := Pair(Link{})
			p := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				x.Write(p)
				io.ReadFull(y, p)
			}
		})
	}
}
