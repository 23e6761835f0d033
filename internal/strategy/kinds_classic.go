package strategy

func classicKinds() []Kind { return nil }
