// Package archive reads, writes, indexes, replays, verifies, repairs and packs web
// archives.
//
// A [Reader] reads WARC files of versions 0.17 to 1.1, uncompressed or compressed with
// gzip or zstd, and ARC files, whose records get the fields of WARC records. It tolerates
// truncated files, wrong lengths and data between records: it reports each fault once and
// continues at the next record that it finds. Archives inside a WACZ file are read in place.
//
// A [Writer] writes WARC 1.1 with one gzip member or zstd frame per record. When Write
// returns, the record has been written to the operating system.
//
// An [Index] is a sorted CDXJ file that is searched on disk. A [Replay] answers requests
// from several indexed archives, redirects included.
//
// A [Verifier] finds faults in archives, [RepairFile] writes a copy without them, and a
// [Packer] writes WACZ files.
package archive

import (
	"errors"
	"fmt"
	"strings"
)

// Errors for [errors.Is].
var (
	// ErrNotArchived is returned if no archive contains the URL, or the target of its redirect.
	ErrNotArchived = errors.New("not archived")

	// ErrRedirectLoop is returned if redirects form a loop, or if there are more than [MaxRedirects].
	ErrRedirectLoop = errors.New("redirect loop")

	// ErrTooLarge is returned if a decoded body exceeds the [Limits] of its size or its
	// compression ratio.
	ErrTooLarge = errors.New("body too large")

	// ErrNotWARC is returned for a file of another format.
	ErrNotWARC = errors.New("not a WARC file")

	// ErrEmpty is returned by commands if archives have neither records nor faults.
	ErrEmpty = errors.New("there is no record in it")

	// ErrNoRecords is returned by commands if there were faults but no records.
	ErrNoRecords = errors.New("no record could be read\nhint: archives are WARC or ARC files, plain or packed, and WACZ files")
)

// EmptyError returns an error that wraps [ErrEmpty] and contains the first of the names, for archives
// that were read without a record or a fault. It returns nil if all of them are files that are still being
// written (.open), which may be empty.
func EmptyError(names []string) error {
	paths, err := Files(names)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if path == Input {
			path = "stdin"
		}
		if !strings.HasSuffix(path, openSuffix) {
			return fmt.Errorf("%s: %w", path, ErrEmpty)
		}
	}
	return nil
}

// A FormatError is a fault in an archive. The reader that returned it continues at the next
// record that it finds.
type FormatError struct {
	Offset int64 // offset of the record or member in the file
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *FormatError) Unwrap() error { return e.Err }
