package cookie

// remembered is how many of the latest sequence numbers the history covers. At
// the default of 8 outstanding for at most 5 s, an echo that comes 1024 cookies
// late is minutes old; it then counts as late, which is no evidence.
const remembered = 1024

// history remembers which of the latest sequence numbers have been answered, so
// that a second echo of one is seen for what it is.
type history [remembered / 64]uint64

// slot returns the word and the bit of a sequence number.
func slot(seq uint32) (word int, bit uint64) {
	i := seq % remembered
	return int(i / 64), 1 << (i % 64)
}

// forget clears a number that is about to be issued.
func (h *history) forget(seq uint32) {
	w, b := slot(seq)
	h[w] &^= b
}

// answer marks a number as answered and reports whether it already was.
func (h *history) answer(seq uint32) (again bool) {
	w, b := slot(seq)
	again = h[w]&b != 0
	h[w] |= b
	return again
}
