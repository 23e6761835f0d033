package fitness

// This file predicts the score of a link's target from the words of the link. The
// neighbourhood of the link is defined by
//
//	M. Hersovici et al., "The shark-search algorithm. An application: tailored
//	Web site mapping", Computer Networks 30, 1998, pp. 317–326:
//
//	neighbourhood = β · anchor + (1 − β) · context, with β = 0.8,
//
// where context is 1 if the anchor has any keyword. It does not include the score of
// the page (the paper's inherited score), which strategies add in their own ways.
//
// The paper does not use the words of the address. They are independent of the words around the
// link, so both are combined as independent evidence:
//
//	score = 1 − (1 − neighbourhood) · (1 − url).

// AnchorShare is β, the share of the anchor in the neighbourhood of a link. The value is
// reconstructed: see doc/design/papers.md, shark.
const AnchorShare = 0.8

// shark returns the promise of a link whose anchor, context and address have these
// similarities with the topic, each in [0, 1].
func shark(anchor, context, url float64) Promise {
	p := Promise{Anchor: anchor, Context: context, URL: url}
	if anchor > 0 {
		context = 1
	}
	neighbourhood := float64(AnchorShare*anchor) + float64((1-AnchorShare)*context)
	p.Score = 1 - float64((1-neighbourhood)*(1-url))
	return p
}
