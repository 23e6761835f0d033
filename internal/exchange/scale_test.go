package exchange

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// This file estimates crawls that no machine of ours can hold, from costs that were measured (see
// below). Times are of generations; no page is fetched.

// A scale is the size of a crawl.
type scale struct {
	partitions, size int
	hosts            int     // that have waiting addresses
	fair             bool    // -fair host; otherwise addresses are drawn by the popularity of hosts
	links            float64 // new addresses of a page for hosts of other partitions
	delay            time.Duration
}

// Measured costs: BenchmarkBarrier, and the restoration of a million addresses.
const (
	barrierBase     = 9 * time.Millisecond    // of a generation
	barrierEach     = 2200 * time.Microsecond // for each partition, with its 5 messages
	barrierMessages = 5                       // blocks, and the commit
	restoreEach     = 1500 * time.Nanosecond  // an address
)

// estimate is what is expected of a crawl.
type estimate struct {
	politeness time.Duration // of a generation: the slowest host of the slowest partition
	barrier    time.Duration
	pages      float64 // a second
	messages   float64 // a second
}

// estimate draws the hosts of the addresses of some generations, and takes the time that the slowest
// host of all needs. Popular hosts are drawn more often (Zipf with exponent 1.1), or if the crawl is
// fair, each as often as the others.
func (s scale) estimate(rng *rand.Rand) (e estimate) {
	const rounds = 20
	zipf := rand.NewZipf(rng, 1.1, 1, uint64(s.hosts-1))
	total := time.Duration(0)
	for range rounds {
		most := (s.partitions*s.size + s.hosts - 1) / s.hosts
		if !s.fair {
			perHost := map[uint64]int{}
			for range s.partitions * s.size {
				host := zipf.Uint64()
				perHost[host]++
				most = max(most, perHost[host])
			}
		}
		total += time.Duration(most) * s.delay
	}
	e.politeness = total / rounds
	// A block for each partition that gets any of the addresses, one journal, own records, the commit.
	others := float64(s.partitions-1) * (1 - math.Exp(-float64(s.size)*s.links/float64(max(1, s.partitions-1))))
	messages := others + 3
	e.barrier = barrierBase + time.Duration(float64(barrierEach)*float64(s.partitions)*messages/barrierMessages)
	generation := e.politeness + e.barrier
	e.pages = float64(s.partitions*s.size) / generation.Seconds()
	e.messages = float64(s.partitions) * messages / generation.Seconds()
	return e
}

// The estimates are bounded by what politeness permits, and a fair crawl is the faster one. -v prints
// them.
func TestScale(t *testing.T) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "partitions\tsize\thosts\tfair\tpoliteness\tbarrier\tpages/s\tmessages/s\t")
	for _, partitions := range []int{16, 64, 256, 1000} {
		for _, size := range []int{20, 200} {
			for _, hosts := range []int{1_000, 100_000} {
				unfair := 0.0
				for _, fair := range []bool{false, true} {
					s := scale{partitions: partitions, size: size, hosts: hosts, fair: fair, links: 5, delay: time.Second}
					e := s.estimate(rand.New(rand.NewPCG(1, 1)))
					fmt.Fprintf(w, "%d\t%d\t%d\t%v\t%.1f s\t%.1f s\t%.0f\t%.0f\t\n", partitions, size, hosts, fair, e.politeness.Seconds(), e.barrier.Seconds(), e.pages, e.messages)
					if e.pages > float64(hosts)/s.delay.Seconds() || e.pages <= 0 || fair && e.pages < unfair {
						t.Errorf("%+v: %.0f pages a second", s, e.pages)
					}
					unfair = e.pages
				}
			}
		}
	}
	w.Flush()
	t.Logf("of 1e9 addresses each of 1000 partitions has a million: restored in %v\n%s", 1_000_000*restoreEach, b.String())
}
