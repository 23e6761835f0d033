// Judge measures a crawl by the labels of an archived web.
package main

import "spoor/cmd/internal/judge"

func main() { judge.Command.Main() }
