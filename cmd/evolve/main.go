// Evolve chooses the addresses of the next generation by a strategy.
package main

import "spoor/cmd/internal/evolve"

func main() { evolve.Command.Main() }
