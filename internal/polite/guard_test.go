package polite

import (
	"errors"
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesAreConnectedTo(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.216.34":                      true,
		"1.1.1.1":                            true,
		"172.15.0.1":                         true,
		"172.32.0.1":                         true,
		"100.63.0.1":                         true,
		"100.128.0.1":                        true,
		"2606:2800:220:1:248:1893:25c8:1946": true,
		"::ffff:1.1.1.1":                     true,
		"64:ff9b::101:101":                   true, // NAT64 of 1.1.1.1
		"2002:101:101::1":                    true, // 6to4 of 1.1.1.1

		"127.0.0.1":              false,
		"127.255.0.3":            false,
		"10.1.2.3":               false,
		"172.16.0.1":             false,
		"172.31.255.255":         false,
		"192.168.1.1":            false,
		"169.254.169.254":        false,
		"100.64.0.1":             false,
		"100.127.255.255":        false,
		"0.0.0.0":                false,
		"0.1.2.3":                false,
		"192.0.0.8":              false,
		"198.18.0.1":             false,
		"224.0.0.1":              false,
		"255.255.255.255":        false,
		"::":                     false,
		"::1":                    false,
		"::127.0.0.1":            false, // IPv4-compatible
		"::ffff:127.0.0.1":       false,
		"::ffff:169.254.169.254": false,
		"64:ff9b::7f00:1":        false, // NAT64 of 127.0.0.1
		"64:ff9b::a9fe:a9fe":     false, // NAT64 of 169.254.169.254
		"64:ff9b:1::1":           false,
		"2002:7f00:1::1":         false, // 6to4 of 127.0.0.1
		"2001:0:1::1":            false, // Teredo
		"fc00::1":                false,
		"fd00:ec2::254":          false, // metadata over IPv6
		"fe80::1":                false,
		"fe80::1%eth0":           false,
		"fec0::1":                false,
		"ff02::1":                false,
	} {
		a := netip.MustParseAddr(addr)
		if got := Public(a); got != want {
			t.Errorf("Public(%s) = %v", addr, got)
		}
		err := Guard("tcp", netip.AddrPortFrom(a, 80).String(), nil)
		if _, blocked := errors.AsType[*BlockedError](err); blocked == want {
			t.Errorf("Guard(%s) = %v", addr, err)
		}
	}
	if Public(netip.Addr{}) || Guard("unix", "/run/socket", nil) == nil {
		t.Error("what is no address was let through")
	}
}
