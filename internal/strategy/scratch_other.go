//go:build !unix

package strategy

import (
	"errors"
	"os"
)

const mapsFiles = false

func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
