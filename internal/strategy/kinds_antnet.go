package strategy

func antnetKinds() []Kind {
	return []Kind{{"antnet", "Saket and Behrang, AntNet and a genetic algorithm",
		"links drawn from all that are known, corrected by surprises",
		Stages{Fitness: "wordscore", Context: "page", Search: true}, newAntNet}}
}
