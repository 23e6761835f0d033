package strategy

func antnetKinds() []Kind { return nil }
