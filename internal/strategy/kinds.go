package strategy

import (
	"slices"
	"strings"
)

// A Kind is a strategy that can be made.
type Kind struct {
	Name    string
	Source  string // the paper, or who first described it
	Summary string // one line
	Stages  Stages
	New     func() Strategy
}

// Stages is what a strategy wants of the stages around it. What is empty is left
// to them.
type Stages struct {
	Fitness string // the measure that it goes by: score -fitness
	Context string // which words stand around a link: parse -context
	Learn   string // a section of the topic, table or reference, that is made of the seeds' pages
	Expand  string // the rule by which the topic's table grows between generations: topic -expand
	Search  bool   // it breeds queries
	Single  bool   // to the letter (-param compat=true) it chooses anew after every page
}

// Kinds are all strategies, by name.
func Kinds() []Kind {
	kinds := []Kind{
		// The five papers.
		{"niche", "Fan, Zeng and Li 2009, niche genetic algorithm (GAFC)",
			"hubs breed, authorities mutate, niches stay varied",
			Stages{Fitness: "vsm"}, newNiche},
		{"symbiosis", "Wilson, Armanto, Gunawan and Tanwijaya 2021, genetic algorithm with symbiotic organisms search",
			"pages breed by the links they share, queries by symbiotic organisms search",
			Stages{Fitness: "weighttable", Learn: "table", Expand: "symbiosis", Search: true}, newSymbiosis},
		{"antnet", "Saket and Behrang 2009, AntNet and genetic algorithms",
			"links drawn from all that are known, corrected by surprises",
			Stages{Fitness: "wordscore", Context: "page", Search: true}, newAntNet},
		{"jaccard", "Rane and Pathak, genetic algorithm with the Jaccard index of links and Dpr",
			"links of pages that are like a reference, and what a search finds for their words",
			Stages{Fitness: "jaccard", Learn: "reference", Search: true, Single: true}, newJaccard},
		{"tunnel", "Pal, Tomar and Shrivastava 2009, content and link structure with an irrelevant table",
			"links of relevant pages, and a few levels through irrelevant ones",
			Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel", Single: true}, newTunnel},

		// Plain orders.
		{"breadthfirst", "the plain baseline",
			"links in the order of their discovery", Stages{}, newBreadthFirst},
		{"depthfirst", "the plain baseline",
			"the newest links first", Stages{}, newDepthFirst},
		{"random", "the plain baseline, the zero of the normalised area",
			"any link, each as likely as the other", Stages{}, newRandomOrder},

		// By links alone.
		{"indegree", "Cho, Garcia-Molina and Page 1998, backlink count",
			"links of the most pages first", Stages{}, newInDegree},
		{"pagerank", "Cho, Garcia-Molina and Page 1998; topical: Haveliwala 2002",
			"links of the pages with the highest PageRank first", Stages{}, newPageRank},
		{"hits", "Kleinberg 1999; Bharat and Henzinger 1998; Chakrabarti, van den Berg and Dom 1999",
			"links of the best hubs first", Stages{}, newHITS},

		// By words, as they are.
		{"bestfirst", "Cho, Garcia-Molina and Page 1998; Menczer et al. 2004; Batsakis et al. 2009",
			"links of the most relevant pages first", Stages{}, newBestFirst},
		{"bestn", "Pant, Srinivasan and Menczer 2002; Menczer et al. 2004",
			"the N best links as a batch, from a buffer that keeps the best", Stages{}, newBestN},
		{"fish", "De Bra and Post 1994",
			"a list in which links of relevant pages go to the front", Stages{}, newFish},
		{"shark", "Hersovici et al. 1998",
			"links inherit from their ancestors and are read with their neighbourhood",
			Stages{Fitness: "vsm"}, newShark},

		// By evolution.
		{"qinchen", "Qin and Chen 2005",
			"a genetic algorithm over pages, with searches for the lexicon's words",
			Stages{Search: true}, newQinChen},
		{"gcrawler", "Shokouhi, Chubak and Raeesy 2005",
			"best-first by the keywords that a genetic algorithm picks from a growing table",
			Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel"}, newGcrawler},
		{"infospiders", "Menczer and Belew 2000; Menczer, Pant and Srinivasan 2004",
			"spiders that learn which links pay, multiply and die", Stages{}, newInfoSpiders},

		// By learning which links lead where.
		{"apprentice", "Chakrabarti, Punera and Subramanyam 2002; Barbosa and Freire 2007 (ACHE)",
			"a classifier of links, trained by where links have led", Stages{}, newApprentice},
		{"anthelion", "Meusel, Mika and Blanco 2014",
			"a bandit over hosts, above a classifier of links that learns online", Stages{}, newAnthelion},
		{"tagpath", "Gauquier, Manolescu and Senellart 2026 (SB-CLASSIFIER)",
			"a bandit over tag paths, the places at which links stand on their pages", Stages{}, newTagPath},
		{"linearq", "Han, Wuillemin and Senellart 2018",
			"Q-learning: what a link is worth in the long run, as a linear function of what is known of it", Stages{}, newLinearQ},
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return kinds
}
