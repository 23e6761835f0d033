// Warc lists, prints, checks, repairs and packs archives.
package main

import "spoor/cmd/internal/warc"

func main() { warc.Command.Main() }
