package polite

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
)

func TestPublic(t *testing.T) {
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

		"2400:cb00::1": true,
		"192.88.98.1":  true,
		"192.31.195.1": true,

		"127.0.0.1":              false,
		"192.88.99.1":            false, // 6to4 relays
		"192.31.196.1":           false,
		"192.52.193.1":           false,
		"192.175.48.1":           false,
		"192.0.2.1":              false,
		"198.51.100.1":           false,
		"203.0.113.1":            false,
		"240.0.0.1":              false,
		"::ffff:0:7f00:1":        false, // IPv4-translated (SIIT) 127.0.0.1
		"::ffff:0:101:101":       false, // and 1.1.1.1: not used on the internet
		"64:ff9b:0:0:1::1":       false, // outside the /96
		"2002:c058:6301::1":      false, // 6to4 of 192.88.99.1
		"2002:a9fe:a9fe::":       false, // 6to4 of 169.254.169.254
		"2001:db8::1":            false,
		"2620:4f:8000::1":        false,
		"3fff::1":                false,
		"100::1":                 false, // discard
		"100:0:0:1::1":           false,
		"200::1":                 false, // not allocated
		"1fff:ffff::1":           false,
		"4000::1":                false,
		"5f00::1":                false,
		"8000::1":                false,
		"127.255.0.3":            false,
		"10.1.2.3":               false,
		"172.16.0.1":             false,
		"172.31.255.255":         false,
		"192.168.1.1":            false,
		"169.254.169.254":        false,
		"168.63.129.16":          false, // the platform of Azure
		"168.63.129.17":          true,
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
		err := Guard(netip.AddrPortFrom(a, 80))
		if _, blocked := errors.AsType[*BlockedError](err); blocked == want {
			t.Errorf("Guard(%s) = %v", addr, err)
		}
	}
	if Public(netip.Addr{}) || Guard(netip.AddrPort{}) == nil {
		t.Error("an invalid address was allowed")
	}
}

func TestBlockedPorts(t *testing.T) {
	for _, port := range []uint16{1, 22, 25, 6000, 6667, 10080} {
		if !BlockedPort(port) {
			t.Errorf("port %d is not blocked", port)
		}
	}
	for _, port := range []uint16{80, 443, 8080, 8443, 3000, 65535} {
		if BlockedPort(port) {
			t.Errorf("port %d is blocked", port)
		}
	}
	if !slices.IsSorted(blockedPorts) {
		t.Error("the ports are not in order")
	}
}
