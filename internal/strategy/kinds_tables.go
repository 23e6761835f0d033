package strategy

func tableKinds() []Kind { return nil }
