package archive

import (
	ziparchive "archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	descriptionName = "datapackage.json"
	descriptionSum  = "datapackage-digest.json"

	// maxDescription limits the description of a WACZ in bytes.
	maxDescription = 16 << 20
)

// Package checks the WACZ at path against its description: the listed files must exist with the
// size and digest in the description, and all archives must be listed. Package does nothing if path
// is a file of another format, or a file inside a WACZ.
func (v *Verifier) Package(path string) error {
	if _, inner := containerOf(path); inner != "" {
		return nil
	}
	if _, special := specialMode(path); special {
		return nil
	}
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var head [4]byte
	if n, _ := f.ReadAt(head[:], 0); !isZip(head[:n]) {
		return nil
	}
	a := &allowance{f, maxDirectory}
	z, err := ziparchive.NewReader(a, info.Size())
	if err != nil && !errors.Is(err, ziparchive.ErrInsecurePath) {
		return nil // the fault is reported when the archives are read
	}
	a.left = math.MaxInt64
	c := &packageCheck{file: &verifiedFile{Verifier: v, name: path}, left: info.Size(), entries: map[string]*ziparchive.File{}}
	for _, e := range z.File {
		if c.entries[e.Name] == nil {
			c.entries[e.Name] = e
		}
	}
	c.run()
	return nil
}

// A packageCheck holds the state of one call of Package.
type packageCheck struct {
	file    *verifiedFile
	entries map[string]*ziparchive.File
	left    int64 // number of compressed bytes that may still be read: each file is read once
}

func (c *packageCheck) fault(format string, args ...any) {
	c.file.report(Finding{Kind: KindPackage, Detail: fmt.Sprintf(format, args...)})
}

func (c *packageCheck) run() {
	text, ok := c.text(descriptionName)
	if !ok {
		return
	}
	var about struct{ Resources []resource }
	if err := json.Unmarshal(text, &about); err != nil {
		c.fault("%s is no description: %v", descriptionName, err)
		return
	}
	listed := map[string]bool{}
	for _, r := range about.Resources {
		if listed[r.Path] {
			c.fault("%.200q is listed twice", r.Path)
			continue
		}
		listed[r.Path] = true
		c.resource(r)
	}
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		if archive, ok := strings.CutPrefix(name, waczArchives); ok && isPlainName(archive) && !listed[name] {
			c.fault("%.200q is not listed in %s", name, descriptionName)
		}
	}
	if c.entries[descriptionSum] == nil {
		return // it is optional
	}
	text, ok = c.text(descriptionSum)
	if !ok {
		return
	}
	var sum resource
	if err := json.Unmarshal(text, &sum); err != nil || sum.Path != descriptionName {
		c.fault("%s is not the digest of %s", descriptionSum, descriptionName)
		return
	}
	c.digest(descriptionName, sum.Hash, -1)
}

// text returns the content of a short file of the package.
func (c *packageCheck) text(name string) ([]byte, bool) {
	r, err := c.open(name)
	if err != nil {
		c.fault("%v", err)
		return nil, false
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxDescription+1))
	switch {
	case err != nil:
		c.fault("%s: %v", name, err)
	case len(b) > maxDescription:
		c.fault("%s has more than %d bytes", name, maxDescription)
	default:
		return b, true
	}
	return nil, false
}

func (c *packageCheck) open(name string) (io.ReadCloser, error) {
	e := c.entries[name]
	if e == nil {
		return nil, fmt.Errorf("%.200q is not there", name)
	}
	if e.CompressedSize64 > uint64(c.left) {
		return nil, fmt.Errorf("%.200q overlaps other files", name)
	}
	r, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%.200q: %w", name, err)
	}
	return r, nil
}

func (c *packageCheck) resource(r resource) {
	c.digest(r.Path, r.Hash, r.Bytes)
	if e := c.entries[r.Path]; e != nil {
		c.left = max(0, c.left-int64(min(e.CompressedSize64, math.MaxInt64)))
	}
}

// digest compares a file with its digest. If the length is not negative, it compares that too.
func (c *packageCheck) digest(name, hash string, length int64) {
	claim, err := parseClaim("hash", hash)
	if err != nil {
		c.fault("%.200q: %v", name, err)
		return
	}
	r, err := c.open(name)
	if err != nil {
		c.fault("%v", err)
		return
	}
	defer r.Close()
	sum := claim.make()
	n, err := io.CopyBuffer(onlyWriter{sum}, onlyReader{r}, c.file.scratch())
	switch {
	case err != nil:
		c.fault("%.200q: %v", name, err)
	case length >= 0 && n != length:
		c.fault("%.200q has %d bytes, not the %d of its description", name, n, length)
	case !claim.is(sum):
		c.fault("%.200q has not the digest %.200s of its description", name, hash)
	default:
		c.file.Digests++
	}
}
