package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
)

// nameHint tells users which files of a directory are archives.
const nameHint = "their names end in .warc, .warc.gz, .warc.zst, .arc, .arc.gz or .wacz"

// Files expands names to files. It replaces a directory by the archives in and below it, and a
// pattern of [filepath.Match], which the shell may not have expanded, by the archives that match.
// In directories and patterns, archives are recognized by their names: .warc, .warc.gz, .warc.zst,
// .arc, .arc.gz or .wacz, followed by .open if they are still being written. Files does not change
// the name of a file inside a WACZ, as in [Volume], or "-". A file that is named twice is returned
// once.
//
// It is an error if a directory or pattern contains a pipe, socket or device with the name of an
// archive, because reading it may never end. If the user named the pipe itself, Files returns it.
//
// If the result contains a name of an archive, Files omits the indexes and lists of captures that
// this package writes beside archives, because the shell also expands dir/* to these.
func Files(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if name == Input {
			files = append(files, name)
			continue
		}
		info, err := os.Stat(name)
		var more []string
		switch {
		case err != nil && strings.ContainsAny(name, "*?["):
			more, err = matches(name)
		case err != nil:
			if _, _, ok := insideWACZ(name); ok {
				more, err = []string{name}, nil
			}
		case info.IsDir():
			more, err = below(name)
		default:
			more = []string{name}
		}
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	if slices.ContainsFunc(files, IsName) {
		files = slices.DeleteFunc(files, func(name string) bool {
			return strings.HasSuffix(name, ledgerSuffix) || strings.HasSuffix(name, indexSuffix)
		})
	}
	seen := make(map[string]bool, len(files))
	return slices.DeleteFunc(files, func(name string) bool {
		full, err := filepath.Abs(name)
		if err != nil || name == Input {
			full = name
		}
		again := seen[full]
		seen[full] = true
		return again
	}), nil
}

// insideWACZ splits the name of a file inside a WACZ, x.wacz/archive/y.warc.gz.
func insideWACZ(name string) (wacz, inner string, ok bool) {
	slashed := filepath.ToSlash(name) // has the same length as name
	for at := 0; ; {
		i := strings.Index(slashed[at:], "/"+waczArchives)
		if i < 0 {
			return name, "", false
		}
		at += i + 1
		if info, err := os.Stat(name[:at-1]); err == nil && info.Mode().IsRegular() {
			return name[:at-1], slashed[at+len(waczArchives):], true
		}
	}
}

// containerOf returns the file that contains an archive, and the name of the archive in it if the
// file is a WACZ.
func containerOf(name string) (file, inner string) {
	if _, err := os.Stat(name); err != nil {
		file, inner, _ = insideWACZ(name)
		return file, inner
	}
	return name, ""
}

// selectSource returns the source called inner, or all sources if inner is empty. It uses the name
// of the archive only for errors.
func selectSource(all []source, name, inner string) ([]source, error) {
	if inner == "" {
		return all, nil
	}
	all = slices.DeleteFunc(all, func(s source) bool { return !s.inside || s.name != inner })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no such file in the WACZ: %w", name, fs.ErrNotExist)
	}
	return all, nil
}

// Input is the name that stands for the standard input of a command.
const Input = "-"

// Open opens a regular file for reading. It returns an error for any other kind of file, and does not
// block on it.
func Open(name string) (*os.File, error) { return openFile(name, os.O_RDONLY) }

// specialMode returns the mode of a file, and reports whether it is a pipe, socket or device. It
// follows symbolic links. For a file that cannot be examined it returns false: opening it fails.
func specialMode(name string) (fs.FileMode, bool) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, false
	}
	return info.Mode(), !info.Mode().IsRegular() && !info.IsDir()
}

// requireArchive returns an error for a pipe, socket or device in a directory or pattern.
func requireArchive(name string) error {
	if mode, special := specialMode(name); special {
		return fmt.Errorf("%s is a %s, and directories and patterns may contain only regular files as archives (hint: remove it, or name the archives themselves)", name, atomicfile.Kind(mode))
	}
	return nil
}

// below returns the archives in and below a directory.
func below(dir string) (files []string, err error) {
	// With the separator a symbolic link to a directory is followed.
	err = filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && IsName(name) {
			files = append(files, name)
			if !d.Type().IsRegular() {
				err = requireArchive(name)
			}
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no archives in %s (hint: %s)", dir, nameHint)
	}
	return files, err
}

// matches returns the archives that a pattern matches, without other files, such as indexes.
func matches(pattern string) (files []string, err error) {
	all, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	for _, name := range all {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if IsName(name) {
			if err := requireArchive(name); err != nil {
				return nil, err
			}
		}
		if info.IsDir() {
			more, err := below(name)
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		} else if IsName(name) {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no archives match %s (hint: %s)", pattern, nameHint)
	}
	return files, nil
}

// IsName reports whether a file with this name is an archive, by the rules of [Files].
func IsName(name string) bool {
	return isPlainName(name) || strings.HasSuffix(name, ".wacz")
}

// isPlainName reports whether a file with this name is a WARC or ARC file.
func isPlainName(name string) bool {
	name = strings.TrimSuffix(name, openSuffix)
	return slices.ContainsFunc([]string{".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}

// A source is a WARC or ARC file, which may be inside a WACZ.
type source struct {
	name   string // name of the file without directory; in a WACZ, the path below archive/
	inside bool   // the file is inside a WACZ
	data   *io.SectionReader

	// Set by detect, for reading from the middle.
	format format
	dict   []byte
}

// label returns the name of the source for answers from the archive with the given name.
func (s *source) label(archive string) string {
	if s.inside {
		return archive + "/" + waczArchives + s.name
	}
	return archive
}

// sources returns the sources of an archive, sorted by name. If a WACZ has faults, one or all of the
// files in it are missing.
func sources(name string, r io.ReaderAt, size int64) ([]source, []*FormatError) {
	var head [4]byte
	if n, _ := r.ReadAt(head[:], 0); !isZip(head[:n]) {
		return []source{{name: name, data: io.NewSectionReader(r, 0, size)}}, nil
	}
	return zipped(r, size)
}

// detect sets the compression and dictionary from the start of the source. It ignores faults, which
// the reader of the records reports.
func (s *source) detect() error {
	var head [4]byte
	n, err := s.data.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if s.format = formatOf(head[:n]); s.format != zstded {
		return nil
	}
	var m members
	if err := m.reset(s.data, 0, zstded); err != nil {
		return err
	}
	_, err = m.skippable(head[:])
	if _, ok := errors.AsType[*FormatError](err); !ok && err != nil {
		return err
	}
	s.dict = m.dict
	return nil
}
