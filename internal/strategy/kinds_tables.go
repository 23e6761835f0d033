package strategy

func tableKinds() []Kind {
	return []Kind{
		{"bestn", "Pant, Srinivasan and Menczer 2002; Menczer et al. 2004",
			"the N best links as a batch, from a buffer that keeps the best", Stages{}, newBestN},
		{"jaccard", "Rane and Pathak, genetic algorithm with the Jaccard index of links and Dpr",
			"links of pages that are like a reference, and what a search finds for their words",
			Stages{Fitness: "jaccard", Learn: "reference", Search: true, Single: true}, newJaccard},
		{"tunnel", "Pal, Tomar and Shrivastava 2009, content and link structure with an irrelevant table",
			"links of relevant pages, and a few levels through irrelevant ones",
			Stages{Fitness: "weighttable-tf", Learn: "table", Expand: "tunnel", Single: true}, newTunnel},
	}
}
