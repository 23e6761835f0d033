//go:build !unix

package run

import "errors"

// asInit is never called here: no process has the number 1.
func asInit() error { return errors.ErrUnsupported }
