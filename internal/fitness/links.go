package fitness

import "strings"

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

// A Link is what is known of a link before its target is fetched.
type Link struct {
	URL     string
	Anchor  string
	Context string // the words around it
}

// A Promise is what a link may lead to: each number in [0, 1], 0 if there is
// no keyword of the topic in it.
type Promise struct {
	Anchor, Context, URL float64 // similarity of each to the topic
	Score                float64 // all in one
}

// Link is the promise of l, by the similarity of [VSM.Page] without its tag
// weights and with the same norm.
func (v *VSM) Link(l *Link) Promise {
	v.target.analyzer.Trim()
	p := Promise{
		Anchor:  v.similarity(l.Anchor),
		Context: v.similarity(l.Context),
		URL:     v.similarity(v.target.address(l.URL)),
	}
	context := p.Context
	if p.Anchor > 0 {
		context = 1
	}
	neighbourhood := float64(AnchorShare*p.Anchor) + float64((1-AnchorShare)*context)
	p.Score = 1 - float64((1-neighbourhood)*(1-p.URL))
	return p
}

// similarity is S of a text whose words weigh alike.
func (v *VSM) similarity(s string) float64 {
	clear(v.beta)
	v.page.Reset()
	terms := v.target.read(s)
	v.target.count(v.beta, terms)
	if v.Norm == PageNorm {
		for _, term := range terms {
			if i := term.Index(); i >= len(v.single) || !v.single[i] {
				v.page.Add(term, 1)
			}
		}
	}
	return v.target.cosine(v.beta, v.page.SumSquares())
}

// address is the part of a URL that has words: all after its scheme, with
// percent-encoded bytes decoded.
func (t *Target) address(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if strings.IndexByte(url, '%') < 0 {
		return url
	}
	t.spare = t.spare[:0]
	for i := 0; i < len(url); i++ {
		c := url[i]
		if c == '%' && i+2 < len(url) {
			if hi, lo := unhex(url[i+1]), unhex(url[i+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				i += 2
			}
		}
		t.spare = append(t.spare, c)
	}
	return string(t.spare)
}

// unhex is the value of a hexadecimal digit, 16 or more if c is none.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}
