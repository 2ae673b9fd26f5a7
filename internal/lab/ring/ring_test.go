package ring

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestAgainstSlice holds both queues against plain slices.
func TestAgainstSlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var q Queue[byte]
		var r Bytes
		var model []byte
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) {
				p := rapid.SliceOfN(rapid.Byte(), 0, 6000).Draw(rt, "bytes")
				model = append(model, p...)
				r.Write(p)
				for _, b := range p {
					q.Push(b)
				}
			},
			"pop": func(rt *rapid.T) {
				p := make([]byte, rapid.IntRange(0, len(model)).Draw(rt, "n"))
				r.Read(p)
				if !bytes.Equal(p, model[:len(p)]) {
					rt.Fatal("the ring's bytes differ")
				}
				for _, want := range p {
					if front, got := *q.Front(), q.Pop(); got != want || front != want {
						rt.Fatalf("popped %d, front %d, want %d", got, front, want)
					}
				}
				model = model[len(p):]
			},
			"": func(rt *rapid.T) {
				if q.Len() != len(model) || r.Len() != len(model) {
					rt.Fatalf("lengths %d and %d, want %d", q.Len(), r.Len(), len(model))
				}
			},
		})
	})
}
