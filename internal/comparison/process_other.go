//go:build !unix

package comparison

import (
	"os"
	"os/exec"
)

// Without process groups only the program itself is ended.
func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

// maxRSS returns 0: it is unknown.
func maxRSS(*os.ProcessState) int64 { return 0 }
