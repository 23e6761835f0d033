package browser

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// groupMemory returns the resident memory of the processes of a group in bytes, without pages that are
// mapped from files.
func groupMemory(pgid int) int64 {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var sum int64
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if g, err := syscall.Getpgid(pid); err != nil || g != pgid {
			continue
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // the process may have ended
		sum += statusField(status, "RssAnon") + statusField(status, "RssShmem")
	}
	return sum
}

// statusField returns a field of /proc/PID/status in bytes.
func statusField(status []byte, name string) int64 {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			kib, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return kib << 10
		}
	}
	return 0
}
