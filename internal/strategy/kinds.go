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

	Grows    bool // generations may grow with the crawl: their size has no other meaning to the strategy
	Unscored bool // whatever its parameters, no score of a page or link steers it: it scores pages itself, or not at all
	Stages   Stages
	New      func() Strategy
}

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
			Source:  "Fan, Zeng and Li, Crawling Strategy of Focused Crawler Based on Niche Genetic Algorithm, DASC 2009",
			Summary: "hubs breed, authorities mutate, niches stay varied",
			Stages:  Stages{Fitness: "vsm"},
		},
		{
			Name: "symbiosis", New: newSymbiosis,
			Source:  "Wilson, Armanto, Gunawan and Tanwijaya 2021, genetic algorithm with symbiotic organisms search",
			Summary: "pages breed by the links they share, queries by symbiotic organisms search",
			Stages:  Stages{Fitness: "weighttable", Learn: "table", Expand: "symbiosis", Search: true},
		},
		{
			Name: "antnet", New: newAntNet,
			Source:  "Saket and Behrang, A New Crawling Method Based on AntNet Genetic and Routing Algorithms, ISCCC 2009",
			Summary: "links drawn from all that are known, corrected by prediction errors",
			Stages:  Stages{Fitness: "wordscore", Context: "page", Search: true},
		},
		{
			Name: "jaccard", New: newJaccard,
			Source:  "Rane and Pathak, genetic algorithm with the Jaccard index of links and Dpr",
			Summary: "links of pages similar to a reference page, and search results for their words",
			Stages:  Stages{Fitness: "jaccard", Learn: "reference", Search: true, Single: true},
		},
		{
			Name: "tunnel", New: newTunnel,
			Source:  "Pal, Tomar and Shrivastava, Effective Focused Crawling Based on Content and Link Structure Analysis, IJCSIS 2 (1), 2009",
			Summary: "links of relevant pages, and a few levels through irrelevant ones",
			Stages:  Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel", Single: true},
		},

		// Plain orders.
		{
			Name: "breadthfirst", New: newBreadthFirst, Grows: true,
			Source:   "the plain baseline",
			Summary:  "links in the order of their discovery",
			Unscored: true,
		},
		{
			Name: "depthfirst", New: newDepthFirst, Grows: true,
			Source:   "the plain baseline",
			Summary:  "the newest links first",
			Unscored: true,
		},
		{
			Name: "random", New: newRandomOrder, Grows: true,
			Source:   "the plain baseline; the random crawls of judge, by which nAUC is 0, draw one page at a time",
			Summary:  "links in random order, all equally likely",
			Unscored: true,
		},

		// By links alone.
		{
			Name: "indegree", New: newInDegree, Grows: true,
			Source:   "Cho, Garcia-Molina and Page 1998, backlink count",
			Summary:  "links of the most pages first",
			Unscored: true,
		},
		{
			Name: "pagerank", New: newPageRank, Grows: true,
			Source:  "Cho, Garcia-Molina and Page 1998; topical: Haveliwala 2002",
			Summary: "links of the pages with the highest PageRank first",
		},
		{
			Name: "hits", New: newHITS, Grows: true,
			Source:  "Kleinberg 1999; Bharat and Henzinger 1998; Chakrabarti, van den Berg and Dom 1999",
			Summary: "links of the best hubs first",
		},

		// By words, without learning.
		{
			Name: "bestfirst", New: newBestFirst, Grows: true,
			Source:  "Cho, Garcia-Molina and Page 1998; Menczer et al. 2004; Batsakis et al. 2009",
			Summary: "links of the most relevant pages first",
		},
		{
			Name: "bestn", New: newBestN,
			Source:  "Pant, Srinivasan and Menczer 2002; Menczer et al. 2004",
			Summary: "the N best links as a batch, from a buffer that keeps the best",
		},
		{
			Name: "fish", New: newFish, Grows: true,
			Source:  "De Bra and Post 1994",
			Summary: "a list in which links of relevant pages go to the front",
		},
		{
			Name: "shark", New: newShark, Grows: true,
			Source:        "Hersovici et al. 1998",
			Summary:       "best-first by scores that links inherit from their ancestors, and by the words around them",
			Reconstructed: "the values of delta, beta, gamma and depth",
			Stages:        Stages{Fitness: "vsm"},
		},

		// By evolution.
		{
			Name: "qinchen", New: newQinChen,
			Source:        "Qin and Chen 2005",
			Summary:       "a genetic algorithm over pages, with searches for the lexicon's words",
			Reconstructed: "everything that is not in the abstract",
			Stages:        Stages{Search: true},
		},
		{
			Name: "gcrawler", New: newGcrawler,
			Source:        "Shokouhi, Chubak and Raeesy 2005",
			Summary:       "best-first search by keywords that a genetic algorithm selects from a growing table",
			Reconstructed: "everything except the idea",
			Stages:        Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel"},
		},
		{
			Name: "infospiders", New: newInfoSpiders,
			Source:        "Menczer and Belew 2000; Menczer, Pant and Srinivasan 2004",
			Summary:       "a population of spiders that learn which links pay, divide and die",
			Reconstructed: "the values of all parameters",
		},

		// By learning which links lead where.
		{
			Name: "apprentice", New: newApprentice, Grows: true,
			Source:  "Chakrabarti, Punera and Subramanyam 2002; Barbosa and Freire 2007 (ACHE)",
			Summary: "a classifier of links, trained by where links have led",
		},
		{
			Name: "anthelion", New: newAnthelion, Grows: true,
			Source:  "Meusel, Mika and Blanco 2014",
			Summary: "a bandit over hosts, above a classifier of links that learns online",
		},
		{
			Name: "tagpath", New: newTagPath, Grows: true,
			Source:  "Gauquier, Manolescu and Senellart 2026 (SB-CLASSIFIER)",
			Summary: "a bandit over tag paths, the positions of links on their pages",
		},
		{
			Name: "linearq", New: newLinearQ, Grows: true,
			Source:  "Han, Wuillemin and Senellart 2018",
			Summary: "Q-learning of the long-term value of links, with a linear function",
		},

		// Our own.
		{
			Name: "forage", New: newForage, Grows: true,
			Source:   "this project",
			Summary:  "models of pages and links that are learned during the crawl",
			Unscored: true,
		},
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return kinds
}
