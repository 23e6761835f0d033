package atomicfile

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// MaxInput is the maximum size in bytes of inputs that are read as streams, such as labels.
const MaxInput = 8 << 30

// OpenInput opens a file that a user has named, of at most limit bytes. It returns an error for a
// directory, a device or a named pipe, and like [OpenFile] does not wait for the other end of the pipe.
//
// If this process already has a pipe open, as with <(command) or /dev/stdin, OpenInput opens the pipe;
// the caller must limit how much it reads from the pipe.
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

// ReadFile returns the content of a file that it opens with [OpenInput]. It returns an error if there
// are more than limit bytes.
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
	size := fmt.Sprintf("%d MiB", limit>>20)
	if limit < 1<<20 {
		size = fmt.Sprintf("%d bytes", limit)
	}
	return fmt.Errorf("%s is larger than %s\nhint: is it the right file?", name, size)
}
