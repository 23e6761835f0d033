package polite

import (
	"fmt"
	"net/netip"
)

// A BlockedError says that a connection was not made because of where it would
// have led.
type BlockedError struct {
	Addr string
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("%s is not an address of the public internet", e.Addr)
}

// Guard refuses addresses that are not public, with a [BlockedError]. It is to be
// shown every address that is about to be connected to, and not names: so neither
// one that resolves to a private address, nor one that does so only the second time,
// nor a redirect gets past.
func Guard(at netip.AddrPort) error {
	if !Public(at.Addr()) {
		return &BlockedError{at.String()}
	}
	return nil
}

// Public reports whether an address belongs to the open internet, by the IANA
// registries of special-purpose addresses, and one address that a cloud has made
// special. Of IPv4 that is all that is not special; of IPv6 only what is allocated
// as global unicast (2000::/3) and not special, as everything else is reserved,
// local, or some way of writing an IPv4 address. The two of those ways that lead
// over the open internet, NAT64 and 6to4, are judged by the address that they carry.
func Public(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if !a.IsValid() {
		return false
	}
	if a.Is6() {
		b := a.As16()
		switch {
		case nat64.Contains(a):
			a = netip.AddrFrom4([4]byte(b[12:16]))
		case sixToFour.Contains(a):
			a = netip.AddrFrom4([4]byte(b[2:6]))
		case !global.Contains(a):
			return false
		}
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

var (
	global    = netip.MustParsePrefix("2000::/3")     // global unicast
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: the last four bytes
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056: the four behind the prefix
)

// special are the blocks that are not public; never changed. The registries call
// a few blocks inside them reachable from everywhere, such as those of anycast
// for DNS at 192.0.0.0/24 and 2001::/23: no site is there.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network, and on many systems this host
	netip.MustParsePrefix("10.0.0.0/8"),       // private
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT
	netip.MustParsePrefix("127.0.0.0/8"),      // loopback
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's platform, which answers its guests only
	netip.MustParsePrefix("169.254.0.0/16"),   // link-local, with the clouds' metadata
	netip.MustParsePrefix("172.16.0.0/12"),    // private
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("192.31.196.0/24"),  // AS112, which answers for private addresses
	netip.MustParsePrefix("192.52.193.0/24"),  // automatic multicast tunnels
	netip.MustParsePrefix("192.88.99.0/24"),   // relays of 6to4, given up
	netip.MustParsePrefix("192.168.0.0/16"),   // private
	netip.MustParsePrefix("192.175.48.0/24"),  // AS112
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("224.0.0.0/4"),      // multicast
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and broadcast

	netip.MustParsePrefix("2001::/23"),         // protocol assignments, with Teredo
	netip.MustParsePrefix("2001:db8::/32"),     // documentation
	netip.MustParsePrefix("2620:4f:8000::/48"), // AS112
	netip.MustParsePrefix("3fff::/20"),         // documentation
}
