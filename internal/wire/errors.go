package wire

import (
	"errors"
	"fmt"
)

// The closed vocabulary of [Record.Error]: why there is no page to go on with.
// A status is never an error; a page of status 404 was fetched.
const (
	ErrorRobots          = "robots"           // robots.txt forbids it
	ErrorDNS             = "dns"              // the host's name does not resolve
	ErrorConnect         = "connect"          // no connection
	ErrorTLS             = "tls"              // no secure connection
	ErrorTimeout         = "timeout"          // no answer in time
	ErrorHTTP            = "http"             // an answer that is not HTTP
	ErrorTooLarge        = "too_large"        // longer than the limit
	ErrorNotArchived     = "not_archived"     // the archives do not hold it
	ErrorBlockedAddress  = "blocked_address"  // a private or otherwise forbidden network address
	ErrorBadURL          = "bad_url"          // not an address that can be fetched
	ErrorRedirectLoop    = "redirect_loop"    // redirects that do not end
	ErrorUnsupportedType = "unsupported_type" // a media type that nobody asked for
	ErrorBudget          = "budget"           // handed back untried: time or number was up
)

// The rest of the vocabulary: why an address is never asked for. Only the frontier
// says so, of addresses that wait there; what was fetched is never told so.
const (
	ErrorTrapLength     = "trap_length"     // too long to be meant
	ErrorTrapDepth      = "trap_depth"      // too many directories
	ErrorTrapRepetition = "trap_repetition" // the same again and again
	ErrorTrapSession    = "trap_session"    // a known page under another session
	ErrorTrapCalendar   = "trap_calendar"   // one more date
	ErrorTrapParameters = "trap_parameters" // one more combination of settings
	ErrorTrapDuplicates = "trap_duplicates" // where pages are copies of others
	ErrorHostBudget     = "host_budget"     // the host has given all that it may
	ErrorNicheBudget    = "niche_budget"    // the niche has
)

// Barred tells whether the record says that its address is never to be asked for:
// it is an outcome without a fetch.
func (r *Record) Barred() bool {
	switch r.Error {
	case ErrorTrapLength, ErrorTrapDepth, ErrorTrapRepetition, ErrorTrapSession, ErrorTrapCalendar, ErrorTrapParameters, ErrorTrapDuplicates,
		ErrorHostBudget, ErrorNicheBudget:
		return true
	}
	return false
}

// vocabulary tells of every error whether trying again is useless.
var vocabulary = map[string]bool{
	ErrorRobots:          true,
	ErrorDNS:             false,
	ErrorConnect:         false,
	ErrorTLS:             false,
	ErrorTimeout:         false,
	ErrorHTTP:            false,
	ErrorTooLarge:        true,
	ErrorNotArchived:     true,
	ErrorBlockedAddress:  true,
	ErrorBadURL:          true,
	ErrorRedirectLoop:    true,
	ErrorUnsupportedType: true,
	ErrorBudget:          false,
	ErrorTrapLength:      true,
	ErrorTrapDepth:       true,
	ErrorTrapRepetition:  true,
	ErrorTrapSession:     true,
	ErrorTrapCalendar:    true,
	ErrorTrapParameters:  true,
	ErrorTrapDuplicates:  true,
	ErrorHostBudget:      true,
	ErrorNicheBudget:     true,
}

// IsOutcome tells whether the record says how a fetch went; any other record
// with a URL is an address that still waits for one. The two fields that decide
// this are decoded by every [Reader], whatever sections it was asked for.
func (r *Record) IsOutcome() bool { return r.StatusCode != 0 || r.Error != "" }

// Final tells whether the record is an outcome that another try would not
// change: every status but 429 and 5xx, and the errors robots, blocked_address,
// bad_url, not_archived, redirect_loop, unsupported_type, too_large and those of
// [Record.Barred]. An error outside the vocabulary is not final. If both are set the error decides.
func (r *Record) Final() bool {
	if r.Error != "" {
		return vocabulary[r.Error]
	}
	s := r.StatusCode
	return s != 0 && s != 429 && (s < 500 || s > 599)
}

// ErrTooLong is wrapped by the errors about a line that is longer than the
// limit of a [Reader] or [Writer].
var ErrTooLong = errors.New("record is longer than the limit")

func tooLong(limit int) error { return fmt.Errorf("%w of %d bytes", ErrTooLong, limit) }

// A SyntaxError reports a line that is no record. It costs that line only: the
// next [Reader.Read] goes on after it.
type SyntaxError struct {
	Line int64 // number of the line, from 1
	Err  error // what is wrong with it
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Free tells whether r is an outcome for which nobody was asked anything: it
// costs none of a crawl's budget.
func (r *Record) Free() bool {
	switch r.Error {
	case ErrorNotArchived, ErrorRobots, ErrorBlockedAddress, ErrorBadURL, ErrorBudget:
		return true
	}
	return r.Barred()
}
