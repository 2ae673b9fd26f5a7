// Package ring holds the queues of the lab: they grow with what they hold and
// allocate nothing once they have.
package ring

// Queue is a first-in first-out queue over a ring that grows by doubling and
// never shrinks. The zero value is empty. Not safe for concurrent use; Front,
// Last and Pop need a queue that has what they ask for.
type Queue[T any] struct {
	ring []T // length zero or a power of two
	head int
	n    int
}

// Len is how many it holds.
func (q *Queue[T]) Len() int { return q.n }

// Cap is for how many there is room before it grows.
func (q *Queue[T]) Cap() int { return len(q.ring) }

// Front is the first.
func (q *Queue[T]) Front() *T { return &q.ring[q.head] }

// Last is the i-th from the end, from zero.
func (q *Queue[T]) Last(i int) *T { return &q.ring[(q.head+q.n-1-i)&(len(q.ring)-1)] }

// Clear drops all.
func (q *Queue[T]) Clear() { q.head, q.n = 0, 0 }

// Push appends one.
func (q *Queue[T]) Push(v T) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

// Pop takes the first.
func (q *Queue[T]) Pop() T {
	v := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

func (q *Queue[T]) grow() {
	bigger := make([]T, max(16, 2*len(q.ring)))
	k := copy(bigger, q.ring[q.head:])
	copy(bigger[k:], q.ring[:q.head])
	q.ring, q.head = bigger, 0
}

// Bytes is a Queue of bytes that copies in bulk. It grows with what it holds,
// so that ten thousand idle links cost little. The zero value is empty.
type Bytes struct {
	ring []byte // length zero or a power of two
	head int
	n    int
}

// Len is how many it holds.
func (r *Bytes) Len() int { return r.n }

// Cap is for how many there is room before it grows.
func (r *Bytes) Cap() int { return len(r.ring) }

// Write appends all of p.
func (r *Bytes) Write(p []byte) {
	if need := r.n + len(p); need > len(r.ring) {
		r.grow(need)
	}
	tail := (r.head + r.n) & (len(r.ring) - 1)
	k := copy(r.ring[tail:], p)
	copy(r.ring, p[k:])
	r.n += len(p)
}

// Read fills p, which must not be longer than what is held.
func (r *Bytes) Read(p []byte) {
	k := copy(p, r.ring[r.head:])
	copy(p[k:], r.ring)
	r.head = (r.head + len(p)) & (len(r.ring) - 1)
	r.n -= len(p)
}

func (r *Bytes) grow(need int) {
	size := max(4096, len(r.ring))
	for size < need {
		size *= 2
	}
	bigger := make([]byte, size)
	n := r.n
	r.Read(bigger[:n])
	r.ring, r.head, r.n = bigger, 0, n
}
