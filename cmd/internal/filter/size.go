package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Size is a flag for a number of bytes, such as 512, 64KiB, 10MiB or 1GiB (KB, MB and
// GB are powers of ten).
type Size int64

// units are tried in this order, so that "KiB" is not parsed as "B".
var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

func (s *Size) String() string {
	for _, u := range units[:3] {
		if n := int64(*s) / u.bytes; int64(*s)%u.bytes == 0 && n > 0 && n < 1<<10 {
			return strconv.FormatInt(n, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set reads a size; it must be positive.
func (s *Size) Set(v string) error {
	for _, u := range units {
		digits, ok := strings.CutSuffix(v, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size such as 512, 64KiB or 10MiB")
}
