package wire

import (
	"errors"
	"fmt"
)

// The values of [Record.Error] for a URL that was passed to fetch. A status code is not an
// error: a page with status 404 was fetched.
const (
	ErrorRobots          = "robots"           // excluded by robots.txt
	ErrorDNS             = "dns"              // the name of the host does not resolve
	ErrorConnect         = "connect"          // no connection
	ErrorTLS             = "tls"              // no secure connection
	ErrorTimeout         = "timeout"          // no response in time
	ErrorHTTP            = "http"             // the response is not HTTP
	ErrorTooLarge        = "too_large"        // longer than the limit
	ErrorNotArchived     = "not_archived"     // not in the archives
	ErrorBlockedAddress  = "blocked_address"  // a private or otherwise excluded network address
	ErrorBadURL          = "bad_url"          // not a URL that can be fetched
	ErrorRedirectLoop    = "redirect_loop"    // a redirect loop, or too many redirects
	ErrorUnsupportedType = "unsupported_type" // a media type that was not requested
	ErrorBudget          = "budget"           // not tried: the budget of time or fetches was used up
	ErrorScopeRedirect   = "scope_redirect"   // redirects to an address that does not belong to the crawl
	ErrorMalformed       = "malformed"        // fetched, but a later stage wrote fields that are malformed
)

// The values of [Record.Error] for a URL that the frontier excludes from being fetched.
const (
	ErrorTrapLength     = "trap_length"     // too long
	ErrorTrapDepth      = "trap_depth"      // too many directories
	ErrorTrapRepetition = "trap_repetition" // a repeated sequence of directories
	ErrorTrapSession    = "trap_session"    // a known page with another session identifier
	ErrorTrapCalendar   = "trap_calendar"   // an endless calendar
	ErrorTrapParameters = "trap_parameters" // too many combinations of parameters
	ErrorTrapDuplicates = "trap_duplicates" // a copy of a fetched page
	ErrorHostBudget     = "host_budget"     // the budget of the host is used up
	ErrorNicheBudget    = "niche_budget"    // the budget of the niche is used up
	ErrorOutOfScope     = "out_of_scope"    // no rule includes the URL, or it is on another host or site
	ErrorScopeExcluded  = "scope_excluded"  // a rule excludes the URL; such rules apply to seeds too
	ErrorScopeDepth     = "scope_depth"     // too many links away from a seed
)

// Excluded reports whether the record says that its URL is excluded from the crawl.
func (r *Record) Excluded() bool {
	switch r.Error {
	case ErrorTrapLength, ErrorTrapDepth, ErrorTrapRepetition, ErrorTrapSession, ErrorTrapCalendar, ErrorTrapParameters, ErrorTrapDuplicates,
		ErrorHostBudget, ErrorNicheBudget, ErrorOutOfScope, ErrorScopeExcluded, ErrorScopeDepth:
		return true
	}
	return false
}

// finalErrors holds all errors, and whether another attempt would fail with the same error.
var finalErrors = map[string]bool{
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
	ErrorScopeRedirect:   true,
	ErrorMalformed:       true,
	ErrorTrapLength:      true,
	ErrorTrapDepth:       true,
	ErrorTrapRepetition:  true,
	ErrorTrapSession:     true,
	ErrorTrapCalendar:    true,
	ErrorTrapParameters:  true,
	ErrorTrapDuplicates:  true,
	ErrorHostBudget:      true,
	ErrorNicheBudget:     true,
	ErrorOutOfScope:      true,
	ErrorScopeExcluded:   true,
	ErrorScopeDepth:      true,
}

// IsOutcome reports whether the record is the outcome of a fetch. The URL of any other
// record is still to be fetched. Every [Reader] decodes the two fields that IsOutcome
// depends on.
func (r *Record) IsOutcome() bool { return r.StatusCode != 0 || r.Error != "" }

// Final reports whether the record is an outcome that another attempt would not
// change. These are any status except 429 and 5xx; the errors robots, blocked_address,
// bad_url, not_archived, redirect_loop, unsupported_type, too_large, scope_redirect and
// malformed; and the errors for which [Record.Excluded] returns true. If both status and error
// are set, the error decides. An unknown error is not final.
func (r *Record) Final() bool {
	if r.Error != "" {
		return finalErrors[r.Error]
	}
	s := r.StatusCode
	return s != 0 && s != 429 && (s < 500 || s > 599)
}

// ErrTooLong is wrapped by errors about a line that is longer than the limit of a
// [Reader] or [Writer].
var ErrTooLong = errors.New("record is longer than the limit")

func tooLong(limit int) error { return fmt.Errorf("%w of %d bytes", ErrTooLong, limit) }

// A SyntaxError reports a line that is not a record. The next [Reader.Read] continues
// with the next line.
type SyntaxError struct {
	Line int64 // line number, from 1
	Err  error

	// Outcome reports whether the address of the line and its status or error are valid. Then
	// Read has filled the record with a failed outcome of the address: its error is the error of
	// the line or [ErrorMalformed], and sections that may be malformed are missing.
	Outcome bool
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Free reports whether r is an outcome for which nothing was requested. Such outcomes are not
// charged to the budget of the crawl.
func (r *Record) Free() bool {
	switch r.Error {
	case ErrorNotArchived, ErrorRobots, ErrorBlockedAddress, ErrorBadURL, ErrorBudget:
		return true
	}
	return r.Excluded()
}
