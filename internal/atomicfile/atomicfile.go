// Package atomicfile replaces files atomically: after a crash or a power cut the file has
// either its complete old content or its complete new content.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the file name by the output of write. It writes to a temporary file in the
// same directory, syncs it, renames it and syncs the directory. If a step fails, Write
// removes the temporary file and does not change the old file. The content is durable when
// Write returns nil.
//
// If name exists and is not a regular file, such as a pipe or a terminal, Write writes the
// output directly to it.
func Write(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	return Replace(name, write)
}

// Replace is like [Write], but also replaces what is not a regular file. It is for the files of a
// directory that may have an untrusted origin, where a named pipe would be waited for.
func Replace(name string, write func(io.Writer) error) error {
	part := fmt.Sprintf("%s.%d-%d.part", name, os.Getpid(), rand.Uint32())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok {
			e.Path = name // the name that the user knows
		}
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = Rename(part, name)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}

// WriteBytes replaces the file name with data; see [Write].
func WriteBytes(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Rename renames a file that has been synced. It syncs the new directory, so that the new
// name survives a power cut.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// SyncDir syncs a directory, so that files created in it or renamed into it survive a power
// cut. It does nothing on Windows, where directories cannot be synced.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
