package judge

import (
	"fmt"
	"testing"
)

func TestCurveCosts(t *testing.T) {
	for _, budget := range []int{1, 2, 199, 200, 201, 1145, 100_000} {
		costs := curveCosts(budget)
		if len(costs) != min(budget, maxPoints) || costs[0] != 1 || costs[len(costs)-1] != budget {
			t.Errorf("T %d: %d points from %d to %d", budget, len(costs), costs[0], costs[len(costs)-1])
		}
		for i := 1; i < len(costs); i++ {
			if costs[i] <= costs[i-1] {
				t.Fatalf("T %d: %d after %d", budget, costs[i], costs[i-1])
			}
		}
	}
}

func TestMilestones(t *testing.T) {
	var at []int
	for cost := range milestones(2500) {
		at = append(at, cost)
	}
	if fmt.Sprint(at) != "[100 200 500 1000 2000]" {
		t.Errorf("%v", at)
	}
	for range milestones(99) {
		t.Error("a milestone after T")
	}
}
