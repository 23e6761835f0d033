// Fetch fetches pages from the web or from archives.
package main

import "spoor/cmd/internal/fetch"

func main() { fetch.Command.Main() }
