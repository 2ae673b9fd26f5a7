package pair

import (
	"testing"
	"time"

	speed "github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/internal/lab"
)

// TestSpeedtestOfB: b is willing unless it has opted out. How near the figure is
// is for a quiet machine to show: here it is not above the link's.
func TestSpeedtestOfB(t *testing.T) {
	for name, optOut := range map[string]bool{"willing": false, "opted out": true} {
		for _, secure := range []bool{false, true} {
			if optOut && secure {
				continue // it says so in the same words
			}
			cfg := small()
			cfg.Rate, cfg.Files, cfg.TLS = 40*lab.Mbit, 1, secure
			cfg.Speedtest, cfg.OptOut = 2*time.Second, optOut
			doc, err := run(t, cfg)
			if err != nil {
				t.Fatal(name, err)
			}
			p := doc.Speedtest
			if optOut {
				if p == nil || p.Outcome != speed.OptedOut || !p.OptedOut || p.Capacity != 0 {
					t.Errorf("%s: %+v", name, p)
				}
				continue
			}
			if p == nil || p.Outcome != speed.Measured || p.Capacity <= 0 || p.Capacity > 1.1*p.KnownCapacity || len(p.Runs) != 1 {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}
