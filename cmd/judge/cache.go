package main

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

// The links of archives are kept in one file, for it takes long to read them: beside
// the first of the archives as its name with .graph behind it, or in the cache. Its
// first line is "!graph " and an object that says what it is of; it is stale when that
// has changed. Then come, all in uvarints and varints of encoding/binary,
//
//	pages      length and bytes of each address, in order
//	aliases    length and bytes of each address, in order, and the page
//	links      of each page how many, and each as its distance from the one before
//
// It is written under another name, synced, and renamed.
const graphMark = "!graph "

// graphVersion goes up when the links of the same archives would be others: with this
// file's format, and with what parse takes for a link.
const graphVersion = 1

// A graphHeader is the first line.
type graphHeader struct {
	Version  int           `json:"spoor-graph"`
	Capture  string        `json:"capture"` // which of several counts
	Archives []archiveFile `json:"archives"`
	Pages    int           `json:"pages"`
	Aliases  int           `json:"aliases"`
	Links    int           `json:"links"`
	Bytes    int64         `json:"bytes"`  // behind this line
	CRC32C   uint32        `json:"crc32c"` // of these
}

// An archiveFile tells by size and time whether an archive has changed, as its index does.
type archiveFile struct {
	Name     string `json:"name"` // without directory
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime"` // nanoseconds since 1970
}

// archiveFiles describes archives. That of a file in a WACZ is the WACZ.
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

// isOf tells whether two headers are of the same archives.
func (h *graphHeader) isOf(want *graphHeader) bool {
	return h.Version == want.Version && h.Capture == want.Capture && slices.Equal(h.Archives, want.Archives)
}

// places are where the links of archives may be kept, the best first.
func places(first, cache string) []string {
	all := []string{first + ".graph"}
	if full, err := filepath.Abs(first); err == nil && cache != "" {
		sum := sha256.Sum256([]byte(full))
		all = append(all, filepath.Join(cache, hex.EncodeToString(sum[:8])+"-"+filepath.Base(first)+".graph"))
	}
	return all
}

// cached is the links as they are kept in one of the places, or as read reads them,
// which are then kept in the first place where they can be. Of several processes that
// want to read one does, and the others wait.
func cached(places []string, want graphHeader, read func() (*linked, error)) (*linked, error) {
	kept := func() *linked {
		for _, path := range places {
			if g, err := loadLinks(path, &want); err == nil {
				return g
			}
		}
		return nil
	}
	if g := kept(); g != nil {
		return g, nil
	}
	for _, path := range places {
		if unlock, err := hold(path + ".lock"); err == nil {
			defer unlock()
			break
		}
	}
	if g := kept(); g != nil { // it was somebody else's turn
		return g, nil
	}
	g, err := read()
	if err != nil {
		return nil, err
	}
	for _, path := range places {
		if saveLinks(path, want, g) == nil {
			break
		}
	}
	return g, nil
}

// hold locks a file, which is made for it and removed when it is not needed any more.
func hold(name string) (unlock func(), err error) {
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
	// Who waits for a file that is removed does twice what needs doing once; no harm
	// comes of that, for files are renamed into place.
	return func() { os.Remove(name); f.Close() }, nil
}

// saveLinks writes the file at path.
func saveLinks(path string, header graphHeader, g *linked) error {
	body := encodeLinks(g)
	header.Pages, header.Aliases, header.Links = g.pages.len(), g.aliases.len(), len(g.links)
	header.Bytes, header.CRC32C = int64(len(body)), crc32.Checksum(body, castagnoli())
	line, err := json.Marshal(header)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s%s\n", graphMark, line)
		if err == nil {
			_, err = w.Write(body)
		}
		return err
	})
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// loadLinks reads the file at path if it is that of the archives.
func loadLinks(path string, want *graphHeader) (*linked, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	header, body, err := graphHeaderOf(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !header.isOf(want) {
		return nil, fmt.Errorf("%s is out of date", path)
	}
	g, err := decodeLinks(header, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

// errDamaged is a file that is not as it was written.
var errDamaged = errors.New("the file is damaged")

// graphHeaderOf reads the first line, and checks what is behind it.
func graphHeaderOf(data []byte) (*graphHeader, []byte, error) {
	line, body, _ := bytes.Cut(data, []byte("\n"))
	text, ok := bytes.CutPrefix(line, []byte(graphMark))
	if !ok {
		return nil, nil, errors.New("no links of archives are kept in it")
	}
	h := new(graphHeader)
	if err := json.Unmarshal(text, h); err != nil {
		return nil, nil, err
	}
	if h.Bytes != int64(len(body)) || h.CRC32C != crc32.Checksum(body, castagnoli()) {
		return nil, nil, errDamaged
	}
	return h, body, nil
}

func encodeLinks(g *linked) []byte {
	var b []byte
	appendAddress := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for i := range g.pages.len() {
		appendAddress(g.pages.at(i))
	}
	for i := range g.aliases.len() {
		appendAddress(g.aliases.at(i))
		b = binary.AppendUvarint(b, uint64(g.targets[i]))
	}
	for i := range g.ends {
		row := g.row(i)
		b = binary.AppendUvarint(b, uint64(len(row)))
		before := int32(0)
		for _, to := range row {
			b = binary.AppendVarint(b, int64(to)-int64(before))
			before = to
		}
	}
	return b
}

// decodeLinks reads what encodeLinks wrote, in memory that the length of body bounds.
func decodeLinks(h *graphHeader, body []byte) (*linked, error) {
	n := len(body) // every page, alias and link takes a byte or more
	if h.Pages < 0 || h.Pages > n || h.Aliases < 0 || h.Aliases > n || h.Links < 0 || h.Links > n {
		return nil, errDamaged
	}
	d := decoder{rest: body}
	g := &linked{targets: make([]int32, h.Aliases), ends: make([]int, h.Pages), links: make([]int32, 0, h.Links)}
	g.pages = d.list(h.Pages, func(int) {})
	g.aliases = d.list(h.Aliases, func(i int) { g.targets[i] = d.page(0, int64(d.uvarint()), h.Pages) })
	for i := range g.ends {
		to := int32(0)
		for range d.length(h.Links - len(g.links)) {
			to = d.page(to, d.varint(), h.Pages)
			g.links = append(g.links, to)
		}
		g.ends[i] = len(g.links)
	}
	if d.bad || len(d.rest) > 0 || len(g.links) != h.Links {
		return nil, errDamaged
	}
	return g, nil
}

// A decoder reads numbers and addresses. Once something was wrong it reads zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) fail() {
	d.rest, d.bad = nil, true
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// length is a number that is not above most.
func (d *decoder) length(most int) int {
	n := d.uvarint()
	if n > uint64(most) {
		d.fail()
		return 0
	}
	return int(n)
}

// bytes are the next n.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// page is the number of a page that is so far from another.
func (d *decoder) page(from int32, distance int64, pages int) int32 {
	to := int64(from) + distance
	if to < 0 || to >= int64(pages) {
		d.fail()
		return 0
	}
	return int32(to)
}

// list reads n addresses in order, and has more read behind each.
func (d *decoder) list(n int, more func(i int)) list {
	var text []byte
	l := list{ends: make([]int, n)}
	start := 0 // of the address before
	for i := range n {
		address := d.bytes(d.uvarint())
		if i > 0 && bytes.Compare(text[start:], address) >= 0 {
			d.fail()
		}
		if d.bad {
			break
		}
		start = len(text)
		text = append(text, address...)
		l.ends[i] = len(text)
		more(i)
	}
	l.text = string(text)
	return l
}
