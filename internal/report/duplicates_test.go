package report

import (
	"fmt"
	"strings"
	"testing"

	"spoor/internal/wire"
)

// Pages whose fingerprints differ in three bits are near-duplicates, and in four bits they are not,
// wherever these bits are.
func TestNearDuplicates(t *testing.T) {
	const first = 0x0123456789abcdef
	for _, test := range []struct {
		flipped uint64
		copies  int
	}{{0, 1}, {1, 1}, {1<<63 | 1<<31 | 1, 1}, {1<<63 | 1<<47 | 1<<31, 1}, {1<<63 | 1<<47 | 1<<31 | 1, 0}, {15, 0}, {7 << 20, 1}} {
		var f duplicateFinder
		for _, print := range []uint64{first, first ^ test.flipped, 0} {
			f.add(&wire.Record{Simhash: fmt.Sprintf("%016x", print)})
		}
		if f.n != test.copies {
			t.Errorf("bits %x: %d near-duplicates, want %d", test.flipped, f.n, test.copies)
		}
	}
	var f duplicateFinder
	for i := range 3 * maxAlike {
		f.add(&wire.Record{Simhash: fmt.Sprintf("%016x", uint64(i*15+1)<<32|0xffff0000)})
	}
	for _, of := range f.known {
		for _, alike := range of {
			if len(alike) > maxAlike {
				t.Fatalf("%d fingerprints are alike", len(alike))
			}
		}
	}
	f.add(&wire.Record{Simhash: "no number"})
}

// The judge's classes are counted.
func TestClassesAreListed(t *testing.T) {
	var faults []string
	s := source(&faults)
	s.Verdicts = strings.NewReader(strings.NewReplacer(`a.test/y","verdict":"irrelevant"`, `a.test/y","verdict":"irrelevant","class":"near_duplicate"`,
		`a.test/","verdict":"relevant"`, `a.test/","verdict":"relevant","class":"near_duplicate"`,
		`c.test/z","verdict":"unlabelled"`, `c.test/z","verdict":"unlabelled","class":"calendar"`).Replace(opinion))
	if got := fmt.Sprint(readRun(t, s).Classes); got != "[{near_duplicate 2} {calendar 1}]" {
		t.Error(got)
	}
}
