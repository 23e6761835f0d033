package judge

import "slices"

// The result of the random crawler is the mean of this number of crawls.
const (
	manyCrawls = 400
	fewCrawls  = 20   // for budgets above largeAbove, because their variance is small
	largeAbove = 5000 // units of cost
)

// A Band holds the numbers of relevant pages that random crawls found, at each cost from 1 to T.
type Band struct {
	Mean []float64
	Low  []int // the 5 % quantile: the smallest number that at least one crawl in twenty does not exceed
	High []int // the 95 % quantile
}

// Random returns the results of 400 random crawls (20 if T > 5,000). A random crawl fetches each
// waiting address with the same probability. The same web, seeds and budget give the
// same crawls: crawl i draws a number from SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014) seeded with i, removes from the list of waiting
// addresses the address at this number modulo the length of the list, and moves the last address
// of the list to its place. Links are added in their order on the page.
func (j *Judge) Random() Band {
	b := j.random()
	return Band{slices.Clone(b.Mean), slices.Clone(b.Low), slices.Clone(b.High)}
}

func (j *Judge) makeRandom() Band {
	n := manyCrawls
	if j.T > largeAbove {
		n = fewCrawls
	}
	curves := make([][]int32, n)
	seen := make([]int32, j.near.Len()) // by page: the last crawl that saw it, plus one
	var waiting []int32
	for i := range curves {
		curves[i], waiting = j.draw(int32(i), seen, waiting[:0])
	}
	b := Band{Mean: make([]float64, j.T), Low: make([]int, j.T), High: make([]int, j.T)}
	found := make([]int32, n)
	for t := range j.T {
		sum := 0
		for i, c := range curves {
			found[i] = c[t]
			sum += int(c[t])
		}
		slices.Sort(found)
		b.Mean[t] = float64(sum) / float64(n)
		b.Low[t] = int(found[rank(n, 5)])
		b.High[t] = int(found[rank(n, 95)])
	}
	return b
}

// rank returns the index of a quantile, in percent, among n sorted numbers.
func rank(n, percent int) int { return (n*percent+99)/100 - 1 }

// draw returns the curve of crawl i, and the slice waiting for the next crawl to use again.
func (j *Judge) draw(i int32, seen, waiting []int32) (curve, buffer []int32) {
	curve = make([]int32, j.T)
	rng := splitMix64(i)
	for s := range j.seeds {
		seen[s] = i + 1
		waiting = append(waiting, int32(s))
	}
	found := int32(0)
	t := 0
	for ; t < j.T && len(waiting) > 0; t++ {
		at, last := rng.next()%uint64(len(waiting)), len(waiting)-1
		page := waiting[at]
		waiting[at] = waiting[last]
		waiting = waiting[:last]
		if j.near.Relevant[page] {
			found++
		}
		curve[t] = found
		for _, to := range j.near.Links(page) {
			if seen[to] <= i {
				seen[to] = i + 1
				waiting = append(waiting, to)
			}
		}
	}
	for ; t < j.T; t++ {
		curve[t] = found
	}
	return curve, waiting
}

// splitMix64 is the state of a SplitMix64 generator.
type splitMix64 uint64

func (s *splitMix64) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
