// Package scripts contains the scripts that commands run.
package scripts

import _ "embed" // for the scripts

// Crawl is the script that loops over the generations of a crawl.
//
//go:embed crawl
var Crawl []byte
