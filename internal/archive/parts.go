package archive

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

const (
	gzipSuffix = ".warc.gz"
	zstdSuffix = ".warc.zst"
	openSuffix = ".open"
)

// hostPart returns host with all characters replaced that are not suitable for a file name.
func hostPart(host string) string {
	host = strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' {
			return c
		}
		return '_'
	}, host)
	return cmp.Or(strings.Trim(host, "."), "localhost")
}

type part struct {
	name   string // name without directory and openSuffix
	serial int
	open   bool
}

// parts returns the files with the prefix, the newest last. If a file exists both with and without
// openSuffix, the open file comes last.
func (w *Writer) parts() ([]part, error) {
	dir, base := filepath.Split(w.options.Prefix)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, err
	}
	var all []part
	for _, e := range entries {
		name, open := strings.CutSuffix(e.Name(), openSuffix)
		rest, ok := strings.CutPrefix(name, base+"-")
		if !ok || !strings.HasSuffix(rest, gzipSuffix) && !strings.HasSuffix(rest, zstdSuffix) || len(rest) < len("20060102150405-00000-") {
			continue
		}
		serial, err := strconv.ParseUint(rest[15:20], 10, 32)
		if _, e := time.Parse("20060102150405", rest[:14]); e != nil || err != nil || rest[14] != '-' || rest[20] != '-' {
			continue
		}
		all = append(all, part{name, int(serial), open})
	}
	slices.SortStableFunc(all, func(a, b part) int { // stable, to keep the order of the directory
		return cmp.Or(cmp.Compare(a.serial, b.serial), strings.Compare(a.name, b.name))
	})
	return all, nil
}

func (w *Writer) path(name string) string {
	return filepath.Join(filepath.Dir(w.options.Prefix), name)
}

// resume opens the newest file for appending if it has the right format and no other writer
// uses it, and closes abandoned files. Otherwise it creates a file.
func (w *Writer) resume() error {
	parts, err := w.parts()
	if err != nil {
		return err
	}
	serial := 0
	for i, p := range parts {
		w.files.Store(nameSum(p.name), p.name)
		second := i > 0 && parts[i-1].name == p.name // there is a closed file of this name; see create
		ours := i == len(parts)-1 && strings.HasSuffix(p.name, w.suffix) && !second
		serial = p.serial + 1
		if !p.open && (!ours || !w.isBelowMaxSize(p)) {
			continue
		}
		f, size, err := w.claim(p)
		if errors.Is(err, lock.ErrHeld) || errors.Is(err, os.ErrNotExist) {
			continue // another process writes or closes it
		}
		if errors.Is(err, errCut) || errors.Is(err, errForeign) {
			if w.options.Cut != nil {
				w.options.Cut(w.path(p.name))
			}
			continue
		}
		if err != nil {
			return err
		}
		if second && size > 0 {
			f.Close() // it must not replace the closed file
			continue
		}
		if ours && size < w.options.MaxSize {
			w.file, w.name, w.serial, w.size = f, p.name, p.serial, size
			return w.begin()
		}
		if err := w.finish(f, p.name, size); err != nil {
			return err
		}
	}
	return w.create(serial)
}

// isBelowMaxSize reports whether a closed file is smaller than MaxSize.
func (w *Writer) isBelowMaxSize(p part) bool {
	info, err := os.Stat(w.path(p.name))
	return err == nil && info.Size() < w.options.MaxSize
}

// errForeign is returned for a file that was not written by such a writer: its content does not begin
// as its name requires.
var errForeign = errors.New("its content does not fit its name")

// errCut is returned for a closed file whose end is truncated.
var errCut = errors.New("the end of a closed file is not whole")

// claim opens and locks an existing file, renames it to its open name and cuts off a truncated
// end. If a closed file has a truncated end, claim returns errCut and does not change the file: it
// was damaged after it was closed, and the user may want to repair it.
func (w *Writer) claim(p part) (f *os.File, size int64, err error) {
	name := w.path(p.name)
	if p.open {
		name += openSuffix
	}
	f, err = openFile(name, os.O_RDWR)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := lock.Try(f, true); err != nil {
		return nil, 0, err
	}
	if !isAt(f, name) {
		return nil, 0, lock.ErrHeld // another process has just closed it
	}
	if !fitsName(f, p.name) {
		return nil, 0, errForeign
	}
	size, err = w.wholeMembers(f, p.name)
	if err != nil {
		return nil, 0, fmt.Errorf("looking for the torn tail of %s: %w", name, err)
	}
	if p.open {
		return f, size, f.Truncate(size)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if size < info.Size() {
		return nil, 0, errCut
	}
	return f, size, os.Rename(name, name+openSuffix)
}

// markEvery is the interval of checkpoints in bytes. Because of checkpoints, only the tail of an
// abandoned file must be verified. The checkpoint of a closed file is its last exchange.
const markEvery = 16 << 20

// markKey returns the key of the last checkpoint of a file.
func markKey(name string) key {
	sum := sha1.Sum([]byte("file " + name))
	return key(sum[:])
}

// wholeMembers returns the offset of the end of the last complete record in a file.
func (w *Writer) wholeMembers(f *os.File, name string) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if mark, ok := w.ledger.get(markKey(name)); ok && mark.file == nameSum(name) && 0 < mark.offset && mark.offset < info.Size() {
		n, err := wholeMembers(io.NewSectionReader(f, mark.offset, info.Size()-mark.offset))
		if err != nil || n > 0 {
			return mark.offset + n, err
		}
	}
	return wholeMembers(io.NewSectionReader(f, 0, info.Size()))
}

// wholeMembers returns the offset of the end of the last complete record. It ignores faults before
// that offset.
func wholeMembers(file io.ReadSeeker) (int64, error) {
	r, err := NewReader(file)
	if err != nil {
		return 0, err
	}
	var size int64
	for {
		rec, err := r.Next()
		if err == nil {
			err = rec.Close()
		}
		// The file ends, perhaps within a member. Something in such a member that looks like a
		// record may be payload, because the fetched document may itself be a WARC file.
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return size, nil
		}
		if err == nil {
			size = max(size, rec.Offset+rec.Length)
		} else if _, ok := errors.AsType[*FormatError](err); !ok {
			return 0, err
		}
	}
}

// fitsName reports whether a file is empty, or begins as its name requires: with a gzip member or a zstd
// frame.
func fitsName(f *os.File, name string) bool {
	var first [4]byte
	n, err := f.ReadAt(first[:], 0)
	if err != nil && err != io.EOF {
		return true // the next reader of the file reports the error
	}
	magic := []byte{0x1f, 0x8b}
	if strings.HasSuffix(name, zstdSuffix) {
		magic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	}
	return bytes.HasPrefix(magic, first[:min(n, len(magic))])
}

// create creates a file with that serial number or the next free one.
func (w *Writer) create(serial int) error {
	for ; ; serial++ {
		name := fmt.Sprintf("%s-%s-%05d-%s%s", filepath.Base(w.options.Prefix), w.options.Now().UTC().Format("20060102150405"), serial, w.options.Host, w.suffix)
		path := w.path(name) + openSuffix
		f, err := openFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		// Check after locking: another writer may have closed a file of this name meanwhile, and
		// a third writer may have reopened it under the name of the new file.
		err = lock.Try(f, true)
		closed := checkFree(w.path(name)) != nil
		if err != nil || closed || !isAt(f, path) {
			f.Close() // the file stays empty, and the next writer removes it
			if err == nil || errors.Is(err, lock.ErrHeld) {
				continue // another writer has claimed the new file as abandoned
			}
			return err
		}
		w.file, w.name, w.serial, w.size = f, name, serial, 0
		return w.begin()
	}
}

// begin writes a warcinfo record at the start of a file, or where records with other settings
// begin. A file to which no records are written is removed.
func (w *Writer) begin() error {
	w.sum, w.mark, w.last = nameSum(w.name), w.size, 0
	w.files.Store(w.sum, w.name)
	info := w.infoBlock()
	if w.size > 0 && w.continues(info) {
		return nil
	}
	err := w.writeInfo(info)
	if err != nil {
		f := w.file
		w.file, w.broken = nil, err
		w.finish(f, w.name, w.size) // return the first error
	}
	return err
}

func (w *Writer) infoBlock() (b []byte) {
	for _, f := range w.options.Info {
		b = appendField(b, f.Name, f.Value)
	}
	b = appendField(b, "format", "WARC File Format 1.1")
	b = appendField(b, "conformsTo", conformsTo)
	return appendField(b, "hostname", w.options.Host)
}

// continues reports whether the file starts with the same warcinfo block.
func (w *Writer) continues(info []byte) bool {
	r, err := NewReader(io.NewSectionReader(w.file, 0, w.size))
	if err != nil {
		return false
	}
	rec, err := r.Next()
	if err != nil || rec.Type() != "warcinfo" || rec.ContentLength != int64(len(info)) {
		return false
	}
	block, err := io.ReadAll(rec)
	w.info = rec.ID()
	return err == nil && string(block) == string(info)
}

func (w *Writer) writeInfo(info []byte) error {
	e := w.encoders.Get().(*encoder)
	defer w.encoders.Put(e)
	if err := w.newIDs(e); err != nil {
		return err
	}
	e.reset()
	e.start("warcinfo", &e.ids[0], w.options.Now())
	e.field("WARC-Filename", w.name)
	e.end(fieldsMedia, info, nil)
	w.info = string(e.ids[0].appendURN(nil))
	return w.append(e.out)
}

// rotate closes the full file and creates a new one.
func (w *Writer) rotate() error {
	f := w.file
	w.file = nil
	err := w.finish(f, w.name, w.size)
	if err == nil {
		err = w.create(w.serial + 1)
	}
	if err != nil {
		w.broken = err
	} else if w.options.Rotated != nil {
		w.options.Rotated()
	}
	return err
}

// Finished returns the paths of the files to which nothing will be appended: the closed files that are
// older than the file of w. The oldest comes first.
func (w *Writer) Finished() (paths []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	parts, err := w.parts()
	for _, p := range parts {
		if p.name == w.name {
			break
		}
		if !p.open {
			paths = append(paths, w.path(p.name))
		}
	}
	return paths, err
}

// finish closes a file and renames it. An empty file is removed.
func (w *Writer) finish(f *os.File, name string, size int64) error {
	open := w.path(name) + openSuffix
	err := f.Sync()
	if err == nil && size == 0 {
		err = os.Remove(open)
	} else if err == nil {
		err = os.Rename(open, w.path(name))
	}
	if err == nil {
		removeIndex(open) // warc index -w may have written an index of the open file
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(open))
	}
	if err != nil {
		return fmt.Errorf("closing an archive: %w", err)
	}
	return nil
}
