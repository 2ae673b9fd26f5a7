//go:build !race

package burst

import (
	"testing"
	"time"
)

// The race detector allocates on its own account, hence the build tag.
func TestHotPathDoesNotAllocate(t *testing.T) {
	e := &echoes{}
	w := NewWindow(DefaultConfig(), e)
	w.SetPath(Path{BaseRTT: 40 * ms, Confirmed: true})
	est := NewEstimate(0)
	id, _, _ := w.Begin(0)
	at := time.Duration(0)
	gaps := []time.Duration{0, 100 * time.Microsecond, 50 * ms, 3 * time.Second}
	w.Arrive(Arrival{At: at, Bytes: 1}) // the curve is made here
	for _, gap := range gaps {
		n := testing.AllocsPerRun(1000, func() {
			at += gap
			*e = echoes{at, true}
			w.Echoed(at)
			w.Asked(at)
			w.Tick(at, 0)
			if s, ok := w.Arrive(Arrival{At: at, Bytes: 1448, Ours: gap / 3}); ok {
				est.Fold(s, at)
			}
			w.End(at, id, 0, false)
			id, _, _ = w.Begin(at)
			_ = est.Reading(at)
			_ = w.State()
		})
		if n != 0 {
			t.Errorf("gap %v: %v allocations", gap, n)
		}
	}
}
