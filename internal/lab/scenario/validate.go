package scenario

import (
	"fmt"
	"net/netip"
	"slices"
)

// Validate says what does not fit together. The error is ErrScenario.
func (s *Scenario) Validate() error {
	for _, check := range []func() error{s.checkLinks, s.checkPeers, s.checkWorkload, s.checkFaults, s.checkBars} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrScenario, fmt.Sprintf(format, args...))
}

func (s *Scenario) checkLinks() error {
	for name, l := range s.Links {
		if l.Through != "" {
			if _, ok := s.Bottlenecks[l.Through]; !ok {
				return wrong("link %s goes through %s, which is no bottleneck", name, l.Through)
			}
		}
		if l.Through != "" && s.Node.Ingress > 0 {
			return wrong("link %s goes through %s and our own ingress, it can go through one", name, l.Through)
		}
		if x := l.Loss; x != nil && (x.Random >= 1 || x.Bursts >= 1 || x.Within > 1) {
			return wrong("link %s loses all, give shares below 100%%", name)
		}
		if !slices.IsSortedFunc(l.Changes, func(a, b Change) int { return int(a.At - b.At) }) {
			return wrong("link %s changes back in time, give its changes in order", name)
		}
	}
	return nil
}

func (s *Scenario) checkPeers() error {
	names := map[string]bool{}
	for _, p := range s.Peers {
		if p.Name == "" || names[p.Name] {
			return wrong("each peer needs a name of its own, %q is none", p.Name)
		}
		names[p.Name] = true
		if err := s.checkPeer(p); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return wrong("there are no peers")
	}
	for _, name := range s.Without {
		if !names[name] {
			return wrong("without %s, which is no peer", name)
		}
	}
	return nil
}

func (s *Scenario) checkPeer(p Peer) error {
	if _, ok := s.Links[p.Link]; !ok {
		return wrong("peer %s has link %q, which is none of the links", p.Name, p.Link)
	}
	if p.Group != "" {
		if _, err := netip.ParsePrefix(p.Group); err != nil {
			return wrong("peer %s: group %q is no prefix, write 10.1.0.0/24", p.Name, p.Group)
		}
	}
	for _, l := range p.Leaves {
		if !slices.Contains([]string{"", "same", "new"}, l.As) {
			return wrong("peer %s comes back as %q, write same or new", p.Name, l.As)
		}
		if l.At == 0 && !l.Demoted {
			return wrong("peer %s leaves at no time, give at or demoted", p.Name)
		}
	}
	for _, r := range p.Behaviour {
		if err := r.Do.check(p.Name); err != nil {
			return err
		}
	}
	if p.Claims != nil && p.Claims.Factor <= 0 {
		return wrong("peer %s: a factor on sizes is above 0", p.Name)
	}
	if p.Tested < 0 || p.Tested > 0 && p.Tested <= 8 {
		return wrong("peer %s: a tested rate is above 8 bit/s", p.Name)
	}
	if p.Side != nil && (p.Side.Every <= 0 || p.Side.Reply <= 0) || p.Push != nil && (p.Push.Every <= 0 || p.Push.Size <= 0) {
		return wrong("peer %s: side and push need a time and a size", p.Name)
	}
	return nil
}

func (d Do) check(peer string) error {
	if d.Fail != nil && !slices.Contains([]string{NotFound, Reset, Silent, Vanish, Corrupt}, d.Fail.How) {
		return wrong("peer %s fails by %q: there are not_found, reset, silent, vanish, corrupt", peer, d.Fail.How)
	}
	if d.Fill != nil && !slices.Contains([]string{FillPings, FillWindow, FillEmpty, FillUnknown}, d.Fill.Kind) {
		return wrong("peer %s fills with %q: there are pings, window, empty, unknown", peer, d.Fill.Kind)
	}
	if d.Fill != nil && d.Fill.Every <= 0 {
		return wrong("peer %s: fill needs a time", peer)
	}
	if d.Pace != nil && d.Pace.Burst <= 0 {
		return wrong("peer %s: pace needs a burst", peer)
	}
	return nil
}

func (s *Scenario) checkWorkload() error {
	w := s.Workload
	if w.Fetches > 0 && len(w.Sizes) == 0 || w.Warmup != nil && w.Warmup.Each > 0 && len(w.Warmup.Sizes) == 0 {
		return wrong("what is fetched needs sizes")
	}
	for _, n := range w.Sizes {
		if n <= 0 {
			return wrong("a size of nothing")
		}
	}
	if w.Critical != nil && w.Critical.Every <= 0 {
		return wrong("critical needs every: each so-manieth fetch")
	}
	return nil
}

func (s *Scenario) checkFaults() error {
	for _, f := range s.Faults {
		if f.At > 0 && f.InFetch > 0 {
			return wrong("a fault is at a time or in a fetch, not both")
		}
		if f.Every > 0 || f.Times > 0 {
			return wrong("a fault that is repeated is at a time, every so often, so many times: give at, every and times")
		}
		if f.Freeze == 0 && f.Inbox == 0 && f.Disk == 0 {
			return wrong("a fault does something: freeze, inbox or disk")
		}
	}
	return nil
}

func (s *Scenario) checkBars() error {
	for _, b := range s.Bars {
		if b.Path == "" || b.Is == nil && b.Not == nil && b.AtMost == nil && b.AtLeast == nil && b.Below == nil && b.Above == nil {
			return wrong("the bar on %q bounds nothing", b.Path)
		}
		if !slices.Contains([]string{"", "each", "sum", "max", "min", "mean", "any"}, b.Over) {
			return wrong("over %q: there are each, sum, max, min, mean, any", b.Over)
		}
	}
	return nil
}
