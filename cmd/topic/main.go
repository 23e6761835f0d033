// Topic makes the file of a topic.
package main

import "spoor/cmd/internal/topic"

func main() { topic.Command.Main() }
