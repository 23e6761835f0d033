#!/usr/bin/env bash
# Package:  Go 1.26.8, maps with strings as keys
# Input:    hosts counted in pages of a megabyte: the key is cloned when a host is first seen
#           (strings.Clone), and then count[host]++ with the host as it stands in each page.
# Guess:    an entry keeps the key with which it was made, so the clone is all that stays in memory:
#           some kilobytes for 100 hosts.
# Seen:     an assignment to an existing key replaces the key by the equal string that is given. Each
#           entry points into the page in which its host was last counted, and 100 pages stay in
#           memory. With a pointer as the value, *count[host]++, the clones stay.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOTOOLCHAIN=go1.26.8
cat >main.go <<'GO'
package main

import (
	"fmt"
	"runtime"
	"strings"
)

const size = 1 << 20

// page returns a new page that begins with the name of a host.
func page(i int) string { return fmt.Sprintf("host%02d.example ", i) + strings.Repeat("x", size) }

func host(page string) string { host, _, _ := strings.Cut(page, " "); return host }

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func main() {
	before := heap()
	numbers, pointers := map[string]int{}, map[string]*int{}
	for i := range 100 {
		h := strings.Clone(host(page(i)))
		numbers[h], pointers[h] = 0, new(int)
	}
	for i := range 100 {
		*pointers[host(page(i))]++
	}
	fmt.Println("MiB kept, values are pointers:", (heap()-before)/size)
	for i := range 100 {
		numbers[host(page(i))]++
	}
	fmt.Println("MiB kept, values are numbers: ", (heap()-before)/size)
	runtime.KeepAlive(numbers)
	runtime.KeepAlive(pointers)
}
GO
go mod init example >/dev/null 2>&1
go run . | tee seen
[[ $(sed -n 's/.*pointers: //p' seen) -lt 2 && $(sed -n 's/.*numbers:  //p' seen) -ge 99 ]]
