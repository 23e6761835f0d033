package partition

import (
	"fmt"
	"hash/fnv"
	"testing"
)

func TestParse(t *testing.T) {
	for _, s := range []string{"0/1", "7/16", "4095/4096"} {
		if p, err := Parse(s); err != nil || p.String() != s {
			t.Errorf("%q: %v, %v", s, p, err)
		}
	}
	for _, s := range []string{"", "7", "7/", "/16", "16/16", "-1/16", "0/0", "0/4097", "1/2/3", "a/b", "7/16 "} {
		if p, err := Parse(s); err == nil {
			t.Errorf("%q is %v", s, p)
		}
	}
}

// These hosts must never move: the stores of existing crawls are divided by them.
func TestHostsStay(t *testing.T) {
	for host, want := range map[string]int{"go.dev": 4, "example.org": 15, "127.0.0.1:8080": 12, "": 6} {
		if got := Of(host, 16); got != want {
			t.Errorf("%q is in partition %d instead of %d", host, got, want)
		}
	}
}

func TestHashIsFNV(t *testing.T) {
	for _, s := range []string{"", "a", "go.dev", "www.example.org:8080"} {
		h := fnv.New64a()
		h.Write([]byte(s))
		if Hash(s) != h.Sum64() {
			t.Errorf("%q: %x instead of %x", s, Hash(s), h.Sum64())
		}
	}
}

// Names that differ in one digit are spread evenly: the chi-squared statistic of 64 partitions has
// 63 degrees of freedom, and exceeds 120 with a probability of 2 in 100,000.
func TestHostsAreSpread(t *testing.T) {
	const partitions, hosts = 64, 100_000
	var count [partitions]int
	for i := range hosts {
		count[Of(fmt.Sprintf("www%d.example.org", i), partitions)]++
	}
	chi2 := 0.0
	for _, n := range count {
		d := float64(n) - hosts/partitions
		chi2 += d * d / (hosts / partitions)
	}
	if chi2 > 120 {
		t.Errorf("chi-squared %.1f: %v", chi2, count)
	}
}

func TestEveryHostHasOneOwner(t *testing.T) {
	for i := range 1000 {
		host, owners := fmt.Sprintf("h%d.test", i), 0
		for p := range 7 {
			if (Partition{p, 7}).Owns(host) {
				owners++
			}
		}
		if owners != 1 || !(Partition{}).Owns(host) {
			t.Errorf("%s has %d owners", host, owners)
		}
	}
}
