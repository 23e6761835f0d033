//go:build !unix

package comparison

import "os"

// maxRSS returns 0, because the memory is unknown.
func maxRSS(*os.ProcessState) int64 { return 0 }
