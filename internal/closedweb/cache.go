package closedweb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"spoor/internal/archive"
	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// The links of archives are kept in a file in the cache directory: a [cacheHeader] and a [cacheBody],
// each encoded by package gob, and the CRC-32C of both (32 bits, little-endian). The file is stale if
// its archives have changed. It is replaced atomically.

// cacheVersion is increased when the format of the cache changes, or when parse finds other
// links in the same pages.
const cacheVersion = 5

// A cacheHeader says what the cache belongs to.
type cacheHeader struct {
	Version  int
	Capture  string // which of several captures is used
	Archives []archiveFile
}

// A cacheBody is the rest of the cache.
type cacheBody struct {
	Pages   []string // addresses, sorted
	Aliases []string // addresses, sorted
	Targets []int32  // the page of each alias
	Degrees []int32  // the number of links of each page
	Links   []int32  // the links of all pages, in the order of Pages
}

// An archiveFile identifies a version of an archive by its size and modification time.
type archiveFile struct {
	Name     string // without directory
	Size     int64
	Modified int64 // nanoseconds since 1970
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

// cachePath returns the file that may hold the links of archives, or "" if there is no cache
// directory.
func cachePath(first, cacheDir string) string {
	full, err := filepath.Abs(first)
	if err != nil || cacheDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(full))
	return filepath.Join(cacheDir, hex.EncodeToString(sum[:8])+"-"+filepath.Base(first)+".graph")
}

// cached loads the web from the cache at path. If it is not there, cached calls read and saves the
// result, if the file can be written. If several processes do this at the same time, one of them
// calls read, and the others wait for it.
func cached(path string, want cacheHeader, read func() (*archiveWeb, error)) (*archiveWeb, error) {
	if path == "" {
		return read()
	}
	if a, err := loadCache(path, &want); err == nil {
		archive.MarkUsed(path)
		return a, nil
	}
	if unlock, err := lockFile(path + ".lock"); err == nil {
		defer unlock()
	}
	if a, err := loadCache(path, &want); err == nil { // another process has read the archives in the meantime
		return a, nil
	}
	a, err := read()
	if err == nil {
		saveCache(path, want, a) // otherwise the archives are read again
	}
	return a, err
}

// lockFile creates and locks a file. Unlocking removes it.
func lockFile(name string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	f, err := atomicfile.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock.Wait(f); err != nil {
		f.Close()
		return nil, err
	}
	// Two processes can lock different files of this name, one of them removed: then both read the
	// archives. That is harmless, because the cache is replaced atomically.
	return func() { os.Remove(name); f.Close() }, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func saveCache(path string, header cacheHeader, a *archiveWeb) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(header); err != nil {
		return err
	}
	body, err := a.encode()
	if err != nil {
		return err
	}
	b.Write(body)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path) // opening a pipe would block
	}
	return atomicfile.WriteBytes(path, binary.LittleEndian.AppendUint32(b.Bytes(), crc32.Checksum(b.Bytes(), castagnoli)))
}

// maxCache is the maximum size of the cache in bytes: about 400 million links.
const maxCache = 2 << 30

var errDamaged = errors.New("the file is damaged")

// loadCache reads the cache at path, if it belongs to the archives of want.
func loadCache(path string, want *cacheHeader) (*archiveWeb, error) {
	data, err := atomicfile.ReadFile(path, maxCache)
	if err != nil {
		return nil, err
	}
	end := len(data) - crc32.Size
	if end < 0 || binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], castagnoli) {
		return nil, fmt.Errorf("%s: %w", path, errDamaged)
	}
	body := bytes.NewReader(data[:end])
	var h cacheHeader
	if err := gob.NewDecoder(body).Decode(&h); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if h.Version != want.Version || h.Capture != want.Capture || !slices.Equal(h.Archives, want.Archives) {
		return nil, fmt.Errorf("%s is out of date", path)
	}
	a, err := decodeArchiveWeb(data[end-body.Len() : end])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

func (a *archiveWeb) encode() ([]byte, error) {
	body := cacheBody{Targets: a.targets}
	for i := range a.pages.len() {
		links := a.graph.Links(int32(i))
		body.Pages = append(body.Pages, a.pages.at(i))
		body.Degrees = append(body.Degrees, int32(len(links)))
		body.Links = append(body.Links, links...)
	}
	for i := range a.aliases.len() {
		body.Aliases = append(body.Aliases, a.aliases.at(i))
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(body)
	return b.Bytes(), err
}

// decodeArchiveWeb is the inverse of encode.
func decodeArchiveWeb(data []byte) (*archiveWeb, error) {
	var body cacheBody
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&body); err != nil {
		return nil, err
	}
	isPage := func(n int32) bool { return n >= 0 && int(n) < len(body.Pages) }
	if !isAddressList(body.Pages) || !isAddressList(body.Aliases) || len(body.Degrees) != len(body.Pages) ||
		len(body.Targets) != len(body.Aliases) || !all(body.Targets, isPage) || !all(body.Links, isPage) {
		return nil, errDamaged
	}
	a := &archiveWeb{pages: newAddressList(body.Pages), aliases: newAddressList(body.Aliases), targets: body.Targets}
	a.graph.Grow(len(body.Pages), len(body.Links))
	links := body.Links
	for _, n := range body.Degrees {
		if n < 0 || int(n) > len(links) {
			return nil, errDamaged
		}
		a.graph.Add(links[:n])
		links = links[n:]
	}
	if len(links) > 0 {
		return nil, errDamaged
	}
	return a, nil
}

// isAddressList reports whether addresses are sorted and without duplicates.
func isAddressList(addresses []string) bool {
	for i := range addresses {
		if i > 0 && addresses[i-1] >= addresses[i] {
			return false
		}
	}
	return true
}

func all(list []int32, valid func(int32) bool) bool {
	return !slices.ContainsFunc(list, func(n int32) bool { return !valid(n) })
}
