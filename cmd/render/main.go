// Render replaces pages by what they are after their scripts have run.
package main

import "spoor/cmd/internal/render"

func main() { render.Command.Main() }
