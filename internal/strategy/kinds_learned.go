package strategy

// learnedKinds are the strategies that learn from links which are worth following.
func learnedKinds() []Kind {
	return []Kind{
		{"anthelion", "Meusel, Mika and Blanco 2014",
			"a bandit of hosts above a classifier of links that learns online", Stages{}, newAnthelion},
		{"apprentice", "Chakrabarti, Punera and Subramanyam 2002; Barbosa and Freire 2007 (ACHE)",
			"a classifier of links, trained by where links have led", Stages{}, newApprentice},
		{"linearq", "Han, Wuillemin and Senellart 2018",
			"what a link is worth in the long run, learned as a sum of what is known of it", Stages{}, newLinearQ},
		{"tagpath", "Gauquier, Manolescu and Senellart 2026 (SB-CLASSIFIER)",
			"a bandit of the places at which links stand on their pages", Stages{}, newTagPath},
	}
}
