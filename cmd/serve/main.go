// Serve shows crawls, running or ended, in a browser.
package main

import "spoor/cmd/internal/serve"

func main() { serve.Command.Main() }
