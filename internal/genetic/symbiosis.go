package genetic

// This file implements symbiotic organisms search:
//
//	M.-Y. Cheng and D. Prayogo, "Symbiotic organisms search: a new metaheuristic
//	optimization algorithm", Computers and Structures 139, 2014, pp. 98–112.
//
// Every organism i interacts with three others in turn, each drawn uniformly:
//
//	mutualism     x_i' = x_i + r  ⊙ (x_best − BF1·MV)    MV = (x_i + x_j) / 2
//	              x_j' = x_j + r' ⊙ (x_best − BF2·MV)    BF1, BF2 ∈ {1, 2}
//	commensalism  x_i' = x_i + s ⊙ (x_best − x_j)
//	parasitism    a copy of x_i, with some dimensions redrawn, attacks x_j
//
//	paper       here       meaning
//	x_i         Organisms  a solution
//	r, r'       rng        in [0, 1), by dimension
//	s           rng        in [-1, 1), by dimension
//	BF1, BF2    benefit    benefit factors
//	x_best      best       the best organism when the turn of i began
//	f           Fitness    higher is better
//
// A result replaces an organism only if it is fitter. The number of dimensions that a
// parasite redraws is not in the paper; here it is ⌈u·D⌉ for u in (0, 1], so at least one.

import (
	"math"
	"math/rand/v2"
)

// An Ecosystem is a population of organisms: vectors of equal length whose components are
// limited to [Low, High]. The fields are set before the first call; later calls change the
// organisms in place.
type Ecosystem struct {
	Organisms [][]float64
	Low, High float64
	// Fitness returns the fitness of an organism, which it must not retain. Higher is
	// better, and equal organisms must be equally fit.
	Fitness func([]float64) float64
	// Literal makes parasitism a clone of x_j that attacks x_i, without redrawn
	// dimensions.
	Literal bool

	fitness     []float64 // by organism
	best, trial []float64
	trial2      []float64
}

// Best returns the index of the fittest organism, the first of equals, or -1 if there is none.
func (e *Ecosystem) Best() (place int, fitness float64) {
	e.begin()
	place, fitness = -1, math.Inf(-1)
	for i, f := range e.fitness {
		if place < 0 || f > fitness {
			place, fitness = i, f
		}
	}
	return place, fitness
}

// Evolve runs one iteration: all three phases for one organism after another, with four
// evaluations each (three if Literal). A single organism is left as it is.
func (e *Ecosystem) Evolve(rng *rand.Rand) {
	if len(e.Organisms) < 2 {
		return
	}
	for i := range e.Organisms {
		best, _ := e.Best()
		e.best = append(e.best[:0], e.Organisms[best]...)
		e.mutualism(rng, i, e.partner(rng, i))
		e.commensalism(rng, i, e.partner(rng, i))
		e.parasitism(rng, i, e.partner(rng, i))
	}
}

// begin evaluates all organisms once.
func (e *Ecosystem) begin() {
	for i := len(e.fitness); i < len(e.Organisms); i++ {
		e.fitness = append(e.fitness, e.evaluate(e.Organisms[i]))
	}
}

// evaluate returns the fitness of an organism; NaN is treated as the lowest fitness.
func (e *Ecosystem) evaluate(x []float64) float64 {
	f := e.Fitness(x)
	if math.IsNaN(f) {
		return math.Inf(-1)
	}
	return f
}

// partner returns a random index other than i.
func (e *Ecosystem) partner(rng *rand.Rand, i int) int {
	j := rng.IntN(len(e.Organisms) - 1)
	if j >= i {
		j++
	}
	return j
}

func (e *Ecosystem) mutualism(rng *rand.Rand, i, j int) {
	xi, xj := e.Organisms[i], e.Organisms[j]
	e.trial, e.trial2 = e.trial[:0], e.trial2[:0]
	benefitI, benefitJ := float64(1+rng.IntN(2)), float64(1+rng.IntN(2))
	for d, best := range e.best {
		mutual := (xi[d] + xj[d]) / 2
		e.trial = append(e.trial, e.clamp(xi[d]+float64(rng.Float64()*(best-float64(benefitI*mutual)))))
		e.trial2 = append(e.trial2, e.clamp(xj[d]+float64(rng.Float64()*(best-float64(benefitJ*mutual)))))
	}
	e.replace(i, e.trial, e.evaluate(e.trial))
	e.replace(j, e.trial2, e.evaluate(e.trial2))
}

func (e *Ecosystem) commensalism(rng *rand.Rand, i, j int) {
	xi, xj := e.Organisms[i], e.Organisms[j]
	e.trial = e.trial[:0]
	for d, best := range e.best {
		r := 2*float64(rng.Float64()) - 1
		e.trial = append(e.trial, e.clamp(xi[d]+float64(r*(best-xj[d]))))
	}
	e.replace(i, e.trial, e.evaluate(e.trial))
}

func (e *Ecosystem) parasitism(rng *rand.Rand, i, j int) {
	if e.Literal {
		e.replace(i, e.Organisms[j], e.fitness[j])
		return
	}
	e.trial = append(e.trial[:0], e.Organisms[i]...)
	dimensions := len(e.trial)
	redrawn := int(math.Ceil((1 - float64(rng.Float64())) * float64(dimensions)))
	for _, d := range Sample(rng, dimensions, redrawn) {
		e.trial[d] = e.clamp(e.Low + float64(rng.Float64()*(e.High-e.Low)))
	}
	e.replace(j, e.trial, e.evaluate(e.trial))
}

// replace replaces organism i by x if x is fitter.
func (e *Ecosystem) replace(i int, x []float64, fitness float64) {
	if fitness > e.fitness[i] {
		copy(e.Organisms[i], x)
		e.fitness[i] = fitness
	}
}

func (e *Ecosystem) clamp(x float64) float64 { return max(e.Low, min(x, e.High)) }
