package ranking

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestGroupOf(t *testing.T) {
	for _, c := range []struct{ name, addr, want string }{
		{"IPv4", "192.0.2.77", "192.0.2.0/24"},
		{"IPv4, the last", "192.0.2.255", "192.0.2.0/24"},
		{"IPv6", "2001:db8:aa:bb::1", "2001:db8:aa::/48"},
		{"mapped", "::ffff:192.0.2.77", "192.0.2.0/24"},
		{"6to4", "2002:c000:24d::1", "192.0.2.0/24"},
		{"Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdb2", "192.0.2.0/24"},
		{"NAT64", "64:ff9b::192.0.2.77", "192.0.2.0/24"},
		{"beside Teredo", "2001:1::1", "2001:1::/48"},
		{"beside NAT64", "64:ff9b:1::192.0.2.77", "64:ff9b:1::/48"},
		{"with a zone", "fe80::1%eth0", "fe80::/48"},
		{"loopback", "::1", "::/48"},
		{"not valid", "", "id:me"},
	} {
		addr, _ := netip.ParseAddr(c.addr)
		if got := GroupOf("me", addr, nil); string(got) != c.want {
			t.Errorf("%s: %s is in %s, want %s", c.name, c.addr, got, c.want)
		}
	}
}

func TestGroupByASN(t *testing.T) {
	var asked []netip.Addr
	asns := func(a netip.Addr) (uint32, bool) {
		asked = append(asked, a)
		switch a.String() {
		case "192.0.2.1":
			return 64500, true
		case "198.51.100.1":
			return 0, true
		case "2001:db8::1":
			return 4200000000, true
		}
		return 7, false
	}
	for addr, want := range map[string]string{
		"192.0.2.1":        "AS64500",
		"::ffff:192.0.2.1": "AS64500",
		"2002:c000:201::":  "AS64500",
		"2001:db8::1":      "AS4200000000",
		"2001:db8::1%eth0": "AS4200000000",
		"198.51.100.1":     "198.51.100.0/24",
		"203.0.113.1":      "203.0.113.0/24",
		"2001:db8:5::1":    "2001:db8:5::/48",
	} {
		if got := GroupOf("", netip.MustParseAddr(addr), asns); string(got) != want {
			t.Errorf("%s is in %s, want %s", addr, got, want)
		}
	}
	for _, a := range asked {
		if a.Is4In6() || a.Zone() != "" {
			t.Errorf("the map was asked for %s", a)
		}
	}
	asked = nil
	if got := GroupOf("me", netip.Addr{}, asns); got != "id:me" || asked != nil {
		t.Errorf("no address: %s, the map was asked for %v", got, asked)
	}
}

// Every way to write an IPv4 address is in one group, and neighbours are, and others are not.
func TestGroupsOfOneNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address"))
		v4 := netip.AddrFrom4(b)
		want := GroupOf("", v4, nil)
		six := [16]byte{0: 0x20, 1: 0x02, 2: b[0], 3: b[1], 4: b[2], 5: b[3], 15: 9}
		ter := [16]byte{0: 0x20, 1: 0x01, 12: ^b[0], 13: ^b[1], 14: ^b[2], 15: ^b[3]}
		nat := [16]byte{1: 0x64, 2: 0xff, 3: 0x9b, 12: b[0], 13: b[1], 14: b[2], 15: b[3]}
		ways := []netip.Addr{netip.AddrFrom16(v4.As16()), netip.AddrFrom16(six), netip.AddrFrom16(ter), netip.AddrFrom16(nat)}
		b[3] ^= rapid.Byte().Draw(t, "neighbour")
		for _, a := range append(ways, netip.AddrFrom4(b)) {
			if got := GroupOf("", a, nil); got != want {
				t.Errorf("%s is in %s, %s in %s", v4, want, a, got)
			}
		}
		b[2] ^= byte(rapid.IntRange(1, 255).Draw(t, "other"))
		if got := GroupOf("", netip.AddrFrom4(b), nil); got == want {
			t.Errorf("%v and %v are both in %s", v4, b, want)
		}
	})
}

func FuzzGroupOf(f *testing.F) {
	for _, s := range []string{"192.0.2.1", "2002:c000:201::", "2001::1", "fe80::1%eth0", "", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		addr, err := netip.ParseAddr(s)
		g := GroupOf("some id", addr, nil)
		if own := strings.HasPrefix(string(g), "id:"); own != (err != nil) {
			t.Fatalf("%q is in %s", s, g)
		}
		if err != nil {
			return
		}
		p, err := netip.ParsePrefix(string(g))
		if err != nil || !p.Contains(unwrap(addr)) {
			t.Errorf("%q is in %s: %v", s, g, err)
		}
	})
}

// A stranger that is forgotten keeps no group from voting, and those that are left are taken for what it
// has become.
func TestAGroupVotesOnWithoutAStranger(t *testing.T) {
	w := newWorld(t)
	voter := w.add(&actor{id: "voter", addr: in(1, 1), rate: 1e5, rtt: 10 * ms})
	left := w.add(&actor{id: "left", addr: in(1, 2), rate: 1e6, rtt: 10 * ms})
	stays := w.add(&actor{id: "stays", addr: in(1, 3), rate: 1e6, rtt: 10 * ms})
	renew := func() {
		w.now += time.Minute
		w.r.Poll(w.now)
	}
	for range 3 {
		w.from(voter, 1e6)
	}
	renew()
	w.ranks(1e6)
	slow := w.expect(stays, 1e6)
	w.leave(left)
	w.r.forget(w.r.peers["left"])
	voter.rate = 4e6
	for range 40 {
		w.from(voter, 1e6)
	}
	renew()
	if fast := w.expect(stays, 1e6); slow < 9*time.Second || fast > 2*time.Second {
		t.Errorf("beside a slow peer a stranger is expected in %v, beside one that became fast in %v", slow, fast)
	}
	x := w.r.indexOf(w.now, 1e6)
	if key, want := x.key[x.leaves+w.r.peers["stays"].slot], w.r.keyOf(x, w.r.peers["stays"].slot, w.now); key > want*1.01 {
		t.Errorf("it is kept at %v in the order, and expected in %v", key, want)
	}
}

// What a group has become is told of its strangers in all orders, not only of one that is used.
func TestStrangersFollowTheirGroupInTheOrder(t *testing.T) {
	w := newWorld(t)
	voter := w.add(&actor{id: "voter", addr: in(1, 1), rate: 1e5, rtt: 10 * ms})
	for range 3 {
		w.from(voter, 1e6)
	}
	stranger := w.add(&actor{id: "stranger", addr: in(1, 2), rate: 1e6, rtt: 10 * ms})
	for i := range 100 { // more than are looked at in turn
		w.add(&actor{id: fmt.Sprint("other ", i), addr: in(2+i, 1), rate: 1e6, rtt: 10 * ms})
	}
	w.now += time.Minute
	w.r.Poll(w.now)
	slot := w.r.peers[stranger.id].slot
	x := w.r.indexOf(w.now, 1e6) // nothing is due
	w.r.population.vote(w.r.peers[voter.id], 1/4e6)
	w.now += time.Minute
	w.r.population.renew(w.now, &w.r.cfg)
	if !x.isDue[slot] || x.isDue[w.r.peers["other 50"].slot] {
		t.Errorf("the stranger's key is due: %v, another's: %v", x.isDue[slot], x.isDue[w.r.peers["other 50"].slot])
	}
}

// The host's map may ask the ranker, or wait for whoever does.
func TestTheMapIsAskedOutsideTheLock(t *testing.T) {
	cfg := DefaultConfig()
	var r *Ranker
	cfg.ASNs = func(netip.Addr) (uint32, bool) {
		free := r.mu.TryLock()
		if free {
			r.mu.Unlock()
		}
		return 7, free
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Join(0, Peer{ID: "a", Addr: in(1, 1), Meter: &gauge{}}); err != nil {
		t.Fatal(err)
	}
	if got := r.peers["a"].group.name; got != "AS7" {
		t.Errorf("asked under the lock: it is in %s", got)
	}
}
