package crawler

import (
	"net/netip"
	"testing"
	"time"
)

func TestGuard(t *testing.T) {
	noContact := &Options{AllowPrivate: true, Delay: time.Second}
	zeroDelay := &Options{AllowPrivate: true, Contact: "me@example.org"}
	for _, o := range []*Options{noContact, zeroDelay} {
		for addr, want := range map[string]bool{
			"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
			"93.184.216.34:80": false, "10.0.0.1:80": false, "[2606:2800::1]:80": false,
		} {
			err := o.guard(netip.MustParseAddrPort(addr))
			if (err == nil) != want || err != nil && classify(t.Context(), err) != "blocked_address" {
				t.Errorf("%s: %v", addr, err)
			}
		}
	}
	allowed := &Options{Contact: "me@example.org", Delay: time.Second}
	for addr, want := range map[string]bool{
		"93.184.216.34:80": true, "127.0.0.1:80": false, "169.254.169.254:80": false, "[::ffff:10.0.0.1]:443": false,
		"[64:ff9b::7f00:1]:80": false, "100.64.0.1:80": false, "[fd00::1]:80": false, "0.0.0.0:80": false,
	} {
		if err := allowed.guard(netip.MustParseAddrPort(addr)); (err == nil) != want || err != nil && classify(t.Context(), err) != "blocked_address" {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
