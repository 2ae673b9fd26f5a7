package lab

// fifo is a first-in first-out queue over a ring that grows by doubling and
// never shrinks. The zero value is empty. Not safe for concurrent use; front,
// last and pop need a queue that has what they ask for.
type fifo[T any] struct {
	ring []T // length zero or a power of two
	head int
	n    int
}

func (q *fifo[T]) len() int { return q.n }

func (q *fifo[T]) front() *T { return &q.ring[q.head] }

// last is the i-th from the end, from zero.
func (q *fifo[T]) last(i int) *T { return &q.ring[(q.head+q.n-1-i)&(len(q.ring)-1)] }

func (q *fifo[T]) clear() { q.head, q.n = 0, 0 }

func (q *fifo[T]) push(v T) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

func (q *fifo[T]) pop() T {
	v := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

func (q *fifo[T]) grow() {
	bigger := make([]T, max(16, 2*len(q.ring)))
	k := copy(bigger, q.ring[q.head:])
	copy(bigger[k:], q.ring[:q.head])
	q.ring, q.head = bigger, 0
}

// byteRing is a fifo of bytes that copies in bulk. It grows with what it holds,
// so that ten thousand idle links cost little. The zero value is empty.
type byteRing struct {
	ring []byte // length zero or a power of two
	head int
	n    int
}

func (r *byteRing) len() int { return r.n }

// write appends all of p.
func (r *byteRing) write(p []byte) {
	if need := r.n + len(p); need > len(r.ring) {
		r.grow(need)
	}
	tail := (r.head + r.n) & (len(r.ring) - 1)
	k := copy(r.ring[tail:], p)
	copy(r.ring, p[k:])
	r.n += len(p)
}

// read fills p, which must not be longer than what is held.
func (r *byteRing) read(p []byte) {
	k := copy(p, r.ring[r.head:])
	copy(p[k:], r.ring)
	r.head = (r.head + len(p)) & (len(r.ring) - 1)
	r.n -= len(p)
}

func (r *byteRing) grow(need int) {
	size := max(4096, len(r.ring))
	for size < need {
		size *= 2
	}
	bigger := make([]byte, size)
	n := r.n
	r.read(bigger[:n])
	r.ring, r.head, r.n = bigger, 0, n
}
