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
)

// nameHint says how archives are known in a directory.
const nameHint = "their names end in .warc, .warc.gz, .warc.zst, .arc, .arc.gz or .wacz"

// Files replaces each directory among names by the archives in it and below,
// and each pattern of [filepath.Match], as the shell may have left it, by those
// that it matches. Archives are there known by their names: .warc, .warc.gz,
// .warc.zst, .arc, .arc.gz or .wacz, with .open behind it if they are still
// being written. The files come in the order of their names; a file that is
// named twice comes once. The name of a file inside a WACZ, as a [Volume] has it,
// stays, and so does "-", for the input of a command.
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

// insideWACZ splits the name of a file inside a WACZ, x.wacz/archive/y.warc.gz, as
// volumes have it.
func insideWACZ(name string) (wacz, inner string, ok bool) {
	slashed := filepath.ToSlash(name) // as long
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

// outer is the file in which an archive lies, and its name in there if it is inside
// a WACZ.
func outer(name string) (file, inner string) {
	if _, err := os.Stat(name); err != nil {
		file, inner, _ = insideWACZ(name)
		return file, inner
	}
	return name, ""
}

// only leaves of the sources of a file the one of that name; empty means all.
func only(all []source, name, inner string) ([]source, error) {
	if inner == "" {
		return all, nil
	}
	all = slices.DeleteFunc(all, func(s source) bool { return !s.inside || s.name != inner })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no such file in the WACZ: %w", name, fs.ErrNotExist)
	}
	return all, nil
}

// Input is the name that stands for the input of a command.
const Input = "-"

// below are the archives in a directory and those below.
func below(dir string) (files []string, err error) {
	// The separator has a link to a directory followed.
	err = filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && IsName(name) {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no archives in %s (hint: %s)", dir, nameHint)
	}
	return files, err
}

// matches are the archives that a pattern matches; the files beside them, such
// as their indexes, are not.
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

// IsName tells whether a name is that of an archive, as [Files] knows them in a
// directory.
func IsName(name string) bool {
	return isPlainName(name) || strings.HasSuffix(name, ".wacz")
}

// isPlainName tells whether a name is that of an archive that holds no others.
func isPlainName(name string) bool {
	name = strings.TrimSuffix(name, openSuffix)
	return slices.ContainsFunc([]string{".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}

// A source is where the records of an archive lie: a whole file, or a file
// inside a WACZ.
type source struct {
	name   string // of the file without directory; in a WACZ the path below archive/
	inside bool   // a WACZ
	data   *io.SectionReader

	// What the first bytes say, for whoever begins to read in the middle.
	format format
	dict   []byte
}

// label is what a source is called in the answers of an archive of that name.
func (s *source) label(archive string) string {
	if s.inside {
		return archive + "/" + waczArchives + s.name
	}
	return archive
}

// sources are those of an archive, in the order of their names. What is wrong
// with a WACZ are faults, each of which leaves out a file or all of it.
func sources(name string, r io.ReaderAt, size int64) ([]source, []*FormatError) {
	var head [4]byte
	if n, _ := r.ReadAt(head[:], 0); !isZip(head[:n]) {
		return []source{{name: name, data: io.NewSectionReader(r, 0, size)}}, nil
	}
	return zipped(r, size)
}

// look reads what the first bytes say. What is wrong with them is a matter of
// whoever reads the records.
func (s *source) look() error {
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
