package ridge

// This file makes the prior of the next fit from the weights of earlier ones: the random-effects model
// (Laird and Ware, "Random-effects models for longitudinal data", Biometrics 38, 1982), with
// variances by the method of moments. The weight of feature k in group r is
//
//	βₖᵣ = μₖ + δₖᵣ,  μₖ ~ N(0, shared),  δₖᵣ ~ N(0, own)
//
// and a ridge fit returns e βₖᵣ plus an error, where e = evidence / (evidence + λ) is its
// reliability. The mean square of its weights is then e (shared + own), and the mean product of those
// of two groups e e' shared.

// An Estimate is a weight in one group, and its reliability in (0, 1].
type Estimate struct {
	Weight, Reliability float64
}

// highestShare bounds the share of the variance that groups have in common, as it is estimated.
const highestShare = 0.9

// Pool returns the prior of each feature in a new group, given its estimates in those groups that
// have it, and the share of the variance of weights that groups have in common, in [0, 0.9]. If it is
// 0, as it is without features that several groups have, all priors are zero values.
func Pool(estimates [][]Estimate) (priors []Prior, share float64) {
	priors = make([]Prior, len(estimates))
	var square, reliability, product, both float64
	for _, list := range estimates {
		for i, a := range list {
			square += float64(a.Weight * a.Weight)
			reliability += a.Reliability
			for _, b := range list[:i] {
				product += float64(a.Weight * b.Weight)
				both += float64(a.Reliability * b.Reliability)
			}
		}
	}
	if !(product > 0) || !(both > 0) || !(square > 0) || !(reliability > 0) {
		return priors, 0
	}
	total := square / reliability
	share = min(highestShare, product/both/total)
	shared := float64(share * total)
	for k, list := range estimates {
		sum, precision := 0.0, 1/shared
		for _, e := range list {
			q := 1 / (total/e.Reliability - shared) // of the estimate weight/reliability of μ
			sum += float64(q * e.Weight / e.Reliability)
			precision += q
		}
		if len(list) > 0 {
			priors[k] = Prior{Mean: sum / precision, Precision: total / (total - shared + 1/precision)}
		}
	}
	return priors, share
}
