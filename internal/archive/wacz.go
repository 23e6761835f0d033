package archive

import (
	ziparchive "archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// waczArchives is the directory of a WACZ that holds its WARC files.
	waczArchives = "archive/"

	// maxDirectory limits the size of the directory of a WACZ in bytes, because the directory is
	// read into memory. It suffices for about 50,000 files; a WACZ usually has about a dozen.
	maxDirectory = 4 << 20

	flagEncrypted = 1 << 0
)

// isZip reports whether head begins a zip file, which may be empty.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// zipped returns the archives in a WACZ. A WACZ stores archives without compression, so they are
// read in place. The indexes in the WACZ are not used, because they may be wrong.
func zipped(r io.ReaderAt, size int64) (inner []source, faults []*FormatError) {
	fault := func(offset int64, format string, args ...any) {
		faults = append(faults, &FormatError{offset, fmt.Errorf(format, args...)})
	}
	a := &allowance{r, maxDirectory}
	z, err := ziparchive.NewReader(a, size)
	switch {
	case errors.Is(err, errDirectory):
		fault(0, "%w", err)
		return nil, faults
	case err != nil && !errors.Is(err, ziparchive.ErrInsecurePath):
		fault(0, "zip file that is damaged or torn: %w (hint: zip -FF can repair it)", err)
		return nil, faults
	}
	type place struct {
		begin, end int64
		name       string
	}
	var places []place
	seen := map[string]bool{}
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, waczArchives)
		if !ok || !isPlainName(name) {
			continue
		}
		a.left = 1 << 10 // enough for one local header
		begin, err := f.DataOffset()
		end := begin + int64(f.CompressedSize64)
		switch {
		case err != nil:
			fault(0, "%.100q: %w", f.Name, err)
		case !fs.ValidPath(f.Name) || strings.Contains(name, `\`) || !utf8.ValidString(name):
			fault(begin, "%.100q is no proper name for a file", f.Name)
		case seen[name]:
			fault(begin, "%.100q is there twice", f.Name)
		case f.Flags&flagEncrypted != 0:
			fault(begin, "%.100q is encrypted", f.Name)
		case f.Method != ziparchive.Store:
			fault(begin, "%.100q is packed by the zip file and cannot be read in place (hint: unzip it and give the directory)", f.Name)
		case begin < 0 || end < begin || end > size:
			fault(begin, "%.100q is longer than the zip file", f.Name)
		default:
			places = append(places, place{begin, end, name})
		}
		seen[name] = true
	}
	// Overlapping files would multiply the data.
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.begin, b.begin) })
	taken := int64(0)
	for _, p := range places {
		if p.begin < taken {
			fault(p.begin, "%.100q begins inside another file", waczArchives+p.name)
			continue
		}
		inner = append(inner, source{name: p.name, inside: true, data: io.NewSectionReader(r, p.begin, p.end-p.begin)})
		taken = p.end
	}
	switch hasWACZ := slices.ContainsFunc(z.File, func(f *ziparchive.File) bool { return strings.HasSuffix(f.Name, ".wacz") }); {
	case len(inner) > 0 || len(faults) > 0:
	case hasWACZ:
		fault(0, "zip file without archives in it (hint: it holds WACZ files: unzip it and give the directory)")
	default:
		fault(0, "zip file without archives in it (hint: those of a WACZ are below %s)", waczArchives)
	}
	slices.SortFunc(inner, func(a, b source) int { return cmp.Compare(a.name, b.name) })
	return inner, faults
}

var errDirectory = fmt.Errorf("zip file with a directory of more than %d bytes", maxDirectory)

// An allowance limits how many bytes may be read.
type allowance struct {
	io.ReaderAt
	left int64
}

func (a *allowance) ReadAt(p []byte, off int64) (int, error) {
	if a.left -= int64(len(p)); a.left < 0 {
		return 0, errDirectory
	}
	return a.ReaderAt.ReadAt(p, off)
}
