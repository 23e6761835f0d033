package closedweb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// The links of archives are kept in a file beside the first archive, NAME.graph, or in
// the cache directory. Its first line is "!graph " and a [cacheHeader] as JSON; the file is
// stale if its archives have changed. Then come, as uvarints and varints of
// encoding/binary,
//
//	pages      length and bytes of each address, sorted
//	aliases    length and bytes of each address, sorted, and the page
//	links      for each page their number, and each as its distance from the one before
//
// The file is replaced atomically.
const cacheMagic = "!graph "

// cacheVersion is increased when the links of the same archives would be others: with the
// format of this file, and with what parse takes for a link.
const cacheVersion = 1

// A cacheHeader is the first line.
type cacheHeader struct {
	Version  int           `json:"spoor-graph"`
	Capture  string        `json:"capture"` // which of several captures counts
	Archives []archiveFile `json:"archives"`
	Pages    int           `json:"pages"`
	Aliases  int           `json:"aliases"`
	Links    int           `json:"links"`
	Bytes    int64         `json:"bytes"`  // after the first line
	CRC32C   uint32        `json:"crc32c"` // of these bytes
}

// An archiveFile identifies a version of an archive by its size and modification time.
type archiveFile struct {
	Name     string `json:"name"` // without directory
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime"` // nanoseconds since 1970
}

// archiveFiles identifies archives. A file in a WACZ has the size and time of the WACZ.
func archiveFiles(paths []string) ([]archiveFile, error) {
	var files []archiveFile
	for _, path := range paths {
		info, err := os.Stat(path)
		for outer := path; err != nil && filepath.Dir(outer) != outer; info, err = os.Stat(outer) {
			outer = filepath.Dir(outer)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, archiveFile{filepath.Base(path), info.Size(), info.ModTime().UnixNano()})
	}
	return files, nil
}

// isFor reports whether the file belongs to the archives of want.
func (h *cacheHeader) isFor(want *cacheHeader) bool {
	return h.Version == want.Version && h.Capture == want.Capture && slices.Equal(h.Archives, want.Archives)
}

// cachePaths returns the files that may hold the links of archives, the preferred one first.
func cachePaths(first, cacheDir string) []string {
	all := []string{first + ".graph"}
	if full, err := filepath.Abs(first); err == nil && cacheDir != "" {
		sum := sha256.Sum256([]byte(full))
		all = append(all, filepath.Join(cacheDir, hex.EncodeToString(sum[:8])+"-"+filepath.Base(first)+".graph"))
	}
	return all
}

// cached loads the web from one of the paths. If none of them has it, cached calls read and
// saves the result at the first path that can be written. Of several processes one calls
// read, and the others wait for it.
func cached(paths []string, want cacheHeader, read func() (*archiveWeb, error)) (*archiveWeb, error) {
	load := func() *archiveWeb {
		for _, path := range paths {
			if a, err := loadCache(path, &want); err == nil {
				return a
			}
		}
		return nil
	}
	if a := load(); a != nil {
		return a, nil
	}
	for _, path := range paths {
		if unlock, err := lockFile(path + ".lock"); err == nil {
			defer unlock()
			break
		}
	}
	if a := load(); a != nil { // another process has read them meanwhile
		return a, nil
	}
	a, err := read()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if saveCache(path, want, a) == nil {
			break
		}
	}
	return a, nil
}

// lockFile creates and locks a file. Unlocking removes it.
func lockFile(name string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock.Wait(f); err != nil {
		f.Close()
		return nil, err
	}
	// A process that waits for a file that is removed reads the archives once more than
	// needed. That is harmless, for the result is replaced atomically.
	return func() { os.Remove(name); f.Close() }, nil
}

func saveCache(path string, header cacheHeader, a *archiveWeb) error {
	body := a.encode()
	header.Pages, header.Aliases, header.Links = a.pages.len(), a.aliases.len(), a.graph.NumLinks()
	header.Bytes, header.CRC32C = int64(len(body)), crc32.Checksum(body, castagnoli())
	line, err := json.Marshal(header)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s%s\n", cacheMagic, line)
		if err == nil {
			_, err = w.Write(body)
		}
		return err
	})
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// loadCache reads the file at path if it belongs to the archives of want.
func loadCache(path string, want *cacheHeader) (*archiveWeb, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	header, body, err := readHeader(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !header.isFor(want) {
		return nil, fmt.Errorf("%s is out of date", path)
	}
	a, err := decodeArchiveWeb(header, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

var errDamaged = errors.New("the file is damaged")

// readHeader reads the first line, and checks the length and checksum of the rest.
func readHeader(data []byte) (h *cacheHeader, body []byte, err error) {
	line, body, _ := bytes.Cut(data, []byte("\n"))
	text, ok := bytes.CutPrefix(line, []byte(cacheMagic))
	if !ok {
		return nil, nil, errors.New("not a cache of links")
	}
	h = new(cacheHeader)
	if err := json.Unmarshal(text, h); err != nil {
		return nil, nil, err
	}
	if h.Bytes != int64(len(body)) || h.CRC32C != crc32.Checksum(body, castagnoli()) {
		return nil, nil, errDamaged
	}
	return h, body, nil
}

func (a *archiveWeb) encode() []byte {
	var b []byte
	appendAddress := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for i := range a.pages.len() {
		appendAddress(a.pages.at(i))
	}
	for i := range a.aliases.len() {
		appendAddress(a.aliases.at(i))
		b = binary.AppendUvarint(b, uint64(a.targets[i]))
	}
	for i := range a.graph.Len() {
		row := a.graph.Links(int32(i))
		b = binary.AppendUvarint(b, uint64(len(row)))
		previous := int32(0)
		for _, to := range row {
			b = binary.AppendVarint(b, int64(to)-int64(previous))
			previous = to
		}
	}
	return b
}

// decodeArchiveWeb is the inverse of encode. The length of body bounds the memory it takes.
func decodeArchiveWeb(h *cacheHeader, body []byte) (*archiveWeb, error) {
	n := len(body) // every page, alias and link takes a byte or more
	if h.Pages < 0 || h.Pages > n || h.Aliases < 0 || h.Aliases > n || h.Links < 0 || h.Links > n {
		return nil, errDamaged
	}
	d := decoder{unread: body}
	a := &archiveWeb{targets: make([]int32, h.Aliases)}
	a.graph.Grow(h.Pages, h.Links)
	a.pages = d.addresses(h.Pages, func(int) {})
	a.aliases = d.addresses(h.Aliases, func(i int) { a.targets[i] = d.page(0, int64(d.uvarint()), h.Pages) })
	var row []int32
	for range h.Pages {
		row = row[:0]
		to := int32(0)
		for range d.atMost(h.Links - a.graph.NumLinks()) {
			to = d.page(to, d.varint(), h.Pages)
			row = append(row, to)
		}
		a.graph.Add(row)
	}
	if d.failed || len(d.unread) > 0 || a.graph.NumLinks() != h.Links {
		return nil, errDamaged
	}
	return a, nil
}

// A decoder reads numbers and addresses. After the first error it reads zeros.
type decoder struct {
	unread []byte
	failed bool
}

func (d *decoder) fail() {
	d.unread, d.failed = nil, true
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.unread)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.unread = d.unread[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.unread)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.unread = d.unread[n:]
	return v
}

// atMost reads a number that must not be above limit.
func (d *decoder) atMost(limit int) int {
	n := d.uvarint()
	if n > uint64(limit) {
		d.fail()
		return 0
	}
	return int(n)
}

// next returns the next n bytes.
func (d *decoder) next(n uint64) []byte {
	if n > uint64(len(d.unread)) {
		d.fail()
		return nil
	}
	b := d.unread[:n]
	d.unread = d.unread[n:]
	return b
}

// page returns the number of a page at the given distance from another.
func (d *decoder) page(from int32, distance int64, pages int) int32 {
	to := int64(from) + distance
	if to < 0 || to >= int64(pages) {
		d.fail()
		return 0
	}
	return int32(to)
}

// addresses reads n sorted addresses, and calls then after each.
func (d *decoder) addresses(n int, then func(i int)) addressList {
	var text []byte
	l := addressList{ends: make([]int, n)}
	start := 0 // of the previous address
	for i := range n {
		address := d.next(d.uvarint())
		if i > 0 && bytes.Compare(text[start:], address) >= 0 {
			d.fail()
		}
		if d.failed {
			break
		}
		start = len(text)
		text = append(text, address...)
		l.ends[i] = len(text)
		then(i)
	}
	l.text = string(text)
	return l
}
