// Search answers queries from pages of archives and runs, or from a server.
package main

import "spoor/cmd/internal/search"

func main() { search.Command.Main() }
