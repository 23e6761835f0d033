// Score computes how near pages are to a topic.
package main

import "spoor/cmd/internal/score"

func main() { score.Command.Main() }
