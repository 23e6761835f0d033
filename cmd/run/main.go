// Run manages the run directory of a crawl, for scripts/crawl.
package main

import "spoor/cmd/internal/run"

func main() { run.Command.Main() }
