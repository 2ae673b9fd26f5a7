package speedtester

import (
	"context"
	"errors"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Host does what a campaign decides, with a tester, until its context ends.
type Host struct {
	ctx    context.Context
	tester *Tester
	file   string
}

var _ campaign.Host = (*Host)(nil)

// NewHost returns a host that keeps the campaign's state in a file.
func NewHost(ctx context.Context, t *Tester, file string) *Host { return &Host{ctx, t, file} }

// Now is the time of day, in seconds since 1970.
func (h *Host) Now() float64 { return h.tester.unix() }

// Save keeps the state.
func (h *Host) Save(b []byte) error { return Keep(h.file, b) }

// Interrupted says that the context has ended.
func (h *Host) Interrupted() bool { return h.ctx.Err() != nil }

// Tell announces the campaign to a peer, and reads what it publishes.
func (h *Host) Tell(p report.Peer, in time.Duration) (*report.Published, bool, time.Duration) {
	l, err := h.tester.Look(h.ctx, p.Address)
	if err != nil {
		return nil, false, 0
	}
	f := l.Published(report.Before)
	pol := l.Descriptor.Policy
	if pol.OptedOut {
		return &f, true, 0
	}
	err = h.tester.Announce(h.ctx, p.Address, max(in, pol.Notice))
	if r, ok := errors.AsType[*policy.Refusal](err); ok && r.Code == policy.OptedOut {
		return &f, true, 0
	}
	if err != nil {
		return nil, false, 0
	}
	return &f, false, pol.Notice
}

// Look reads what a peer publishes.
func (h *Host) Look(p report.Peer) *report.Published {
	l, err := h.tester.Look(h.ctx, p.Address)
	if err != nil {
		return nil
	}
	f := l.Published(report.After)
	return &f
}

// Test tests a peer.
func (h *Host) Test(p report.Peer) (runs []report.Run, before, after *report.Published) {
	l, err := h.tester.Look(h.ctx, p.Address)
	if err == nil {
		f := l.Published(report.Before)
		before = &f
	}
	runs, last, _ := h.tester.Test(h.ctx, p.Name, p.Address, p.Capacity) // what went wrong is in the runs
	if last != nil {
		f := last.Published(report.During)
		after = &f
	}
	return runs, before, after
}
