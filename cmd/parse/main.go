// Parse extracts text, links and metadata from fetched pages.
package main

import "spoor/cmd/internal/parse"

func main() { parse.Command.Main() }
