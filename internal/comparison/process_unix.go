//go:build unix

package comparison

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS returns the memory of the largest process that p waited for, in KiB.
func maxRSS(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) / 1024
	}
	return int64(usage.Maxrss)
}
