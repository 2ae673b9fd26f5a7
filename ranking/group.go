package ranking

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// Group names a network location. Identities are cheap and distinct locations are not, so votes,
// exploration and redundancy count groups first.
type Group string

// ASNs maps an address to the number of its autonomous system; false if it is not known. The
// address has no zone and, where it carries an IPv4 address inside, is that. It may be called from
// any goroutine.
type ASNs func(netip.Addr) (asn uint32, ok bool)

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixTo4 = netip.MustParsePrefix("2002::/16")    // RFC 3056
	teredo = netip.MustParsePrefix("2001::/32")    // RFC 4380
)

// GroupOf returns the group of a peer: its autonomous system where a map is given and knows it,
// else the /24 of an IPv4 address or the /48 of an IPv6 address, which are what one party is
// commonly given. IPv6 addresses that carry an IPv4 address (mapped, 6to4, Teredo, NAT64) count as
// that one. A peer whose address is not valid is a group of its own, by its id: so tell the address
// where there is one.
func GroupOf(id string, addr netip.Addr, asns ASNs) Group {
	if !addr.IsValid() {
		return Group("id:" + id)
	}
	addr = unwrap(addr)
	if asns != nil {
		if asn, ok := asns(addr); ok && asn != 0 { // 0 names no system (RFC 7607)
			return Group("AS" + strconv.FormatUint(uint64(asn), 10))
		}
	}
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	p, _ := addr.Prefix(bits) // of a valid address, which has that many bits
	return Group(p.String())
}

// unwrap removes the zone and returns the IPv4 address that an IPv6 address carries, if it does.
func unwrap(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a
	}
	b := a.As16()
	switch {
	case sixTo4.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	case teredo.Contains(a): // the client's own, every bit turned over
		var v4 [4]byte
		binary.BigEndian.PutUint32(v4[:], ^binary.BigEndian.Uint32(b[12:]))
		return netip.AddrFrom4(v4)
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}
