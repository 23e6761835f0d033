// Package partition divides the hosts of the web among the partitions of a crawl on several
// machines.
//
// The partition of a host is a hash of its name and port, modulo the number of partitions. It
// depends on nothing else, so every process computes the same partition. Changing the hash or the
// number of partitions of a crawl would move hosts, together with their politeness and history.
package partition

import (
	"fmt"
	"strconv"
	"strings"
)

// Max is the largest number of partitions of a crawl.
const Max = 4096

// A Partition is one of the partitions of a crawl. The zero value means that the crawl is not
// partitioned.
type Partition struct {
	Number int // from 0
	Of     int // number of partitions; 0 if the crawl is not partitioned
}

// Parse parses a partition, such as "7/16": its number, from 0, and the number of partitions.
func Parse(s string) (Partition, error) {
	number, of, ok := strings.Cut(s, "/")
	n, err := strconv.ParseUint(number, 10, 31)
	count, err2 := strconv.ParseUint(of, 10, 31)
	if !ok || err != nil || err2 != nil || count < 1 || count > Max || n >= count {
		return Partition{}, fmt.Errorf("not a partition: want p/P with P from 1 to %d and p from 0 to P-1, such as 7/16", Max)
	}
	return Partition{int(n), int(count)}, nil
}

// String returns the partition in the form that [Parse] reads, or "" for the zero value.
func (p Partition) String() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Number, p.Of)
}

// Set sets p to the partition that s describes, so that a Partition is a [flag.Value].
func (p *Partition) Set(s string) (err error) {
	*p, err = Parse(s)
	return err
}

// Owns reports whether host belongs to the partition. Every host belongs to the zero value.
func (p Partition) Owns(host string) bool {
	return p.Of <= 1 || Of(host, p.Of) == p.Number
}

// Of returns the number, from 0, of the partition of a host, given the number of partitions. The host
// must be in canonical form, with its port unless that is the default port.
func Of(host string, partitions int) int {
	return int(Mix(Hash(host)) % uint64(partitions))
}

// Hash returns the 64-bit FNV-1a hash of s.
func Hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h ^= uint64(s[i])
		h *= 1099511628211
	}
	return h
}

// Mix returns the finalizer of MurmurHash3 of h. It is a bijection, and every bit of the result depends
// on every bit of h. In contrast, the low bits of an FNV hash depend only on the low bits of characters.
func Mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
