package atomicfile

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// MaxInput bounds the inputs that are read as streams, such as labels, in bytes.
const MaxInput = 8 << 30

// OpenInput opens a file that a user has named, of at most limit bytes. Like [OpenFile], it does not
// wait for a named pipe but returns an error, as it does for a directory or a device.
//
// A pipe that this process has already, as from <(command) or as /dev/stdin, is opened; the caller
// must bound what it reads from it.
func OpenInput(name string, limit int64) (*os.File, error) {
	for _, open := range []string{"/dev/fd/", "/dev/stdin", "/proc/self/fd/"} {
		if strings.HasPrefix(name, open) {
			return os.Open(name)
		}
	}
	f, err := OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > limit {
		err = errTooLarge(name, limit)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile returns the content of a file that [OpenInput] opens. More than limit bytes are an error.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := OpenInput(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLarge(name, limit)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func errTooLarge(name string, limit int64) error {
	return fmt.Errorf("%s is larger than %d MiB\nhint: is it the right file?", name, limit>>20)
}
