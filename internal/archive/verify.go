package archive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What a [Finding] can be about.
const (
	KindFormat    = "format"    // torn, rubbish, a wrong length: the reader's faults
	KindEnd       = "end"       // not two empty lines behind a block
	KindMember    = "member"    // not one record a gzip member or zstd frame
	KindField     = "field"     // missing, or not what the standard makes of it
	KindDigest    = "digest"    // not that of the bytes
	KindDuplicate = "duplicate" // a record identifier that was there before
	KindReference = "reference" // to a record that is not there
	KindPackage   = "package"   // a WACZ that does not hold what it says
	KindLimit     = "limit"     // what was not checked
	KindName      = "name"      // of a file that nobody writes any more; of a [Repair] only
)

// A Finding is something that is wrong with an archive.
type Finding struct {
	File    string `json:"filename"`
	Offset  int64  `json:"offset"`
	Kind    string `json:"kind"`
	Warning bool   `json:"warning,omitempty"` // may be meant so, and loses nothing
	ID      string `json:"record_id,omitempty"`
	URL     string `json:"url,omitempty"`
	Detail  string `json:"detail"`
}

// Limits of a [Verifier]: about 40 MB for the identifiers.
const (
	maxIDs        = 1 << 20
	maxReferences = 1 << 17
)

// A Verifier checks archives against the standard (ISO 28500) and against what
// they say of themselves: that each record is whole and as long as it says, alone
// in its gzip member and followed by two empty lines; that the fields which every
// record must have are there, and mean something; that digests are right; and,
// over all archives, that no two records have the same identifier and that records
// which are referred to exist.
//
// Its memory does not grow with the archives, but for identifiers, of which it
// remembers the first million.
type Verifier struct {
	// Report is called for each finding, in the order of the files. References
	// come at the end, with [Verifier.Close].
	Report func(Finding)

	Verified

	seen    map[uint64]struct{} // identifiers
	missing map[uint64]Finding
	check   checker
	buf     []byte
}

// Verified counts what a [Verifier] saw.
type Verified struct {
	Records  int64
	Bytes    int64 // of the archives, as they are packed
	Faults   int64
	Warnings int64
	Mendable int64 // faults in WARC files that hold a record, which [RepairFile] takes

	Digests   int64 // that are right
	Chunked   int64 // payload digests that are of the body with its chunks
	Dechunked int64 // and those that are of the body without
	Unchecked int64 // records without any digest that could be checked
}

// File checks one archive, of which r begins with the first byte. An error is of
// reading, and final.
func (v *Verifier) File(name string, r io.Reader) error {
	if v.seen == nil {
		v.seen, v.missing = map[uint64]struct{}{}, map[uint64]Finding{}
	}
	reader, err := NewReader(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f := &verifiedFile{Verifier: v, name: name}
	faults := v.Faults
	for {
		rec, err := reader.Next()
		if err == nil {
			v.Records++
			err = f.record(rec)
		}
		switch fault, ok := errors.AsType[*FormatError](err); {
		case ok:
			f.report(Finding{Offset: fault.Offset, Kind: KindFormat, Detail: fault.Err.Error()})
		case err == io.EOF:
			f.settle()
			v.Bytes += reader.m.pos()
			if reader.m.dialect == warc {
				v.Mendable += v.Faults - faults
			}
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// Fault counts and reports the fault of an archive that was met before any record
// of it could be read. Any other error is returned.
func (v *Verifier) Fault(name string, err error) error {
	fault, ok := errors.AsType[*FormatError](err)
	if !ok {
		return err
	}
	f := &verifiedFile{Verifier: v, name: name}
	f.report(Finding{Offset: fault.Offset, Kind: KindFormat, Detail: fault.Err.Error()})
	return nil
}

// scratch is what is copied through.
func (v *Verifier) scratch() []byte {
	if v.buf == nil {
		v.buf = make([]byte, bufferSize)
	}
	return v.buf
}

// A verifiedFile is a file that is being checked.
type verifiedFile struct {
	*Verifier
	name   string
	member int64 // where the one begins that holds the last record
	shared int   // how many records it holds, if more than one
}

func (f *verifiedFile) report(x Finding) {
	x.File = f.name
	if x.Warning {
		f.Warnings++
	} else {
		f.Faults++
	}
	f.Report(x)
}

// record checks a record. The error is that of its end.
func (f *verifiedFile) record(rec *Record) error {
	about := Finding{Offset: rec.Offset, ID: rec.ID(), URL: rec.TargetURI()}
	find := func(kind string, warning bool, format string, args ...any) {
		x := about
		x.Kind, x.Warning, x.Detail = kind, warning, fmt.Sprintf(format, args...)
		f.report(x)
	}
	if rec.Offset != f.member {
		f.settle()
	}
	f.check.reset(rec.Header)
	if _, err := io.CopyBuffer(&f.check, onlyReader{rec}, f.scratch()); err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	end := rec.end()
	format, across := rec.r.m.format, rec.r.m.start != rec.Offset
	if err := rec.Close(); err != nil {
		return err
	}
	if end != nil && rec.Version != "ARC" {
		find(KindEnd, false, "%v", end)
	}
	if format != plain {
		f.member = rec.Offset
		if rec.Length == 0 {
			f.shared++
		} else if across {
			find(KindMember, false, "the record is spread over several %ss", rec.r.container())
		}
	}
	if rec.Version == "ARC" {
		f.Unchecked++ // an ARC file says nothing else of its records
		return nil
	}
	for _, x := range checkFields(rec) {
		find(KindField, x.warning, "%s", x.detail)
	}
	for _, err := range f.check.unknown {
		find(KindDigest, true, "%v", err)
	}
	f.digests(rec, find)
	f.identify(rec, about, find)
	return nil
}

// digests compares them.
func (f *verifiedFile) digests(rec *Record, find func(string, bool, string, ...any)) {
	wrong := f.check.wrong()
	for _, c := range wrong {
		cut := c.field == payloadDigest && rec.truncated() != ""
		find(KindDigest, cut, "%s is %.200s, but that is not what the record holds", c.field, c.text)
	}
	for _, c := range []*claim{f.check.block, f.check.payload} {
		if c != nil && !slices.Contains(wrong, c) {
			f.Digests++
		}
	}
	if !f.check.claims() {
		f.Unchecked++
	}
	switch form, ok := f.check.form(); {
	case ok && form == chunked:
		f.Chunked++
	case ok && form == dechunked:
		f.Dechunked++
	}
}

// settle reports the member that ends here, if it holds several records.
func (f *verifiedFile) settle() {
	if f.shared > 0 {
		f.report(Finding{Offset: f.member, Kind: KindMember,
			Detail: fmt.Sprintf("%d records in one member, where each should have its own", f.shared)})
	}
	f.shared = 0
}

// identify remembers the identifier of a record and what it refers to.
func (f *verifiedFile) identify(rec *Record, about Finding, find func(string, bool, string, ...any)) {
	if id := rec.ID(); id != "" {
		key := idKey(id)
		switch _, twice := f.seen[key]; {
		case twice:
			find(KindDuplicate, false, "there was a record with this identifier before")
		case len(f.seen) < maxIDs:
			f.seen[key] = struct{}{}
			if len(f.seen) == maxIDs {
				find(KindLimit, true, "identifiers from here on are compared with the first %d only", maxIDs)
			}
		}
		delete(f.missing, key)
	}
	for _, field := range []string{"WARC-Concurrent-To", "WARC-Refers-To"} {
		for _, id := range rec.Header.Values(field) {
			key := idKey(id)
			_, known := f.seen[key]
			if _, waits := f.missing[key]; known || waits || len(f.missing) >= maxReferences {
				continue
			}
			x := about
			x.File, x.Kind, x.Warning = f.name, KindReference, true
			x.Detail = fmt.Sprintf("%s %.200s: there is no such record", field, id)
			f.missing[key] = x
		}
	}
}

// idKey stands for an identifier. 64 bits of a hash that cannot be steered are
// enough for a million of them.
func idKey(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// Close reports references to records that none of the files holds. They are
// warnings: what is referred to may be in another archive.
func (v *Verifier) Close() {
	all := slices.SortedFunc(maps.Values(v.missing), func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Detail, b.Detail))
	})
	for _, x := range all {
		v.Warnings++
		v.Report(x)
	}
}

// end tells what is wrong with the end of a record whose block has been read.
func (r *Record) end() error {
	if r.short != nil || r.left > 0 {
		return nil // there is none, as Close will tell
	}
	b, _ := r.r.out.Peek(len(blockEnd) + 1)
	switch n := len(b) - len(bytes.TrimLeft(b, "\r\n")); {
	case !bytes.HasPrefix(b, []byte(blockEnd)):
		return fmt.Errorf("behind the block are %q instead of two empty lines", b[:min(n, len(blockEnd))])
	case n > len(blockEnd):
		return errors.New("behind the block are more than two empty lines")
	}
	return nil
}

// blockEnd follows every block.
const blockEnd = "\r\n\r\n"

// A fieldFault is what is wrong with the header of a record.
type fieldFault struct {
	field   string
	warning bool
	detail  string
}

// checkFields checks the header of a record.
func checkFields(rec *Record) (faults []fieldFault) {
	h := rec.Header
	fault := func(field string, warning bool, format string, args ...any) {
		faults = append(faults, fieldFault{field, warning, fmt.Sprintf(format, args...)})
	}
	switch rec.Version {
	case "1.0", "1.1", "0.17", "0.18":
	default:
		fault("", true, "version %.40q is not known here", rec.Version)
	}
	kind := rec.Type()
	if kind == "" {
		fault("WARC-Type", false, "no WARC-Type")
	}
	switch id := rec.ID(); {
	case id == "":
		fault("WARC-Record-ID", false, "no WARC-Record-ID")
	case len(id) < 3 || id[0] != '<' || id[len(id)-1] != '>' || !strings.Contains(id, ":"):
		fault("WARC-Record-ID", true, "WARC-Record-ID %.200q is no URI in angle brackets", id)
	}
	if date := h.Get("WARC-Date"); date == "" {
		fault("WARC-Date", false, "no WARC-Date")
	} else if _, ok := parseDate(date); !ok {
		fault("WARC-Date", false, "WARC-Date %.100q is no date (hint: 2026-01-31T12:00:00Z)", date)
	}
	switch kind {
	case "response", "request", "resource", "revisit", "conversion", "continuation":
		if uri := h.Get("WARC-Target-URI"); uri == "" {
			fault("WARC-Target-URI", true, "a %s without WARC-Target-URI", kind)
		} else if uri != rec.TargetURI() {
			fault("WARC-Target-URI", true, "WARC-Target-URI in angle brackets")
		}
	}
	if kind == "revisit" && h.Get("WARC-Profile") == "" {
		fault("WARC-Profile", true, "a revisit without WARC-Profile")
	}
	if n := h.Values("Content-Length"); len(n) > 1 {
		fault("Content-Length", true, "Content-Length is there %s times", strconv.Itoa(len(n)))
	}
	return faults
}
