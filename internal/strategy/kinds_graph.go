package strategy

func graphKinds() []Kind { return nil }
