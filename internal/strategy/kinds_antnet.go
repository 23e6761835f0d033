package strategy

func antnetKinds() []Kind {
	return []Kind{{"antnet", "Saket and Behrang 2009, AntNet and genetic algorithms",
		"links drawn from all that are known, corrected by surprises",
		Stages{Fitness: "wordscore", Context: "page", Search: true}, newAntNet}}
}
