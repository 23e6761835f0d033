package judge

import "testing"

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b []int32
		want float64
	}{
		{"nothing at all", nil, nil, 0},
		{"nothing on one side", []int32{1, 2}, nil, 0},
		{"nothing but failures", []int32{None, None}, []int32{None}, 0},
		{"nothing in common", []int32{1, 2}, []int32{3, 4}, 0},
		{"the same in another order, with failures and repetitions", []int32{1, 2, 3}, []int32{3, None, 2, 3, 1}, 1},
		{"one of three", []int32{1, 2}, []int32{2, 3}, 1. / 3},
		{"a part of the other", []int32{1, 2, 3, 4}, []int32{4}, 1. / 4},
	} {
		if got := Overlap(test.a, test.b); got != test.want {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
		if got := Overlap(test.b, test.a); got != test.want {
			t.Errorf("%s, the other way: %g, want %g", test.name, got, test.want)
		}
	}
}
