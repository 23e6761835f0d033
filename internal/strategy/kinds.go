package strategy

import (
	"slices"
	"strings"
)

// A Kind describes a strategy and creates new instances of it.
type Kind struct {
	Name    string
	Source  string // the paper, or the author who first described the strategy
	Summary string // one line

	// Reconstructed lists the parts that are ours, because the source was not available; it is
	// empty if the source was available. See doc/design/papers.md.
	Reconstructed string

	Operators []Word // the operators of the addresses and queries that it proposes
	Reasons   []Word // the names of the numbers behind its choices
	Chance    bool   // its choices depend on the random seed

	Grows    bool // generations may grow with the crawl: their size has no other meaning to the strategy
	Unscored bool // whatever its parameters, no score of a page or link steers it: it scores pages itself, or not at all
	Stages   Stages
	New      func() Strategy
}

// A Word is a value of the field operator, or a name in the field reasons, of a record.
type Word struct {
	Name string `json:"name"`
	Doc  string `json:"doc"` // what it means
}

// Operators of several strategies.
var (
	byLink    = Word{opLink, "a link of a fetched page"}
	byRestart = Word{opRestart, "a link of the best pages, because nothing else is left"}
	byQuery   = Word{opMutation, "a query, whose results are fetched"}
)

// byIndegree is a reason of several strategies.
var byIndegree = Word{"indegree", "number of fetched pages with the link"}

// Stages lists what a strategy requires of the other stages. An empty field leaves the
// stage at its default.
type Stages struct {
	Fitness string // the steering measure: score -fitness
	Context string // the text around a link: parse -context
	Learn   string // section of the topic learned from the seed pages: table or reference
	Expand  string // rule by which the topic's table grows between generations: topic -expand
	Search  bool   // emits queries
	Single  bool   // with -param compat=true, requires generations of one page
}

// Kinds returns all strategies, sorted by name.
func Kinds() []Kind {
	kinds := []Kind{
		// The five papers.
		{
			Name: "niche", New: newNiche,
			Source:    "Huilian Fan, Guangpu Zeng and Xianli Li, Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm, DASC 2009, pp. 591–594",
			Summary:   "hubs breed, authorities mutate, niches stay varied",
			Stages:    Stages{Fitness: "vsm"},
			Operators: []Word{{"child", "a link of a hub, fetched before the best are selected"}, {"crossover", "a link of a hub that is among the best of these"}, {"mutation", "a link beside a link to an authority, drawn at random"}, byRestart},
			Chance:    true,
		},
		{
			Name: "symbiosis", New: newSymbiosis,
			Source:    "Alfonsus Wilson, H. Armanto, Gunawan and Tanwijaya, a focused crawler with a genetic algorithm and symbiotic organisms search, 2021; the search: M.-Y. Cheng and D. Prayogo, Symbiotic Organisms Search, Computers & Structures 139, 2014",
			Summary:   "pages breed by the links they share, queries by symbiotic organisms search",
			Stages:    Stages{Fitness: "weighttable", Learn: "table", Expand: "symbiosis", Search: true},
			Operators: []Word{{"crossover", "a link of the pages that a roulette wheel selected"}, byRestart, byQuery},
			Reasons: []Word{
				{"centroid", "of a query: its similarity to the relevant pages"},
				{"crossover", "summed fitness of the pages with the link"},
				{"fitness", "of a query"},
				{"likeness", "of a query: its similarity to the user's query"},
				{"novelty", "of a query: its distance from earlier queries"},
				{"pages", "number of pages with the link"},
				{"yield", "of a query: expected share of new relevant results"},
			},
			Chance: true,
		},
		{
			Name: "antnet", New: newAntNet,
			Source:    "B. Saket and F. Behrang, A New Crawling Method Based on AntNet Genetic and Routing Algorithms, ISCCC 2009, Proc. of CSIT 1, IACSIT Press, 2011",
			Summary:   "links drawn from all that are known, corrected by prediction errors",
			Stages:    Stages{Fitness: "wordscore", Context: "page", Search: true},
			Operators: []Word{byLink, byQuery},
			Reasons: []Word{
				{"expected", "predicted score of the page"},
				{"linkscore", "score of the link"},
				{"probability", "its share of the roulette wheel"},
			},
			Chance: true,
		},
		{
			Name: "jaccard", New: newJaccard,
			Source:    "Devendra Tanaji Rane and Ganesh R. Pathak, Focused Web Crawler with Genetic Algorithm – An Approach to Web Mining, International Journal of Applied Engineering and Technology 7 (1), 2017, pp. 19–31",
			Summary:   "links of pages similar to a reference page, and search results for their words",
			Stages:    Stages{Fitness: "jaccard", Learn: "reference", Search: true, Single: true},
			Operators: []Word{{"link", "a link that a relevant page selected"}, {"crossover", "a link of a selected link's page"}, byRestart, byQuery},
			Reasons: []Word{
				{"page", "fitness J of the page that selected the link"},
				{"words", "score of the link's words"},
			},
		},
		{
			Name: "tunnel", New: newTunnel,
			Source:    "A. Pal, D. S. Tomar and S. C. Shrivastava, Effective Focused Crawling Based on Content and Link Structure Analysis, International Journal of Computer Science and Information Security 2 (1), 2009",
			Summary:   "links of relevant pages, and a few levels through irrelevant ones",
			Stages:    Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel", Single: true},
			Operators: []Word{{"link", "a link of a relevant page"}, {"tunnel", "a link of an irrelevant page, a few levels deep"}, byRestart},
			Reasons: []Word{
				{"anchor", "similarity of the link's words to the topic"},
				{"level", "number of irrelevant pages before the link"},
				{"parents", "summed relevance of the pages with the link"},
				{"relevant", "number of relevant pages with the link"},
				{"url", "similarity of the address to the topic"},
			},
		},

		// Plain orders.
		{
			Name: "breadthfirst", New: newBreadthFirst, Grows: true,
			Source:    "the plain baseline",
			Summary:   "links in the order of their discovery",
			Unscored:  true,
			Operators: []Word{byLink},
		},
		{
			Name: "depthfirst", New: newDepthFirst, Grows: true,
			Source:    "the plain baseline",
			Summary:   "the newest links first",
			Unscored:  true,
			Operators: []Word{byLink},
		},
		{
			Name: "random", New: newRandomOrder, Grows: true,
			Source:    "the plain baseline; the random crawls of judge, by which nAUC is 0, draw one page at a time",
			Summary:   "links in random order, all equally likely",
			Unscored:  true,
			Operators: []Word{byLink},
			Reasons: []Word{
				{"waiting", "number of addresses that it was drawn from"},
			},
			Chance: true,
		},

		// By links alone.
		{
			Name: "indegree", New: newInDegree, Grows: true,
			Source:    "Cho, Garcia-Molina and Page 1998, backlink count",
			Summary:   "links of the most pages first",
			Unscored:  true,
			Operators: []Word{byLink},
			Reasons: []Word{
				byIndegree,
			},
		},
		{
			Name: "pagerank", New: newPageRank, Grows: true,
			Source:    "Cho, Garcia-Molina and Page 1998; topical: Haveliwala 2002",
			Summary:   "links of the pages with the highest PageRank first",
			Operators: []Word{byLink},
			Reasons: []Word{
				byIndegree,
				{"rank", "PageRank that its parents pass on to it"},
			},
		},
		{
			Name: "hits", New: newHITS, Grows: true,
			Source:    "Kleinberg 1999; Bharat and Henzinger 1998; Chakrabarti, van den Berg and Dom 1999",
			Summary:   "links of the best hubs first",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"authority", "sum of the hub values of its parents"},
				byIndegree,
			},
		},

		// By words, without learning.
		{
			Name: "bergmark", New: newBergmark, Grows: true,
			Source:        "Bergmark, Lagoze and Sbityakov 2002",
			Summary:       "links of relevant pages, and paths through others until their distance reaches a cutoff",
			Reconstructed: "everything except the formula of the distance, which was not checked either",
			Operators:     []Word{{"link", "a link of a relevant page"}, {"tunnel", "a link of an irrelevant page at a distance below the cutoff"}, byRestart},
			Reasons: []Word{
				{"distance", "distance of the page with the link from the topic"},
				{"similarity", "score of this page"},
			},
		},
		{
			Name: "bestfirst", New: newBestFirst, Grows: true,
			Source:    "Cho, Garcia-Molina and Page 1998; Menczer et al. 2004; Batsakis et al. 2009",
			Summary:   "links of the most relevant pages first",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"anchor", "with anchor=true: score of the link's words"},
				{"page", "with anchor=true: score of the best page with the link"},
			},
		},
		{
			Name: "quality", New: newQuality, Grows: true,
			Source:    "Pezzuti, MacAvaney and Tonellotto 2025",
			Summary:   "links of the pages of the highest quality first, by the first or the worst page with the link",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"quality", "quality of the page that gives the link its priority"},
			},
		},
		{
			Name: "bestn", New: newBestN,
			Source:    "Pant, Srinivasan and Menczer 2002; Menczer et al. 2004",
			Summary:   "the N best links as a batch, from a buffer that keeps the best",
			Operators: []Word{byLink, byRestart},
		},
		{
			Name: "fish", New: newFish, Grows: true,
			Source:    "De Bra and Post 1994",
			Summary:   "a list in which links of relevant pages go to the front",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"depth", "number of irrelevant pages that it may still cross"},
			},
		},
		{
			Name: "focus", New: newFocus, Grows: true,
			Source:        "Chakrabarti, van den Berg and Dom 1999",
			Summary:       "links of the best hubs first, then those of the most relevant pages, from the servers with the fewest requested pages",
			Reconstructed: "which hubs are the best, when they are computed, and how far their links are raised",
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"hub", "1 if one of the best hubs has the link"},
				{"relevance", "score of the page that gives the link its relevance"},
				{"serverload", "number of pages requested from its host"},
			},
		},
		{
			Name: "hotqueue", New: newHotQueue, Grows: true,
			Source:        "Cho, Garcia-Molina and Page 1998, the modified crawling algorithm",
			Summary:       "links with a word of the topic, or near a page with its words, before all others",
			Reconstructed: "at which distance from a hot page links still count",
			Unscored:      true,
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"distance", "number of links from the nearest hot page, if they are few"},
				{"hot", "1 if it comes from the hot queue"},
				{"value", "its value in the order of its queue"},
			},
		},
		{
			Name: "shark", New: newShark, Grows: true,
			Source:        "Hersovici et al. 1998",
			Summary:       "best-first by scores that links inherit from their ancestors, and by the words around them",
			Reconstructed: "the values of delta, beta, gamma and depth",
			Stages:        Stages{Fitness: "vsm"},
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"anchor", "score of the link's anchor"},
				{"context", "score of the words around the link"},
				{"inherited", "score that it inherits from its ancestors"},
				{"neighbourhood", "score of the link, from anchor and context"},
			},
		},

		// By evolution.
		{
			Name: "qinchen", New: newQinChen,
			Source:        "Qin and Chen 2005",
			Summary:       "a genetic algorithm over pages, with searches for the lexicon's words",
			Reconstructed: "everything that is not in the abstract",
			Stages:        Stages{Search: true},
			Operators:     []Word{{"crossover", "a link drawn by the fitness of the pages that contain it"}, byRestart, byQuery},
			Reasons: []Word{
				{"crossover", "summed fitness of the surviving pages with the link"},
			},
			Chance: true,
		},
		{
			Name: "gcrawler", New: newGcrawler,
			Source:        "Shokouhi, Chubak and Raeesy 2005",
			Summary:       "best-first search by keywords that a genetic algorithm selects from a growing table",
			Reconstructed: "everything except the idea",
			Stages:        Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel"},
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"link", "similarity of the link to the chosen keywords"},
				{"page", "similarity of its page to them"},
			},
			Chance: true,
		},
		{
			Name: "infospiders", New: newInfoSpiders,
			Source:        "Menczer and Belew 2000; Menczer, Pant and Srinivasan 2004",
			Summary:       "a population of spiders that learn which links pay, divide and die",
			Reconstructed: "the values of all parameters",
			Operators:     []Word{{"link", "a link that a spider follows"}, byRestart},
			Reasons: []Word{
				{"energy", "energy of the spider"},
				{"estimate", "its estimate of the link"},
				{"probability", "share of the link in its choice"},
				{"spider", "number of the spider"},
			},
			Chance: true,
		},

		// By learning which links lead where.
		{
			Name: "contextgraph", New: newContextGraph, Grows: true,
			Source:        "Diligenti, Coetzee, Lawrence, Giles and Gori 2000",
			Summary:       "queues of pages by the number of links to the next relevant page, predicted from their words",
			Reconstructed: "everything that is not in descriptions by others; the layers are learned from the crawl itself, not from backlinks",
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"layer", "predicted number of links from the page with the link to a relevant page; the greatest: unknown"},
				{"likelihood", "mean probability of the page's words in this layer"},
				{"parent", "before the first training: score of the page with the link"},
			},
		},
		{
			Name: "intelligent", New: newIntelligent, Grows: true,
			Source:        "Aggarwal, Al-Garawi and Yu 2001",
			Summary:       "links with properties that are frequent among links to relevant pages: words, address, parents and siblings",
			Reconstructed: "everything that is not in descriptions by others",
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"content", "interest ratio, as a weighted logarithm, of the words of the first page with the link"},
				{"link", "as content: of the relevance of the pages with the link"},
				{"parent", "before the first training: score of the page with the link"},
				{"sibling", "as content: of the relevance of the pages that these pages link to"},
				{"url", "as content: of the words of the address"},
			},
		},
		{
			Name: "reinforce", New: newReinforce, Grows: true,
			Source:        "Rennie and McCallum 1999",
			Summary:       "the long-term value of links, predicted from their words by naive Bayes",
			Reconstructed: "everything that is not in descriptions by others; the values are learned from the crawl itself, not from known sites",
			Operators:     []Word{byLink},
			Reasons: []Word{
				{"parent", "before the first training: score of the page with the link"},
				{"q", "discounted number of relevant pages that the link leads to"},
			},
		},
		{
			Name: "apprentice", New: newApprentice, Grows: true,
			Source:    "Chakrabarti, Punera and Subramanyam 2002; Barbosa and Freire 2007 (ACHE)",
			Summary:   "a classifier of links, trained by where links have led",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"classifier", "probability that the page is relevant"},
				{"parent", "before the first training: score of the page with the link"},
			},
			Chance: true,
		},
		{
			Name: "anthelion", New: newAnthelion, Grows: true,
			Source:    "Meusel, Mika and Blanco 2014",
			Summary:   "a bandit over hosts, above a classifier of links that learns online",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"classifier", "probability that the page is relevant"},
				{"host", "value of its host, unless the host was drawn at random"},
			},
			Chance: true,
		},
		{
			Name: "tagpath", New: newTagPath, Grows: true,
			Source:    "Gauquier, Manolescu and Senellart 2026 (SB-CLASSIFIER)",
			Summary:   "a bandit over tag paths, the positions of links on their pages",
			Operators: []Word{byLink, {opTarget, "with targets=files: a link that probably leads to a file"}},
			Reasons: []Word{
				{"auer", "value of the tag paths that its position is among"},
				{"classifier", "with targets=files: probability that it leads to a file"},
			},
			Chance: true,
		},
		{
			Name: "linearq", New: newLinearQ, Grows: true,
			Source:    "Han, Wuillemin and Senellart 2018",
			Summary:   "Q-learning of the long-term value of links, with a linear function",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"q", "long-term value of the link"},
				{"random", "1 if it was drawn at random"},
			},
			Chance: true,
		},

		{
			Name: "tres", New: newTRES, Grows: true,
			Source:    "Kontogiannis, Kelesis, Pollatos, Giannakopoulos and Paliouras 2025 (TRES)",
			Summary:   "deep Q-learning of the long-term value of links, one drawn from each leaf of a decision tree",
			Operators: []Word{byLink},
			Reasons: []Word{
				{"leaves", "number of leaves with links; one link was drawn from each"},
				{"q", "long-term value of the link"},
				{"random", "1 if its leaf was drawn at random"},
			},
			Chance: true,
		},

		// Our own.
		{
			Name: "forage", New: newForage, Grows: true,
			Source:    "this project",
			Summary:   "models of pages and links that are learned during the crawl",
			Unscored:  true,
			Operators: append(islandWords[:], Word{opMutation, "with queries=true: a query, drawn at random, whose results are fetched"}),
			Reasons:   signalWords(),
		},
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return kinds
}
