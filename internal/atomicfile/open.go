package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
)

// OpenFile is [os.OpenFile] for the regular files of a directory that may have an untrusted origin.
// If the file is of another kind, such as a named pipe without a writer, OpenFile returns an error
// and does not block. It also returns an error if a symbolic link, or a file that has another name (a
// hard link), would be opened for writing, because that may be a file outside the directory. Directories
// in name may be links.
func OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		switch info, err := os.Lstat(name); {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			return nil, fmt.Errorf("%s is a symbolic link, and is not followed for writing\nhint: remove it, or replace it by a copy of the file", name)
		case info.Mode().IsRegular() && names(info) > 1:
			return nil, fmt.Errorf("%s is a hard link, and is not written: the file has another name, by which it would change too\nhint: replace it by a copy of the file", name)
		}
		flag |= noFollow // the file may have become a link
	}
	f, err := os.OpenFile(name, flag|nonBlock, perm)
	if err != nil {
		return nil, err
	}
	return RequireRegular(f)
}

// RequireRegular returns f if f is a regular file. Otherwise it closes f and returns an error.
func RequireRegular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: f.Name(), Err: fmt.Errorf("it is a %s, not a regular file", Kind(info.Mode()))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Kind returns the name of a kind of file that is not regular.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
