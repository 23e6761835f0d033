// Package archive writes web archives, reads them, and answers from them.
//
// A [Reader] takes WARC files as strangers wrote them: versions 0.17 to 1.1,
// plain, gzip or zstd, torn, misnumbered or with rubbish in between; and ARC
// files, whose records it gives the fields of WARC records. It reports each fault
// once and goes on with the next record that it can find. Archives inside a WACZ
// file are read where they lie.
//
// A [Writer] writes WARC 1.1: one gzip member a record, and nothing that it has
// acknowledged lives only in the memory of the process.
//
// An [Index] is a sorted CDXJ file that is searched where it lies. A [Replay]
// puts several archives and their indexes together and answers as the web
// would have answered, redirects included.
//
// The package leaves politeness, robots and the record on the pipe to others.
package archive

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart with [errors.Is].
var (
	// ErrNotArchived: no archive holds the address, or the target of its
	// redirect.
	ErrNotArchived = errors.New("not archived")

	// ErrRedirectLoop: the redirects inside the archive return to where they
	// have been, or are more than [MaxRedirects].
	ErrRedirectLoop = errors.New("redirect loop")

	// ErrTooLarge: a body is larger than the limits allow once it is decoded,
	// or unpacks so much better than text does that it must be a bomb.
	ErrTooLarge = errors.New("body too large")

	// ErrNotWARC: the bytes are those of some other format.
	ErrNotWARC = errors.New("not a WARC file")
)

// A FormatError is a fault in an archive, and never the end of it: the reader
// that returned it goes on with the next record that it can find.
type FormatError struct {
	Offset int64 // in the file, of the record or member that is at fault
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Err }
