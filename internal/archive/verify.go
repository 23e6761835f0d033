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
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/internal/message"
	"spoor/internal/terminal"
)

// Kinds of [Finding] and [Repair].
const (
	KindFormat    = "format"    // truncated record, data that is not a record, wrong length
	KindEnd       = "end"       // a block is not followed by two empty lines
	KindMember    = "member"    // a gzip member or zstd frame does not contain exactly one record
	KindField     = "field"     // a field is missing or malformed
	KindDigest    = "digest"    // a digest does not match the data
	KindStatus    = "status"    // the status of an HTTP response is invalid
	KindDuplicate = "duplicate" // a record has the identifier of an earlier record
	KindReference = "reference" // a field refers to a record that does not exist
	KindPackage   = "package"   // a WACZ does not match its description
	KindIndex     = "index"     // the index beside an archive does not match the archive
	KindLimit     = "limit"     // something was not checked, because of a limit
	KindName      = "name"      // a file is named .open, but no longer being written; only in a [Repair]
)

// A Finding is a fault of an archive.
type Finding struct {
	File    string `json:"filename"`
	Offset  int64  `json:"offset"`
	Kind    string `json:"kind"`
	Warning bool   `json:"warning,omitempty"` // the fault may be intended, and no data is lost
	ID      string `json:"record_id,omitempty"`
	URL     string `json:"url,omitempty"`
	Detail  string `json:"detail"`

	field string // the field that the finding is about; may be empty
}

// String returns the finding as a line, with control characters escaped.
func (f Finding) String() string {
	kind, url := f.Kind, f.URL
	if f.Warning {
		kind += " (warning)"
	}
	if url != "" {
		url = " [" + url + "]"
	}
	return fmt.Sprintf("%s:%d: %s: %s%s", terminal.Line(f.File), f.Offset, kind, terminal.Line(f.Detail), terminal.Line(url))
}

// A FindingLimit limits how many findings and repairs of the kind [KindFormat] are printed. A
// malicious file may have one every few bytes; the number of findings of other kinds is limited by
// the number of records. It also limits warnings, because a program that writes invalid fields may cause
// one per record. The zero value is ready for use.
type FindingLimit struct {
	n        map[string]int
	warnings []similarWarnings
}

const (
	maxFormatFindings  = 1000
	maxSimilarWarnings = 3 // of a file
)

// similarWarnings counts the warnings of a file about the same field.
type similarWarnings struct {
	file, kind, field string
	n                 int
}

// AllowWarning reports whether a warning is to be printed: one of the first of its kind in the file.
func (l *FindingLimit) AllowWarning(f *Finding) bool {
	i := slices.IndexFunc(l.warnings, func(w similarWarnings) bool {
		return w.file == f.File && w.kind == f.Kind && w.field == f.field
	})
	if i < 0 {
		i = len(l.warnings)
		l.warnings = append(l.warnings, similarWarnings{f.File, f.Kind, f.field, 0})
	}
	l.warnings[i].n++
	return l.warnings[i].n <= maxSimilarWarnings
}

// Omitted returns a line for each kind of warnings that AllowWarning did not allow since the last call.
func (l *FindingLimit) Omitted() (lines []string) {
	for _, w := range l.warnings {
		if more := w.n - maxSimilarWarnings; more > 0 {
			about := ""
			if w.field != "" {
				about = " about " + w.field
			}
			lines = append(lines, fmt.Sprintf("%s: %s (warning): … and %d more of this kind%s", terminal.Line(w.file), w.kind, more, about))
		}
	}
	l.warnings = l.warnings[:0]
	return lines
}

// Allow reports whether a finding is to be printed. It adds a note to the last printed finding that
// further findings are omitted.
func (l *FindingLimit) Allow(file, kind string, detail *string) bool {
	if kind != KindFormat {
		return true
	}
	if l.n == nil {
		l.n = map[string]int{}
	}
	l.n[file]++
	if l.n[file] == maxFormatFindings+1 {
		*detail = "this and more such faults of the file are counted, but not printed"
	}
	return l.n[file] <= maxFormatFindings+1
}

// Limits of a [Verifier]. At these limits it uses about 150 MB of memory.
const (
	maxIDs        = 1 << 20 // of identifiers, and of captures
	maxReferences = 1 << 17 // of identifiers, and of originals
)

// A Verifier checks archives against ISO 28500: records are complete, have the length that they
// claim and a gzip member or zstd frame of their own, and are followed by two empty lines;
// mandatory fields are present and well-formed; digests are correct; HTTP responses have a valid
// status. Across all archives, it checks that record identifiers are unique and that referenced
// records and the originals of revisits exist.
//
// It keeps the first million identifiers and captures; otherwise its memory does not depend on the archives.
type Verifier struct {
	// Report is called for each finding, in the order of the files. References are
	// reported by [Verifier.Close].
	Report func(Finding)

	Verified

	files   []string           // names of the files so far
	seen    map[uint64]idPlace // by hash of the identifier
	missing map[uint64]Finding // references to unknown records, by hash of the identifier
	originals
	check checker
	buf   []byte
}

// Verified counts what a [Verifier] has read and found.
type Verified struct {
	Records    int64
	Bytes      int64 // compressed size of the archives
	Faults     int64
	Warnings   int64
	Repairable int64 // faults in WARC files, outside of WACZ files

	Digests   int64 // digests that are correct
	Chunked   int64 // payload digests of the body with its chunks
	Dechunked int64 // payload digests of the body without its chunks
	Unchecked int64 // records without any digest that could be checked
}

// Archive checks the archive at path and the index beside it, or input if path is [Input]. In a WACZ
// it checks the description and the archives inside. It returns an error only if reading fails;
// faults are passed to Report.
func (v *Verifier) Archive(path string, input io.Reader) error {
	if path != Input {
		if err := v.Package(path); err != nil {
			return err
		}
	}
	for volume, err := range Volumes([]string{path}, input) {
		if err == nil {
			before := v.Verified
			if err = v.File(volume.Path, volume.Data); volume.Path != path {
				v.Repairable = before.Repairable // a WACZ cannot be repaired
			}
			if err == nil && v.Records == before.Records && v.Faults == before.Faults && !strings.HasSuffix(path, openSuffix) {
				f := &verifiedFile{Verifier: v, name: volume.Path}
				f.report(Finding{Kind: KindFormat, Detail: "no record"})
			}
		} else if fault, ok := errors.AsType[*FormatError](err); ok {
			f := &verifiedFile{Verifier: v, name: volume.Path}
			f.report(Finding{Offset: fault.Offset, Kind: KindFormat, Detail: fault.Err.Error()})
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if path == Input {
		return nil
	}
	return v.index(path)
}

// index checks the index beside an archive. It ignores an index that is out of date, because such an
// index is rebuilt before use.
func (v *Verifier) index(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // a file inside a WACZ
	}
	f := &verifiedFile{Verifier: v, name: path + indexSuffix}
	report := func(detail string) {
		f.report(Finding{Kind: KindIndex, Detail: detail + "; remove it, and build it again with warc index -w " + path})
	}
	x, err := openIndex(f.name, info)
	if errors.Is(err, ErrIndexDamaged) {
		report("the index is damaged")
		return nil
	}
	if err != nil {
		return nil //nolint:nilerr // there is no index, or it is out of date
	}
	defer x.Close()
	temp, err := os.MkdirTemp("", "warc-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	want, err := buildIndex(path, filepath.Join(temp, "index"), info, nil)
	if err != nil {
		return fmt.Errorf("building an index to compare with %s: %w", f.name, err)
	}
	defer want.Close()
	lacks, extra, ok := compareLines(want, x)
	switch {
	case !ok:
		report("the index was truncated while it was read")
	case lacks > 0 || extra > 0:
		report(fmt.Sprintf("the index lacks %d of %d lines, and has %d that the archive does not have", lacks, want.Meta.Captures, extra))
	}
	return nil
}

// compareLines returns how many lines of want are missing in another index, and how many other lines that
// index has. ok is false if a file was truncated meanwhile.
func compareLines(want, index *Index) (lacks, extra int, ok bool) {
	ok = true
	defer recoverFault(&ok)()
	a, b := want.data[want.first:], index.data[index.first:]
	for len(a) > 0 || len(b) > 0 {
		i, j := lineEnd(a, 0), lineEnd(b, 0)
		order := bytes.Compare(a[:i], b[:j])
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		}
		if order <= 0 {
			a = a[min(i+1, len(a)):]
		}
		if order >= 0 {
			b = b[min(j+1, len(b)):]
		}
		switch {
		case order < 0:
			lacks++
		case order > 0:
			extra++
		}
	}
	return lacks, extra, ok
}

// File checks a WARC or ARC file. It returns an error only if reading fails.
func (v *Verifier) File(name string, r io.Reader) error {
	if v.seen == nil {
		v.seen, v.missing, v.captures = map[uint64]idPlace{}, map[uint64]Finding{}, map[uint64]struct{}{}
	}
	reader, err := NewReader(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f := &verifiedFile{Verifier: v, name: name, number: len(v.files)}
	v.files = append(v.files, name)
	faults := v.Faults
	for {
		rec, err := reader.Next()
		if err == nil {
			v.Records++
			err = f.record(rec)
		}
		switch fault, ok := errors.AsType[*FormatError](err); {
		case ok:
			x := Finding{Offset: fault.Offset, Kind: KindFormat, Detail: fault.Err.Error()}
			if rec != nil {
				x.ID, x.URL = rec.ID(), rec.TargetURI()
			}
			f.report(x)
		case err == io.EOF:
			f.endMember()
			v.Bytes += reader.m.pos()
			if reader.m.dialect == warc {
				v.Repairable += v.Faults - faults - f.invalidStatuses
			}
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// scratch returns a buffer for copying.
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
	number int   // index in Verifier.files
	member int64 // offset of the member that contains the last record
	shared int   // number of records in this member, if more than one

	invalidStatuses int64 // number of invalid statuses, which cannot be repaired
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

// record checks a record. It returns the error of Close.
func (f *verifiedFile) record(rec *Record) error {
	about := Finding{Offset: rec.Offset, ID: rec.ID(), URL: rec.TargetURI()}
	find := func(kind string, warning bool, format string, args ...any) {
		x := about
		x.Kind, x.Warning, x.Detail = kind, warning, fmt.Sprintf(format, args...)
		f.report(x)
	}
	if rec.Offset != f.member {
		f.endMember()
	}
	f.check.reset(rec.Header)
	if _, err := io.CopyBuffer(&f.check, onlyReader{rec}, f.scratch()); err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	if err := rec.Close(); err != nil {
		return err
	}
	if end := rec.checkEnd(); end != nil && rec.Version != "ARC" {
		find(KindEnd, false, "%v", end)
	}
	if rec.r.m.format != plain {
		f.member = rec.Offset
		if rec.Length == 0 {
			f.shared++
		} else if rec.spread {
			find(KindMember, true, "the record is spread over several %ss", rec.r.container())
		}
	}
	f.checkStatus(rec, find)
	f.originals.add(rec, f.name, f.check.status)
	if rec.Version == "ARC" {
		f.Unchecked++ // the record has neither digests nor identifiers
		return nil
	}
	for _, x := range checkRecord(rec, &f.check) {
		about.field = x.field
		find(x.kind, x.warning, "%s", x.detail)
	}
	about.field = recordID
	f.checkUnique(rec.ID(), find)
	f.countDigests()
	f.references(rec, about, find)
	return nil
}

// An idPlace is the position of a record in one of several files.
type idPlace struct {
	file   int // index in Verifier.files
	offset int64
}

// checkUnique reports an identifier that an earlier record has. In another file that is a warning: the same
// description of a crawl begins each of its files, and parts of archives are copied.
func (f *verifiedFile) checkUnique(id string, find func(string, bool, string, ...any)) {
	before, known := f.seen[idKey(id)]
	switch {
	case id == "" || !known:
	case before.file == f.number:
		find(KindDuplicate, false, "the record at byte %d has the same identifier", before.offset)
	default:
		find(KindDuplicate, true, "the record at byte %d of %s has the same identifier", before.offset, f.files[before.file])
	}
}

// checkStatus checks the status of an HTTP response. It accepts 101, because that ends an exchange,
// unlike other interim responses, and because there are archives of WebSockets.
func (f *verifiedFile) checkStatus(rec *Record, find func(string, bool, string, ...any)) {
	kind, media := rec.Type(), message.MediaType(rec.Header.Get("Content-Type"))
	if kind != "response" && kind != "revisit" || rec.Version != "ARC" && media != "application/http" {
		return
	}
	if f.check.http { // the header does not end
		f.check.status = parseHead(f.check.head).StatusCode
	}
	if f.check.status >= 200 {
		return
	}
	line := message.StatusLine(f.check.head)
	_, status, _ := bytes.Cut(line, []byte(" "))
	isSwitch := bytes.HasPrefix(bytes.TrimLeft(status, " "), []byte("101 "))
	if !isSwitch {
		f.invalidStatuses++
	}
	find(KindStatus, isSwitch, "the response begins with %.40q, whose status is not 200 to 999", line)
}

func (f *verifiedFile) countDigests() {
	claims := f.check.claims()
	f.Digests += int64(claims - len(f.check.wrong()))
	if claims == 0 {
		f.Unchecked++
	}
	switch form, ok := f.check.form(); {
	case ok && form == chunked:
		f.Chunked++
	case ok && form == dechunked:
		f.Dechunked++
	}
}

// endMember reports the current member if it contains several records.
func (f *verifiedFile) endMember() {
	if f.shared > 0 {
		f.report(Finding{Offset: f.member, Kind: KindMember,
			Detail: fmt.Sprintf("%d records in one member, where each should have its own", f.shared)})
	}
	f.shared = 0
}

// references stores the identifier of a record, and its references to unknown records.
func (f *verifiedFile) references(rec *Record, about Finding, find func(string, bool, string, ...any)) {
	if id := rec.ID(); id != "" {
		key := idKey(id)
		if _, known := f.seen[key]; !known && len(f.seen) < maxIDs {
			f.seen[key] = idPlace{f.number, about.Offset}
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
			x.File, x.Kind, x.field, x.Warning = f.name, KindReference, field, true
			x.Detail = fmt.Sprintf("%s %.200s: there is no such record", field, id)
			f.missing[key] = x
		}
	}
}

// idKey returns a hash of an identifier. An attacker cannot cause collisions, and they are unlikely
// among a million identifiers.
func idKey(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// Close reports references to records that are in none of the files. These findings are warnings,
// because the records may be in other archives.
func (v *Verifier) Close() {
	all := slices.AppendSeq(v.originals.missing(), maps.Values(v.missing))
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Detail, b.Detail))
	})
	for _, x := range all {
		v.Warnings++
		v.Report(x)
	}
}

// blockEnd follows each block.
const blockEnd = "\r\n\r\n"

// checkEnd returns the fault of the end of a record that was closed without an error, or nil.
func (r *Record) checkEnd() error {
	switch {
	case !bytes.HasPrefix(r.end, []byte(blockEnd)):
		return fmt.Errorf("behind the block are %q instead of two empty lines", r.end[:min(len(r.end), len(blockEnd))])
	case len(r.end) > len(blockEnd):
		return errors.New("behind the block are more than two empty lines")
	}
	return nil
}

type recordFault struct {
	kind    string
	field   string // the faulty field
	warning bool
	detail  string
}

// checkRecord returns the faults of a record whose block has been written to check. [Verifier] and
// [RepairFile] both use it.
func checkRecord(rec *Record, check *checker) (faults []recordFault) {
	fault := func(kind, field string, warning bool, format string, args ...any) {
		faults = append(faults, recordFault{kind, field, warning, fmt.Sprintf(format, args...)})
	}
	checkFields(rec, func(field string, warning bool, format string, args ...any) {
		fault(KindField, field, warning, format, args...)
	})
	for _, err := range check.unknown {
		fault(KindDigest, "", true, "%v", err)
	}
	for _, field := range []string{blockDigest, payloadDigest} {
		if n := len(rec.Header.Values(field)); n > 1 {
			fault(KindDigest, "", true, "%s is there %d times, and only the first is checked", field, n)
		}
	}
	if text := rec.Header.Get(payloadDigest); rec.Type() == "revisit" && text != "" {
		if c, err := parseClaim(payloadDigest, text); err != nil {
			fault(KindDigest, "", true, "%v", err)
		} else if c.sum == nil {
			fault(KindDigest, "", true, "%s %.200q is no digest of this algorithm", payloadDigest, text)
		}
	}
	for _, c := range check.wrong() {
		truncated := c.field == payloadDigest && rec.truncated() != "" // may be the digest of the whole payload
		fault(KindDigest, c.field, truncated, "%s is %.200s, but that is not what the record holds", c.field, c.text)
	}
	return faults
}

const recordID = "WARC-Record-ID"

func checkFields(rec *Record, fault func(field string, warning bool, format string, args ...any)) {
	h := rec.Header
	switch rec.Version {
	case "1.0", "1.1", "0.17", "0.18":
	default:
		fault("", true, "version %.40q is not supported", rec.Version)
	}
	kind := rec.Type()
	if kind == "" {
		fault("WARC-Type", false, "no WARC-Type")
	}
	switch id := rec.ID(); {
	case id == "":
		fault(recordID, false, "no WARC-Record-ID")
	case len(id) < 3 || id[0] != '<' || id[len(id)-1] != '>' || !strings.Contains(id, ":"):
		fault(recordID, true, "WARC-Record-ID %.200q is no URI in angle brackets", id)
	}
	if date := h.Get("WARC-Date"); date == "" {
		fault("WARC-Date", false, "no WARC-Date")
	} else if _, ok := parseDate(date); !ok {
		fault("WARC-Date", false, "WARC-Date %.100q is no date (hint: 2026-01-31T12:00:00Z)", date)
	} else if _, ok := parseStandardDate(date); !ok {
		fault("WARC-Date", true, "WARC-Date %.100q is not in a format that WARC 1.1 allows (hint: 2026-01-31T12:00:00Z)", date)
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
		fault("Content-Length", true, "Content-Length is there %d times", len(n))
	}
}
