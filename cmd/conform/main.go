// Conform tests whether a program can replace a stage of the pipeline.
package main

import "spoor/cmd/internal/conform"

func main() { conform.Command.Main() }
