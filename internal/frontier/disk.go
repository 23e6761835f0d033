package frontier

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"spoor/internal/atomicfile"
)

// A disk performs all changes to the files of a store. Tests replace it to simulate failures and
// power loss. Files are read without a disk.
type disk interface {
	// open opens a file for writing at offset at, and creates it if it does not exist.
	open(name string, at int64) (file, error)
	rename(from, to string) error
	remove(name string) error
	mkdir(dir string) error // creates dir and its parents, durably
	sync(dir string) error  // syncs a directory
}

// A file is open for writing.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

type osDisk struct{}

func (osDisk) open(name string, at int64) (file, error) {
	f, err := atomicfile.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (osDisk) mkdir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := (osDisk{}).mkdir(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncDir(above)
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) remove(name string) error     { return os.Remove(name) }
func (osDisk) sync(dir string) error        { return atomicfile.SyncDir(dir) }

// createFile opens an empty file for writing.
func createFile(d disk, name string) (file, error) {
	f, err := d.open(name, 0)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// writeFile writes a file, and syncs it and its directory.
func writeFile(d disk, name string, data []byte) error {
	f, err := createFile(d, name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.sync(filepath.Dir(name))
}
