package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// checked is a connection over 8 Mbit/s and 40 ms that fetches have read 1000 bytes from, and a snapshot
// of it in which all is as it should be.
func checked() (*recorder, *connection, mux.Snapshot) {
	w := &world{s: &scenario.Scenario{}, content: newContent()}
	w.log = newRecorder(w)
	c := &connection{a: &actor{w: w, id: "peer", link: scenario.Link{Rate: 8e6, RTT: scenario.Time(40 * time.Millisecond)}}}
	c.got.Store(1000)
	var s mux.Snapshot
	s.Outstanding, s.Cookies.Echoed, s.Streams = mostCookies, 5, streamSlack
	s.RTT.Samples, s.RTT.LoadedSamples, s.RTT.Base = 3, 2, 40*time.Millisecond
	s.Counts.PayloadIn = 1000
	s.Estimate.Rate = burst.SecondsPerByte(1e-6)
	return w.log, c, s
}

// Each invariant is broken once, and found by the check that is for it.
func TestEachInvariantIsChecked(t *testing.T) {
	type broken struct {
		spoil func(*connection, *mux.Snapshot)
		want  string
	}
	for name, tc := range map[string]broken{
		"nothing":            {func(*connection, *mux.Snapshot) {}, ""},
		"too many cookies":   {func(_ *connection, s *mux.Snapshot) { s.Outstanding++ }, "cookies are outstanding"},
		"streams for ever":   {func(_ *connection, s *mux.Snapshot) { s.Streams = streamSlack + 1 }, "streams are followed"},
		"a forged sample":    {func(_ *connection, s *mux.Snapshot) { s.RTT.Samples++ }, "an estimate moved"},
		"a loaded one":       {func(_ *connection, s *mux.Snapshot) { s.RTT.LoadedSamples++ }, "an estimate moved"},
		"bytes from nowhere": {func(c *connection, _ *mux.Snapshot) { c.got.Add(1) }, "were read of"},
		"faster than light":  {func(_ *connection, s *mux.Snapshot) { s.RTT.Base -= time.Millisecond }, "a base RTT of"},
		"faster than it was": {func(_ *connection, s *mux.Snapshot) { s.Estimate.Rate /= 1.1 }, "a rate of"},
		"within its error bar, in virtual time": {func(_ *connection, s *mux.Snapshot) {
			s.Estimate.Rate, s.Estimate.StandardError = s.Estimate.Rate/1.1, s.Estimate.Rate/20
		}, "a rate of"},
		"within its error bar, in real time": {func(c *connection, s *mux.Snapshot) {
			c.a.w.o.RealTime = true
			s.Estimate.Rate, s.Estimate.StandardError = s.Estimate.Rate/1.1, s.Estimate.Rate/20
		}, ""},
		"beyond it": {func(c *connection, s *mux.Snapshot) {
			c.a.w.o.RealTime = true
			s.Estimate.Rate, s.Estimate.StandardError = s.Estimate.Rate/1.3, s.Estimate.Rate/20
		}, "a rate of"},
		"allowed by a change": {func(c *connection, s *mux.Snapshot) {
			s.Estimate.Rate /= 1.1
			c.a.link.Changes = []scenario.Change{{Rate: 9e6}}
		}, ""},
	} {
		r, c, s := checked()
		tc.spoil(c, &s)
		r.check(c, s)
		violated(t, name, r, tc.want)
	}
}

// A pause of ours that is charged to an honest peer is found.
func TestChargedPauseIsFound(t *testing.T) {
	for got, want := range map[time.Duration]string{400 * time.Millisecond: "", 600 * time.Millisecond: "were charged to it"} {
		r, c, _ := checked()
		r.charged(c, got, time.Second)
		violated(t, got.String(), r, want)
	}
}

type deaf struct{ Transfer }

func (deaf) Progress(time.Duration, int) {}

// Bytes that are not those that were sent are found, but for a peer whose part it is to corrupt.
func TestWrongBytesAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		datum     int
		how, want string
	}{"right": {1, "", ""}, "wrong": {2, "", "is not what was sent"}, "its part": {2, scenario.Corrupt, ""}} {
		r, c, _ := checked()
		c.a.spec.Behaviour = []scenario.Rule{{Do: scenario.Do{Fail: &scenario.Fail{How: tc.how}}}}
		x := &transfer{w: r.w, t: deaf{}, pick: ranking.Pick{Peer: "peer"}, datum: &datum{n: 1, size: 1e6}, conn: c}
		x.got.Store(100)
		x.arrived(time.Second, r.w.content.at(tc.datum, 100, 200))
		violated(t, name, r, tc.want)
	}
}

// violated says that the one violation is as wanted, or that there is none.
func violated(t *testing.T, name string, r *recorder, want string) {
	t.Helper()
	switch {
	case want == "" && len(r.broken) > 0, want != "" && len(r.broken) != 1:
		t.Errorf("%s: %+v", name, r.broken)
	case want != "" && (!strings.Contains(r.broken[0].What, want) || r.broken[0].Peer != "peer"):
		t.Errorf("%s: %+v, want %q", name, r.broken[0], want)
	}
}
