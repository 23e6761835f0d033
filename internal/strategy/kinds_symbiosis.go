package strategy

func symbiosisKinds() []Kind {
	return []Kind{{"symbiosis", "Wilson, Armanto, Gunawan and Tanwijaya 2021, genetic algorithm with symbiotic organisms search",
		"pages breed by the links they share, queries by symbiosis",
		Stages{Fitness: "weighttable", Learn: "table", Expand: "symbiosis", Search: true}, newSymbiosis}}
}
