package atomicfile

import (
	"fmt"
	"os"
)

// OpenFile is [os.OpenFile] for files of a state directory that somebody else may have prepared:
// it returns an error if it is to open a symbolic link for writing, because the link may lead to
// a file outside the directory. Directories in name may be links.
func OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return os.OpenFile(name, flag, perm)
	}
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s is a symbolic link, and is not followed for writing\nhint: remove it, or replace it by a copy of the file", name)
	}
	return os.OpenFile(name, flag|noFollow, perm) // noFollow: it may have become a link
}
