package fitness

// This file estimates what a link promises before its target is fetched, from
// the words that lead there. The neighbourhood of the link is that of
//
//	M. Hersovici et al., "The shark-search algorithm. An application: tailored
//	Web site mapping", Computer Networks 30, 1998, pp. 317–326:
//
//	neighbourhood = β · anchor + (1 − β) · context, with β = 0.8,
//
// where context counts as 1 if the anchor has any keyword. What the page is
// worth that the link stands in (the paper's inherited score) is not in it:
// strategies add that in their own ways.
//
// The words of the address are not in the paper. They tell of the target
// independently of the words around the link, so the two are combined as
// independent evidence:
//
//	score = 1 − (1 − neighbourhood) · (1 − url).

// AnchorShare is β, the share of the anchor in the neighbourhood of a link. The
// paper leaves the number open; 0.8 is what its implementations use.
const AnchorShare = 0.8

// shark returns the promise of a link whose anchor, context and address are as near
// to the topic as the arguments say, each in [0, 1].
func shark(anchor, context, url float64) Promise {
	p := Promise{Anchor: anchor, Context: context, URL: url}
	if anchor > 0 {
		context = 1
	}
	neighbourhood := float64(AnchorShare*anchor) + float64((1-AnchorShare)*context)
	p.Score = 1 - float64((1-neighbourhood)*(1-url))
	return p
}
