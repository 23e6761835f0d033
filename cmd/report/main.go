// Report writes a page about a crawl or a comparison.
package main

import "spoor/cmd/internal/report"

func main() { report.Command.Main() }
