// Compare runs crawls of several strategies on archived webs and prints tables.
package main

import "spoor/cmd/internal/compare"

func main() { compare.Command.Main() }
