package mux

import (
	"time"

	"github.com/assay-mux/assay/burst"
)

// kernelFresh is how recent the kernel's round trip must be to count: it
// stands still while nothing of ours is acknowledged.
const kernelFresh = time.Second

// Reading returns what a ranker needs of this connection, now.
func (m *Meter) Reading() burst.Reading {
	s := m.Snapshot()
	r := burst.Reading{
		BaseRTT:      s.RTT.Base,
		Confirmed:    s.RTT.Confirmed,
		P50RTT:       s.RTT.UnloadedP50,
		P95RTT:       s.RTT.UnloadedP95,
		LoadedP95RTT: s.RTT.LoadedP95,
		KernelRTT:    s.Kernel.RTT,
		KernelFresh:  s.Kernel.At > 0 && s.At-s.Kernel.At+s.Kernel.AckAge < kernelFresh,
		Estimation:   s.Estimate,
		EchoAge:      s.EchoAge,
		Ours:         s.Burst.Ours,
		Credit:       s.Gaps.Credit,
		Peers:        s.Burst.Peers,
		Issued:       s.Cookies.Issued,
		Skipped:      s.Cookies.Skipped,
		Forged:       s.Cookies.Forged,
		OutOfOrder:   s.Kernel.OutOfOrder,
	}
	if s.Counts.PayloadIn > 0 {
		r.Silence = s.At - s.Burst.Last
	}
	return r
}
