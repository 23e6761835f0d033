package crawler

import (
	"fmt"
	"strings"
	"testing"
)

// The links of a page must not make the crawler scan the ports of a host.
func TestFewPortsOfAHostAreRequested(t *testing.T) {
	o := &Options{Contact: "me@example.org", Delay: 1, AllowPorts: []uint16{22, 9999}, ports: new(ports)}
	refused := 0
	for range 2 {
		for port := 20000; port < 20100; port++ {
			err := o.checkTarget("victim.example", fmt.Sprint(port))
			if want := port >= 20000+maxPorts; (err != nil) != want {
				t.Fatalf("port %d: %v", port, err)
			}
			if err != nil {
				refused++
				if want := fmt.Sprintf("(hint: -allow-port %d)", port); !strings.Contains(err.Error(), want) {
					t.Errorf("got %v", err)
				}
			}
		}
	}
	if refused != 2*(100-maxPorts) {
		t.Errorf("%d refused", refused)
	}
	for _, at := range [][2]string{{"victim.example", ""}, {"victim.example", "22"}, {"victim.example", "9999"}, {"other.example", "20099"}} {
		if err := o.checkTarget(at[0], at[1]); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	o.AllowPrivate = true
	for port := 20000; port < 20100; port++ {
		if err := o.checkTarget("127.0.0.1", fmt.Sprint(port)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * maxPortHosts {
		if err := o.checkTarget(fmt.Sprintf("h%d.example", i), "8080"); err != nil || len(o.ports.seen) > maxPortHosts {
			t.Fatalf("%d hosts are remembered, %v", len(o.ports.seen), err)
		}
	}
}
