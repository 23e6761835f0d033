package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sequence returns f of 0, 1, 2, … n-1.
func sequence(n int, f func(i int) float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

// The values of SciPy 1.10.1: wilcoxon with mode exact if there are no ties, and with mode
// approx, correction and zero_method pratt above 100 differences. Values with ties were
// computed by enumerating all signs.
func TestWilcoxonAgainstOtherSoftware(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    []float64
		want float64
	}{
		{"Darwin's maize", []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}, 0.041259765625},
		{"five", []float64{2.624345, 0.388244, 0.471828, -0.072969, 1.865408}, 0.125},
		{"twelve", []float64{0.083242, 0.443733, -1.636196, 2.140271, -1.293436, -0.341747, 1.002881, -0.745288, -0.557952, -0.409008, 1.051454, 2.792208}, 0.791015625},
		{"twenty-five", []float64{
			2.188628, 0.83651, 0.496497, -1.463493, 0.122612, 0.045241, 0.317259, -0.227001, 0.356182, -0.077218, -0.913865, 1.284622, 1.281318,
			2.109573, 0.450034, -0.004677, -0.14536, -1.146477, 1.382367, -0.701068, -0.785047, 0.19435, 1.886148, 0.636716, -0.623785,
		}, 0.2002161741256714},
		{"sixty", sequence(60, func(i int) float64 { return float64((i+1)*7919%1009-450) / 1000 }), 0.09862884967660164},
		{"a hundred", sequence(100, func(i int) float64 { return float64((i+1)*7919%1009-450) / 1000 }), 0.02463907127432468},

		{"ties and zeros", []float64{1, 1, 2, -1, 3, 0, 0, 4, -2, 5}, 0.140625},
		{"most are zeros", []float64{0, 0, 0, 1, 1}, 0.5},
		{"ties on both sides", []float64{1, 2, 3, 0, -1, -2, 3, 3}, 0.203125},
		{"all the same", []float64{2, 2, 2, 2, 2, -2}, 0.21875},

		{"120, as one-sided as can be", sequence(120, func(i int) float64 { return float64(i + 1) }), 1.996919818078046e-21},
		{"150, ties and zeros", sequence(150, func(i int) float64 { return float64(i*37%23-9) / 10 }), 0.0012307251652463997},
		{"400", sequence(400, func(i int) float64 { return float64(i*7919%1009-480) / 1000 }), 0.07989671576287592},
		{"400 and one zero", sequence(400, func(i int) float64 { return float64(i*7919%1009-470) / 1000 }), 0.017664375093517735},

		{"one", []float64{3}, 1},
		{"nothing differs", []float64{0, 0, 1e-12}, 1},
		{"nothing", nil, 1},
	} {
		if got := Wilcoxon(tt.d); math.Abs(got/tt.want-1) > 1e-9 {
			t.Errorf("%s: p = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWilcoxonIsSymmetricAndRobust(t *testing.T) {
	d := []float64{0.3 - 0.1, 0.5 - 0.3, -0.2, 0.1, 0.7 - 0.6, -0.4, 0.9 - 0.4, 0.5}
	exact := []float64{0.2, 0.2, -0.2, 0.1, 0.1, -0.4, 0.5, 0.5}
	want := Wilcoxon(exact)
	if got := Wilcoxon(d); got != want {
		t.Errorf("p = %v with noise in the last bit, %v without", got, want)
	}
	negative := sequence(len(exact), func(i int) float64 { return -exact[len(exact)-1-i] })
	if got := Wilcoxon(negative); got != want {
		t.Errorf("p = %v mirrored, %v before", got, want)
	}
	if !slices.Equal(exact, []float64{0.2, 0.2, -0.2, 0.1, 0.1, -0.4, 0.5, 0.5}) {
		t.Error("the differences were changed")
	}
}

// If there is no difference, one test in twenty reports one.
func TestWilcoxonFalsePositiveRate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, n := range []int{20, 90, 110} {
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		alarms := 0
		for range 2000 {
			if Wilcoxon(sequence(n, func(int) float64 { return rng.NormFloat64() })) <= 0.05 {
				alarms++
			}
		}
		if alarms < 70 || alarms > 130 { // 100 ± 3 standard deviations
			t.Errorf("%d differences: %d alarms in 2,000", n, alarms)
		}
	}
}

func TestHolm(t *testing.T) {
	for _, tt := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.4}, []float64{0.8, 0.8}},
		{[]float64{0.6, 0.9, 0.7}, []float64{1, 1, 1}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{[]float64{0.03}, []float64{0.03}},
		{nil, []float64{}},
	} {
		got := Holm(tt.p)
		if !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("Holm(%v) = %v, want %v", tt.p, got, tt.want)
		}
	}
}

// Mann-Whitney's U of SciPy 1.10.1, by the number of pairs, is the same measure.
func TestA12(t *testing.T) {
	for _, tt := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"some are equal", []float64{.3, .1, .5, .5, .9}, []float64{.5, .2, .2, .7}, 0.55},
		{"many are", sequence(40, func(i int) float64 { return float64(i*37%23) / 10 }), sequence(30, func(i int) float64 { return float64(i*17%29) / 12 }), 0.4825},
		{"above", []float64{2, 3}, []float64{1, 0, -1}, 1},
		{"below", []float64{-2}, []float64{1, 0, -1}, 0},
		{"equal but for the last bit", []float64{0.3 - 0.1}, []float64{0.2}, 0.5},
		{"nothing", nil, []float64{1}, 0.5},
	} {
		if got := A12(tt.x, tt.y); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if got := A12(tt.y, tt.x); math.Abs(got-(1-tt.want)) > 1e-12 {
			t.Errorf("%s, mirrored: %v, want %v", tt.name, got, 1-tt.want)
		}
	}
}

// The mean ranks are those of SciPy 1.10.1, as are the p-values by the χ² distribution and
// the distances by the studentized range, which are valid for many blocks. For ties the
// values are from 100,000 draws in NumPy.
func TestFriedmanAgainstOtherSoftware(t *testing.T) {
	made := func(n, k int, effect float64, mod int) [][]float64 {
		var blocks [][]float64
		for i := range n {
			blocks = append(blocks, sequence(k, func(j int) float64 { return float64((i*37+j*53+i*j*11)%mod)/10 + effect*float64(j) }))
		}
		return blocks
	}
	for _, tt := range []struct {
		name        string
		blocks      [][]float64
		ranks       []float64
		p, distance float64
		near        float64 // of p
	}{
		{"fourteen", made(14, 4, 0.3, 23), []float64{3, 2.642857, 2.071429, 2.285714}, 0.2407, 1.2536, 0.02},
		{"thirty", made(30, 5, 0.12, 23), []float64{3.5, 3.1, 3, 2.966667, 2.433333}, 0.1366, 1.1136, 0.01},
		{"ties", made(12, 3, 0, 5), []float64{2, 1.916667, 2.083333}, 0.9747, 0.8333, 0.005},
		{"forty", made(40, 6, 0.05, 101), []float64{3.675, 3.675, 3.475, 3.375, 3.175, 3.625}, 0.8105, 1.1921, 0.01},
	} {
		ranks, p, distance := Friedman(tt.blocks, 1)
		if !slices.EqualFunc(ranks, tt.ranks, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
			t.Errorf("%s: mean ranks %v, want %v", tt.name, ranks, tt.ranks)
		}
		if math.Abs(p-tt.p) > tt.near || math.Abs(distance-tt.distance) > 0.06 {
			t.Errorf("%s: p %v and distance %v, want about %v and %v", tt.name, p, distance, tt.p, tt.distance)
		}
	}
}

// Two blocks with the same order of three: one of the 6 orders of the second block is the
// same, so the probability of a result as extreme is one in six.
func TestFriedmanWithFewBlocks(t *testing.T) {
	ranks, p, distance := Friedman([][]float64{{3, 2, 1}, {9, 8, 7}}, 1)
	if !slices.Equal(ranks, []float64{1, 2, 3}) || math.Abs(p-1./6) > 0.015 || distance != 2 {
		t.Errorf("ranks %v, p %v, distance %v", ranks, p, distance)
	}
	for _, blocks := range [][][]float64{nil, {{}}, {{1}, {2}}, {{1, 1}, {2, 2}}} {
		if _, p, distance := Friedman(blocks, 1); p != 1 || distance != 0 {
			t.Errorf("%v: p %v, distance %v", blocks, p, distance)
		}
	}
}

// three returns a sample of three topics.
func three() sample {
	s := sample{}
	for _, topic := range [][][]float64{
		{{.1, .3}, {.2}, {.4, .5, .9}}, {{.6}, {.7, .8}}, {{-.1, 0}, {.05}, {.3}, {.2, .1}},
	} {
		var units []unit
		for _, chance := range topic {
			units = append(units, unit{own: chance})
		}
		s = append(s, units)
	}
	return s
}

// The values are from 200,000 draws by another program, in NumPy; ten thousand draws differ
// from them by at most 0.01.
func TestBootstrapDrawsTopicsThenSeedSetsThenRandomSeeds(t *testing.T) {
	s := three()
	if got := s.mean(); math.Abs(got-0.3736111111) > 1e-9 {
		t.Errorf("the mean is %v", got)
	}
	for seed := range uint64(5) {
		means := s.bootstrap(seed)
		for _, tt := range []struct {
			cut       int
			low, high float64
		}{{cut95, 0.1125, 0.6667}, {cut90, 0.1400, 0.6180}} {
			got := percentiles(means, tt.cut)
			if math.Abs(got.Low-tt.low) > 0.01 || math.Abs(got.High-tt.high) > 0.01 {
				t.Errorf("seed %d: %v, want about %v to %v", seed, *got, tt.low, tt.high)
			}
		}
	}
}

// The interval of a mean of independent numbers is known: mean ± 1.96·s/√n.
func TestBootstrapOfOneTopic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var units []unit
	sum, squares := 0.0, 0.0
	const n = 200
	for range n {
		v := rng.NormFloat64()
		sum += v
		squares += v * v
		units = append(units, unit{own: []float64{v}})
	}
	middle := sum / n
	half := 1.96 * math.Sqrt((squares/n-middle*middle)/n)
	got := percentiles(sample{units}.bootstrap(1), cut95)
	if math.Abs(got.Low-(middle-half)) > 0.01 || math.Abs(got.High-(middle+half)) > 0.01 {
		t.Errorf("%v, want about %v to %v", *got, middle-half, middle+half)
	}
}

func TestBootstrapReflectsVariance(t *testing.T) {
	of := func(values ...float64) unit { return unit{own: values} }
	for _, tt := range []struct {
		name string
		s    sample
		want string
	}{
		{"nothing does", sample{{of(.5), of(.5)}, {of(.5)}}, "0.500 to 0.500"},
		{"topics", sample{{of(0), of(0)}, {of(1), of(1)}}, "0.000 to 1.000"},
		{"seeds", sample{{of(0), of(1)}}, "0.000 to 1.000"},
		{"chance", sample{{of(0, 1)}}, "0.000 to 1.000"},
		{"what both have does not count", sample{{unit{[]float64{.3}, []float64{.1}}, unit{[]float64{.9}, []float64{.7}}}}, "0.200 to 0.200"},
		{"chance of the other", sample{{unit{[]float64{1}, []float64{0, 1}}}}, "0.000 to 1.000"},
		{"a single run", sample{{of(.5)}}, "–"},
		{"a single pair", sample{{unit{[]float64{.5}, []float64{.4}}}}, "–"},
	} {
		got := percentiles(tt.s.bootstrap(1), cut95).format(func(v float64) string { return fmt.Sprintf("%.3f", v) })
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestBootstrapIsReproducible(t *testing.T) {
	a, b, c := three().bootstrap(1), three().bootstrap(1), three().bootstrap(2)
	if !slices.Equal(a, b) {
		t.Error("the same seed gave other draws")
	}
	if slices.Equal(a, c) {
		t.Error("another seed gave the same draws")
	}
}
