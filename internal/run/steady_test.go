package run

import (
	"testing"
	"time"
)

func TestTimeoutExceedsDeadline(t *testing.T) {
	for _, test := range []struct {
		live []string
		want time.Duration
	}{
		{nil, 10 * time.Minute},
		{[]string{"-j=4", "-deadline=5m"}, 10 * time.Minute},
		{[]string{"-deadline=1h"}, 61 * time.Minute},
		{[]string{"-deadline=0s"}, 24*time.Hour + time.Minute},
	} {
		if got := (&Crawl{Settings: &Settings{Live: test.live}}).timeout(); got != test.want {
			t.Errorf("%q: %v, want %v", test.live, got, test.want)
		}
	}
}
