package burst

import (
	"testing"
	"time"
)

// What the peer sends unasked is no first byte: the wait for our answer stays a wait, however much
// of it comes meanwhile.
func TestUnaskedIsNoFirstByte(t *testing.T) {
	for _, unasked := range []bool{true, false} {
		w := NewWindow(DefaultConfig(), nil)
		w.SetPath(Path{BaseRTT: 40 * time.Millisecond, Rate: 1 / 6.25e6})
		id, _, _ := w.Begin(0)
		at := time.Duration(0)
		for range 4 { // requests of the peer's, before our answer can have come and after
			at += 50 * time.Millisecond
			w.Arrive(Arrival{At: at, Bytes: 46, Unasked: unasked})
		}
		for range 62 {
			at += 2621440 * time.Nanosecond
			w.Arrive(Arrival{At: at, Bytes: 16 << 10})
		}
		s, _ := w.End(at, id, 0, true)
		charged := w.State().Peers > 0
		if charged == unasked {
			t.Errorf("unasked %v: charged %v", unasked, w.State().Peers)
		}
		if rate := s.Rate.BytesPerSecond(); unasked && (rate < 6.2e6 || rate > 6.3e6) {
			t.Errorf("reads %.0f B/s", rate)
		}
	}
}
