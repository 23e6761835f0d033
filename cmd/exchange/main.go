// Exchange passes addresses between the nodes of a crawl on several machines.
package main

import "spoor/cmd/internal/exchange"

func main() { exchange.Command.Main() }
