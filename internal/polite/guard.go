package polite

import (
	"fmt"
	"net/netip"
	"slices"
)

// A BlockedError is returned instead of a connection to an address that is not public.
type BlockedError struct {
	Addr string
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("%s is not an address of the public internet", e.Addr)
}

// Guard returns a [BlockedError] for addresses that are not public. It must be called with
// every address right before connecting to it. Checking addresses, not names, also catches
// names that resolve to a private address, DNS rebinding, and redirects.
func Guard(at netip.AddrPort) error {
	if !Public(at.Addr()) {
		return &BlockedError{at.String()}
	}
	return nil
}

// Public reports whether an address is on the public internet, according to the IANA
// registries of special-purpose addresses and one special address of a cloud. IPv4
// addresses are public unless they are special. IPv6 addresses are public if they are
// allocated as global unicast (2000::/3) and not special. All other IPv6 addresses are
// reserved or local, or embed an IPv4 address. NAT64 and 6to4 addresses, which are routed
// over the public internet, are public if the IPv4 address in them is public.
func Public(a netip.Addr) bool {
	a = Destination(a)
	if !a.IsValid() || a.Is6() && !global.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Destination returns the address to which packets for a lead: the IPv4 address in it if it is an
// IPv4-mapped, NAT64 or 6to4 address, otherwise a without its zone.
func Destination(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	switch b := a.As16(); {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

var (
	global    = netip.MustParsePrefix("2000::/3")     // global unicast
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: IPv4 in the last four bytes
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056: IPv4 after the prefix
)

// special are the blocks that are not public. The registries list a few blocks inside them
// as globally reachable, such as those for DNS anycast in 192.0.0.0/24 and 2001::/23, but
// no web sites are there.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network, and on many systems this host
	netip.MustParsePrefix("10.0.0.0/8"),       // private
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT
	netip.MustParsePrefix("127.0.0.0/8"),      // loopback
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's platform, for its virtual machines only
	netip.MustParsePrefix("169.254.0.0/16"),   // link-local, including cloud metadata
	netip.MustParsePrefix("172.16.0.0/12"),    // private
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("192.31.196.0/24"),  // AS112, DNS for private addresses
	netip.MustParsePrefix("192.52.193.0/24"),  // automatic multicast tunnels
	netip.MustParsePrefix("192.88.99.0/24"),   // 6to4 relays, deprecated
	netip.MustParsePrefix("192.168.0.0/16"),   // private
	netip.MustParsePrefix("192.175.48.0/24"),  // AS112
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("224.0.0.0/4"),      // multicast
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and broadcast

	netip.MustParsePrefix("2001::/23"),         // protocol assignments, including Teredo
	netip.MustParsePrefix("2001:db8::/32"),     // documentation
	netip.MustParsePrefix("2620:4f:8000::/48"), // AS112
	netip.MustParsePrefix("3fff::/20"),         // documentation
}

// BlockedPort reports whether browsers send no requests to a port, because another service
// than a web server uses it and could interpret a request as commands
// (https://fetch.spec.whatwg.org/#port-blocking).
func BlockedPort(port uint16) bool {
	_, found := slices.BinarySearch(blockedPorts, port)
	return found
}

// blockedPorts are in ascending order.
var blockedPorts = []uint16{
	0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
	101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
	389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601,
	636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
	6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}
