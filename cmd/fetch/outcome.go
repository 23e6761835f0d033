package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/web"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// These are reasons that the web gives no page; classify turns them, and those of the
// rooms below, into the vocabulary of the record.
var (
	errDeadline = errors.New("the time of -deadline was up")
	errCrowded  = errors.New("other large answers left no memory for this one within -timeout")
)

// Reasons to ask only loopback.
const (
	errAnonymous strangerError = "without -contact only loopback is asked"
	errHasty     strangerError = "with -delay 0s only loopback is asked"
)

// A strangerError says why an address was not connected to, which is no fault of
// its host.
type strangerError string

func (e strangerError) Error() string { return string(e) }
func (e strangerError) Unwrap() error { return &polite.BlockedError{} }

// stranger is why the options allow to ask only loopback, nil if they do not.
func (o *options) stranger() error {
	switch {
	case o.contact == "":
		return errAnonymous
	case o.delay == 0:
		return errHasty
	}
	return nil
}

// misuse is how a run ends that could ask nobody: because of stranger, of the guard,
// or here of the one and there of the other.
func (o *options) misuse(strangers, guarded bool) error {
	if !strangers {
		return filter.Usagef("no address is on the public internet\nhint: -allow-private asks loopback and private addresses too")
	}
	hint := "give -contact you@example.org, a mail address or URL by which the owner of a site can reach you"
	if o.contact != "" {
		hint = fmt.Sprintf("leave -delay out, it is %v then", polite.DefaultDelay)
	}
	if guarded {
		return filter.Usagef("some addresses are not public, which needs -allow-private, and %w\nhint: %s", o.stranger(), hint)
	}
	return filter.Usagef("no address is on loopback, and %w\nhint: %s", o.stranger(), hint)
}

// readsOn tells whether, though ctx has ended, what is still to come is read and handed
// back.
func readsOn(ctx context.Context) bool {
	cause := context.Cause(ctx)
	_, proxy := errors.AsType[*web.ProxyError](cause)
	return proxy || cause == errDeadline
}

// hintProxy says what to do if the proxy ended the run. That its connection broke must
// not be taken for a pipe of ours that did.
func hintProxy(err error) error {
	if _, ok := errors.AsType[*web.ProxyError](err); ok {
		return fmt.Errorf("%v\nhint: is it running? -proxy URL, with user:password@ before its host if it asks for them", err)
	}
	return err
}

// interrupted is how a signal ended the run, with the exit status for it.
type interrupted struct {
	how    string
	status int
}

func (e interrupted) Error() string { return e.how }

// classify is the word of the closed vocabulary for err.
func classify(ctx context.Context, err error) string {
	is := func(target error) bool { return errors.Is(err, target) }
	if ctx.Err() != nil {
		return wire.ErrorBudget // cancelled: whatever came of it, it was we who gave up
	}
	if _, ok := errors.AsType[*polite.HoldError](err); ok || is(errCrowded) {
		return wire.ErrorBudget
	}
	if _, ok := errors.AsType[*polite.BlockedError](err); ok {
		return wire.ErrorBlockedAddress
	}
	if _, ok := errors.AsType[*web.ProxyError](err); ok {
		return wire.ErrorConnect // whatever it was with the proxy
	}
	if _, ok := errors.AsType[weburl.Error](err); ok {
		return wire.ErrorBadURL
	}
	switch {
	case is(archive.ErrNotArchived):
		return wire.ErrorNotArchived
	case is(archive.ErrRedirectLoop):
		return wire.ErrorRedirectLoop
	case is(archive.ErrTooLarge):
		return wire.ErrorTooLarge
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return wire.ErrorDNS
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() || is(context.DeadlineExceeded) {
		return wire.ErrorTimeout
	}
	if _, ok := errors.AsType[*web.TLSError](err); ok {
		return wire.ErrorTLS
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return wire.ErrorConnect
	}
	return wire.ErrorHTTP
}

// explain names the flag that set a bound on time which was reached.
func (o *options) explain(err error) error {
	late, ok := errors.AsType[*web.TimeoutError](err)
	if !ok {
		return err
	}
	name := "-connect-timeout"
	switch late.Phase {
	case web.Header:
		name = "-header-timeout"
	case web.Answer:
		name = "-timeout"
	}
	why := fmt.Sprintf("the %s took longer than %s (%v)", late.Phase, name, late.Limit)
	return errors.New(strings.Replace(err.Error(), late.Error(), why, 1))
}

// note adds words for a person.
func note(rec *wire.Record, words string) {
	if words == "" {
		return
	}
	if rec.ErrorDetail != "" {
		words = rec.ErrorDetail + "; " + words
	}
	rec.ErrorDetail = cut(strings.ToValidUTF8(words, "\ufffd"), maxDetail)
}

// begin empties what earlier stages said of an earlier answer.
func begin(rec *wire.Record) {
	rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	rec.Touch(wire.Fetch)
}

// fail says why there is no page.
func fail(rec *wire.Record, code string, err error) {
	rec.Error = code
	if err != nil {
		rec.ErrorDetail = cut(strings.ToValidUTF8(err.Error(), "\ufffd"), maxDetail)
	}
}

// arrive says how far the redirects went.
func arrive(rec *wire.Record, url string, hops []archive.Hop) {
	if url != rec.URL {
		rec.FinalURL = url
	}
	for _, h := range hops {
		rec.Redirects = append(rec.Redirects, wire.Redirect{URL: h.URL, StatusCode: h.StatusCode})
	}
}

// fill puts an answer into its record, body included, if there is one.
func (o *options) fill(rec *wire.Record, p *archive.Page, err error) {
	o.describe(rec, p, err, int64(o.maxBody), rec.SetBody)
}

// describe puts what there is to tell of an answer into its record, and hands its body to
// keep, if there is one. A body that was cut at its limit is one all the same; one that
// was cut because of what it would have become is none.
func (o *options) describe(rec *wire.Record, p *archive.Page, err error, limit int64, keep func(body []byte)) {
	arrive(rec, p.URL, p.Hops)
	if !p.Time.IsZero() { // as in an archive that does not say
		rec.Timestamp = p.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	rec.IP, rec.Digest = p.IP, p.Digest
	rec.WARCFilename, rec.WARCOffset, rec.WARCLength = p.Filename, p.Offset, p.Length
	rec.StatusCode = p.StatusCode
	var left int
	if rec.Headers, left = headers(p.Header); left > 0 {
		rec.ErrorDetail = fmt.Sprintf("%d of %d headers left out: more than %d bytes or %d names", left, len(p.Header), maxHeaders, maxNames)
	}
	rec.ContentType = p.ContentType()
	rec.Charset = archive.Charset(p.Header.Get("Content-Type"))
	rec.Truncated = p.Truncated
	if err != nil && int64(max(len(p.Body), len(p.Raw))) < limit {
		fail(rec, classify(context.Background(), err), err)
		return
	}
	rec.ContentLength = int64(len(p.Body))
	keep(p.Body)
}

// takes tells whether -mime names the media type.
func (o *options) takes(media string) bool {
	return len(o.mime) == 0 || media == "" || archive.TakesMediaType(o.mime, media)
}

// refuseType drops the body of a page that -mime does not name.
func refuseType(rec *wire.Record) {
	rec.Drop(wire.Body)
	fail(rec, wire.ErrorUnsupportedType, fmt.Errorf("%s is not among the types of -mime", rec.ContentType))
}

// Bounds of what strangers can put into a record besides a body, in bytes. Of
// headers as they all come there is room for several times over; and should JSON
// make six of each byte, a record without body is still a small one.
const (
	maxHeaders = 32 << 10 // names and values together
	maxNames   = 1000     // number of names
	maxDetail  = 1 << 10
)

// headers are those of an answer as the record has them: names in lower case,
// sorted. Octets that are no UTF-8 are replaced. Where they are too many, or too long
// in all, the longest are left out, and their number told.
func headers(h http.Header) (all []wire.Values, left int) {
	fields := shortest(h, maxNames)
	for i, f := range fields {
		values := make([]string, len(f.values))
		for i, s := range f.values {
			values[i] = strings.ToValidUTF8(s, "\ufffd")
		}
		fields[i] = newField(strings.ToLower(strings.ToValidUTF8(f.name, "\ufffd")), values)
	}
	slices.SortFunc(fields, field.compare)
	all = make([]wire.Values, 0, len(fields))
	room := maxHeaders
	for _, f := range fields {
		if room -= f.size; room < 0 {
			break
		}
		all = append(all, wire.Values{Name: f.name, Values: f.values})
	}
	slices.SortStableFunc(all, func(a, b wire.Values) int { return cmp.Compare(a.Name, b.Name) })
	return all, len(h) - len(all)
}

// A field is a header with its length.
type field struct {
	name   string
	values []string
	size   int
}

func newField(name string, values []string) field {
	f := field{name, values, len(name)}
	for _, s := range values {
		f.size += len(s) + 1
	}
	return f
}

// compare puts the short before the long.
func (f field) compare(g field) int {
	if f.size != g.size {
		return f.size - g.size
	}
	if c := cmp.Compare(f.name, g.name); c != 0 {
		return c
	}
	return slices.Compare(f.values, g.values)
}

// shortest are the n shortest of h, or all if they are fewer, in any order. Of those
// that are longer few are sorted: a server may send tens of thousands.
func shortest(h http.Header, n int) []field {
	all := make([]field, 0, min(len(h), 2*n))
	var worst *field // of n that are better than all that were left out
	for name, values := range h {
		f := newField(name, values)
		if worst != nil && f.compare(*worst) > 0 {
			continue
		}
		if all = append(all, f); len(all) == 2*n {
			slices.SortFunc(all, field.compare)
			all = all[:n]
			last := all[n-1]
			worst = &last
		}
	}
	if len(all) > n {
		slices.SortFunc(all, field.compare)
		all = all[:n]
	}
	return all
}

// notBefore is t as the record has it, in whole seconds, rounded up.
func notBefore(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Add(time.Second - 1).UTC().Truncate(time.Second).Format(time.RFC3339)
}
