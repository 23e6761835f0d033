package polite

import (
	"fmt"
	"net/netip"
	"syscall"
)

// A BlockedError says that a connection was not made because of where it would
// have led.
type BlockedError struct {
	Addr string
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("%s is not an address of the public internet", e.Addr)
}

// Guard refuses connections to addresses that are not public. It is meant to be
// the Control function of a net.Dialer, which is called with the address that
// is about to be connected to: so neither a name that resolves to a private
// address, nor one that does so only the second time, nor a redirect gets past.
func Guard(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !Public(ap.Addr()) {
		return &BlockedError{address}
	}
	return nil
}

// Public reports whether an address belongs to the open internet: whether it is
// global unicast according to the IANA registries of special-purpose addresses.
// An IPv6 address that carries an IPv4 address is judged by that.
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
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: the last four bytes
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056: the four behind the prefix
)

// special are the blocks that are not public; never changed.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network, and on many systems this host
	netip.MustParsePrefix("10.0.0.0/8"),      // private
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("127.0.0.0/8"),     // loopback
	netip.MustParsePrefix("169.254.0.0/16"),  // link-local, with the clouds' metadata
	netip.MustParsePrefix("172.16.0.0/12"),   // private
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.168.0.0/16"),  // private
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("224.0.0.0/4"),     // multicast
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast

	netip.MustParsePrefix("::/96"),          // unspecified, loopback, IPv4-compatible
	netip.MustParsePrefix("64:ff9b:1::/48"), // NAT64 of a local network
	netip.MustParsePrefix("100::/64"),       // discard
	netip.MustParsePrefix("2001::/23"),      // protocol assignments, with Teredo
	netip.MustParsePrefix("2001:db8::/32"),  // documentation
	netip.MustParsePrefix("3fff::/20"),      // documentation
	netip.MustParsePrefix("5f00::/16"),      // segment routing
	netip.MustParsePrefix("fc00::/7"),       // unique local
	netip.MustParsePrefix("fe80::/10"),      // link-local
	netip.MustParsePrefix("fec0::/10"),      // site-local
	netip.MustParsePrefix("ff00::/8"),       // multicast
}
