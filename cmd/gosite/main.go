// Gosite serves the documentation of the Go tree, as a site to crawl.
package main

import "spoor/cmd/internal/gosite"

func main() { gosite.Command.Main() }
