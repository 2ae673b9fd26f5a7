package cookie

import "time"

// walk finds the value at a rank by going through weighted points in order of
// value. A point of weight c stands for c ranks and lies at the middle of them;
// between two middles the value is interpolated. It starts with the least value
// seen at rank 0 and ends with the greatest, so that nothing is extrapolated.
type walk struct {
	rank  float64 // sought, from 0
	seen  float64 // weight of the points so far
	at    float64 // rank of the last point
	value float64 // and its value; the answer once done
	done  bool
}

// visit takes the next point.
func (w *walk) visit(value, weight float64) {
	if w.done {
		return
	}
	w.step(w.seen+(weight-1)/2, value)
	w.seen += weight
}

// step moves to a point, or stops at the rank sought if that comes first.
func (w *walk) step(at, value float64) {
	if at < w.rank {
		w.at, w.value = at, value
		return
	}
	if at > w.at {
		value = w.value + (value-w.value)*(w.rank-w.at)/(at-w.at)
	}
	w.value, w.done = value, true
}

// end closes the walk with the greatest value seen and returns the answer.
func (w *walk) end(greatest float64) time.Duration {
	if !w.done {
		w.step(w.seen-1, greatest)
	}
	return time.Duration(w.value)
}
