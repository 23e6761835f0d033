package crawler

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

	"spoor/internal/archive"
	"spoor/internal/polite"
	"spoor/internal/web"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// Reasons of the crawler itself to return an address unfetched.
var (
	errDeadline = errors.New("the time of -deadline was up")
	errNoMemory = errors.New("other large answers left no memory for this one within -timeout")
)

// classify returns the code of the record vocabulary for err.
func classify(ctx context.Context, err error) string {
	is := func(target error) bool { return errors.Is(err, target) }
	if ctx.Err() != nil {
		return wire.ErrorBudget // the request was cancelled, whatever err is
	}
	if _, ok := errors.AsType[*polite.HoldError](err); ok || is(errNoMemory) {
		return wire.ErrorBudget
	}
	if _, ok := errors.AsType[*polite.BlockedError](err); ok {
		return wire.ErrorBlockedAddress
	}
	if _, ok := errors.AsType[*web.ProxyError](err); ok {
		return wire.ErrorConnect
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

func nameTimeout(err error) error {
	timeout, ok := errors.AsType[*web.TimeoutError](err)
	if !ok {
		return err
	}
	flag := "-connect-timeout"
	switch timeout.Phase {
	case web.Header:
		flag = "-header-timeout"
	case web.Answer:
		flag = "-timeout"
	}
	named := fmt.Sprintf("the %s took longer than %s (%v)", timeout.Phase, flag, timeout.Limit)
	return errors.New(strings.Replace(err.Error(), timeout.Error(), named, 1))
}

// reset removes the results of an earlier fetch and of later stages.
func reset(rec *wire.Record) {
	rec.Drop(wire.Fetch | wire.Parse | wire.Score | wire.Body)
	rec.Touch(wire.Fetch)
}

// fail records why there is no page: a code, and the text of err unless it is nil.
func fail(rec *wire.Record, code string, err error) {
	rec.Error = code
	if err != nil {
		rec.ErrorDetail = detail(err.Error())
	}
}

// failUnfetched records that the address of rec was not fetched.
func failUnfetched(rec *wire.Record, why error) {
	reset(rec)
	fail(rec, wire.ErrorBudget, why)
}

func appendDetail(rec *wire.Record, remark string) {
	if remark == "" {
		return
	}
	if rec.ErrorDetail != "" {
		remark = rec.ErrorDetail + "; " + remark
	}
	rec.ErrorDetail = detail(remark)
}

// detail returns s as valid UTF-8, cut to the maximum length of error_detail.
func detail(s string) string { return truncate(strings.ToValidUTF8(s, "\ufffd"), maxDetail) }

// truncate returns s, or its first n bytes and an ellipsis if it is longer.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// setRedirects records the redirects and the address where they ended.
func setRedirects(rec *wire.Record, url string, hops []archive.Hop) {
	if url != rec.URL {
		rec.FinalURL = url
	}
	for _, h := range hops {
		rec.Redirects = append(rec.Redirects, wire.Redirect{URL: h.URL, StatusCode: h.StatusCode})
	}
}

// describe puts a response into its record, and passes the body, if there is one, to keep. err
// is the error of decoding the body; a body that was cut at limit is nevertheless kept.
func describe(rec *wire.Record, p *archive.Page, err error, limit int64, keep func(body []byte)) {
	setRedirects(rec, p.URL, p.Hops)
	if !p.Time.IsZero() { // an archive may have no date
		rec.Timestamp = p.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	rec.IP, rec.Digest = p.IP, p.Digest
	rec.WARCFilename, rec.WARCOffset, rec.WARCLength = p.Filename, p.Offset, p.Length
	rec.StatusCode = p.StatusCode
	var omitted int
	if rec.Headers, omitted = headers(p.Header); omitted > 0 {
		rec.ErrorDetail = fmt.Sprintf("%d of %d headers left out: more than %d bytes or %d names", omitted, len(p.Header), maxHeaders, maxNames)
	}
	rec.ContentType = p.ContentType()
	rec.Charset = p.Charset()
	rec.Truncated = p.Truncated
	damage := ""
	if p.Damage != nil {
		damage = fmt.Sprintf("the archive is damaged: %s at byte %d: %v", p.Filename, p.Offset, p.Damage)
	}
	if err != nil && (!errors.Is(err, archive.ErrTooLarge) || int64(max(len(p.Body), len(p.Raw))) < limit) {
		fail(rec, classify(context.Background(), err), err)
		appendDetail(rec, damage)
		return
	}
	appendDetail(rec, damage)
	rec.ContentLength = int64(len(p.Body))
	keep(p.Body)
}

// accepts reports whether pages of a media type are downloaded, given the accepted types. If
// types is empty, all are accepted. A page of unknown type ("") is always accepted.
func accepts(types []string, media string) bool {
	return len(types) == 0 || media == "" || archive.TakesMediaType(types, media)
}

// refuseType drops the body of a page whose media type is not accepted.
func refuseType(rec *wire.Record) {
	rec.Drop(wire.Body)
	fail(rec, wire.ErrorUnsupportedType, fmt.Errorf("%s is not among the types of -mime", rec.ContentType))
}

// Limits on the data, other than bodies, that servers can put into a record. They are several
// times the size of usual headers, but keep a record without body small, even if JSON needs six
// bytes for each byte.
const (
	maxHeaders = 32 << 10 // bytes of names and values together
	maxNames   = 1000     // number of names
	maxDetail  = 1 << 10  // bytes of error_detail
)

// headers returns the header fields of a response in the form of records: names in lower case,
// sorted, and in valid UTF-8. If the fields are too many or too long, it omits the longest ones,
// and returns the number of omitted fields.
func headers(h http.Header) (all []wire.Values, omitted int) {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	all = make([]wire.Values, 0, len(h))
	for name, values := range h {
		f := wire.Values{Name: strings.ToLower(valid(name))}
		for _, v := range values {
			f.Values = append(f.Values, valid(v))
		}
		all = append(all, f)
	}
	size := func(f wire.Values) int {
		n := len(f.Name)
		for _, v := range f.Values {
			n += len(v) + 1
		}
		return n
	}
	byName := func(a, b wire.Values) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(all, func(a, b wire.Values) int {
		return cmp.Or(cmp.Compare(size(a), size(b)), byName(a, b), slices.Compare(a.Values, b.Values))
	})
	free, kept := maxHeaders, 0
	for kept < min(len(all), maxNames) {
		if free -= size(all[kept]); free < 0 {
			break
		}
		kept++
	}
	all = all[:kept]
	slices.SortStableFunc(all, byName)
	return all, len(h) - kept
}

// notBefore formats t for a record, in whole seconds, rounded up.
func notBefore(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Add(time.Second - 1).UTC().Truncate(time.Second).Format(time.RFC3339)
}
