package ridge

// This file computes the prior of a fit from the weights of earlier fits. It uses the random-effects
// model (Laird and Ware, "Random-effects models for longitudinal data", Biometrics 38, 1982), and
// estimates the variances by the method of moments. The weight of feature k in group r is
//
//	βₖᵣ = μₖ + δₖᵣ,  μₖ ~ N(0, shared),  δₖᵣ ~ N(0, own)
//
// and a ridge fit returns e βₖᵣ plus an error, where e = evidence / (evidence + λ) is the
// reliability. Then the mean square of the fitted weights is e (shared + own), and the mean product
// of the fitted weights of a feature in two groups is e e' shared.

// An Estimate is a weight in one group, and its reliability in (0, 1].
type Estimate struct {
	Weight, Reliability float64
}

// maxShare is the upper limit of the estimate of the variance share that groups have in common.
const maxShare = 0.9

// Pool returns the prior of each feature in a new group, and the share of the variance of weights
// that groups have in common, in [0, 0.9]. estimates holds, for each feature, the estimates in the
// groups that have this feature. If the share is 0, for example because no two groups have the same
// feature, all priors are zero values.
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
	share = min(maxShare, product/both/total)
	shared := float64(share * total)
	for k, list := range estimates {
		sum, precision := 0.0, 1/shared
		for _, e := range list {
			q := 1 / (total/e.Reliability - shared) // precision of weight/reliability as an estimate of μ
			sum += float64(q * e.Weight / e.Reliability)
			precision += q
		}
		if len(list) > 0 {
			priors[k] = Prior{Mean: sum / precision, Precision: total / (total - shared + 1/precision)}
		}
	}
	return priors, share
}
