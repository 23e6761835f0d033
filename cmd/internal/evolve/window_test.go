package evolve

import (
	"testing"

	"spoor/internal/partition"
)

// A partition proposes about as much as it is given, and nothing in a window in which it may not fetch.
func TestProposalsFollowWhatAPartitionIsGiven(t *testing.T) {
	given := func(n int) *int { return &n }
	for _, c := range []struct {
		n, of int
		given *int
		want  int
	}{
		{20, 0, nil, 20}, {20, 1, given(20), 20}, {20, 1, given(3), 20},
		{20, 4, given(0), 0}, {20, 4, given(5), 20}, {20, 4, given(30), 60}, {20, 4, given(80), 80},
	} {
		l := &windowLoop{options: &options{n: c.n, partition: partition.Partition{Of: c.of}}, given: c.given}
		if got := l.proposals(); got != c.want {
			t.Errorf("%d for each of %d partitions, given %v: %d proposals, want %d", c.n, c.of, c.given, got, c.want)
		}
	}
}
