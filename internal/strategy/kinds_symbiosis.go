package strategy

func symbiosisKinds() []Kind { return nil }
