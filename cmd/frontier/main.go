// Frontier keeps the addresses that wait to be fetched.
package main

import "spoor/cmd/internal/frontier"

func main() { frontier.Command.Main() }
