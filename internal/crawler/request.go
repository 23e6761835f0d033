package crawler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"spoor/internal/archive"
	"spoor/internal/message"
	"spoor/internal/polite"
	"spoor/internal/web"
	"spoor/internal/wire"
)

const (
	acceptTypes = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"

	// acceptCodings are the content codings that every replayer of archives can decode.
	// Responses in deflate or zstd are decoded too.
	acceptCodings = "gzip, br"
)

// A response is the response to one request. Its bodies are valid until release is called.
type response struct {
	response http.Response // without body
	page     *archive.Page
	failed   error         // why the body was not decoded, or not as a whole
	remark   string        // for error_detail, without an error
	refused  bool          // the media type is not accepted
	took     time.Duration // from the request to the last byte
	release  func()
}

// A WARCError is an error of the WARC file.
type WARCError struct{ error }

func (e *WARCError) Unwrap() error { return e.error }

// request sends one request, reads the response and stores the exchange. The caller must
// call release of the response.
func (f *fetcher) request(req *http.Request, address string, m archive.Metadata) (_ *response, err error) {
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", acceptTypes)
	}
	limit := f.maxSize
	req.Header.Set("Accept-Encoding", acceptCodings)
	// The tape also holds the framing of chunks, which has no separate limit.
	s := &slot{f: f, tapeLimit: limit + limit/16 + 64<<10}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	ctx := req.Context()
	resp, err := f.transport.RoundTrip(req.WithContext(context.WithValue(ctx, slotKey{}, s)))
	if err != nil {
		return nil, err
	}
	tape := s.tape
	r := &response{response: http.Response{StatusCode: resp.StatusCode, Header: resp.Header}, release: s.release}
	unchanged := resp.StatusCode == http.StatusNotModified && (req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != "")
	media := message.MediaType(resp.Header["Content-Type"]...)
	r.refused = !unchanged && message.Location(resp.StatusCode, resp.Header) == "" && !accepts(f.MIME, media)
	truncated := ""
	if !r.refused {
		truncated, err = drain(ctx, resp.Body, limit, s)
	}
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	r.took = time.Since(tape.Start)
	if ctx.Err() != nil && truncated != "" {
		return nil, context.Cause(ctx) // the end of ctx truncated the body, not the server
	}

	header := resp.Header
	r.page = &archive.Page{
		Response: &archive.Response{
			Head: message.Head{Proto: resp.Proto, StatusCode: resp.StatusCode, Header: header}, Raw: tape.Body, Truncated: truncated,
		},
		Time: tape.Start, IP: tape.IP,
	}
	if tape.Unverified != "" {
		r.remark = "certificate not verified: " + tape.Unverified
	}
	if r.refused {
		r.page.Raw = nil
		return r, nil
	}
	var torn string
	if r.page.Body, torn, r.failed, err = f.decode(ctx, s, tape.Body, header, limit); err != nil {
		return nil, err
	}
	r.page.Truncated = cmp.Or(truncated, torn)
	if !unchanged && media == "" && !accepts(f.MIME, r.page.ContentType()) {
		r.refused = true // the type had to be guessed from the body
	}
	if f.warc == nil {
		if !unchanged {
			r.page.Digest = r.page.Response.Digest()
		}
		return r, nil
	}
	m.FetchTime, m.Unverified, m.Removed = r.took, tape.Unverified, strings.Join(s.secrets, ", ")
	noArchive := ""
	if f.NoArchive {
		noArchive = forbidsArchiving(f.Agent, header, r.page.ContentType(), r.page.Body)
	}
	at, err := f.warc.Write(&archive.Exchange{
		URL: address, Time: tape.Start, IP: tape.IP, Request: withoutFields(tape.Request, s.secrets), Head: tape.Head, Body: tape.Body,
		Chunked: message.IsChunked(header), Truncated: truncated, Protocols: tape.Protocols, NotModified: unchanged, NoArchive: noArchive, Metadata: m,
	})
	if err != nil {
		return nil, &WARCError{err}
	}
	r.page.Filename, r.page.Offset, r.page.Length, r.page.Digest = at.Filename, at.Offset, at.Length, at.Digest
	return r, nil
}

// decode decodes a body, up to limit bytes, into the buffer of the slot. If the body is not
// declared to be large, it is first decoded with a small limit, which needs little memory.
func (f *fetcher) decode(ctx context.Context, s *slot, raw []byte, header http.Header, limit int64) (body []byte, torn string, failed, err error) {
	if max(int64(len(raw)), archive.Promised(raw, header)) <= largeBody {
		body, torn, failed = f.decodeUpTo(s, raw, header, min(limit, largeBody))
		if !errors.Is(failed, archive.ErrTooLarge) || limit <= largeBody {
			return body, torn, failed, nil
		}
	}
	s.decoded, body = nil, nil // free them, because the wait for memory may be long
	if err := s.reserveDecoding(ctx); err != nil {
		return nil, "", nil, err
	}
	if int64(len(raw)) > f.memory.pageSize {
		// Receiving leaves about as much garbage as the body, and so does decoding: free it at once.
		runtime.GC()
		defer runtime.GC()
	}
	body, torn, failed = f.decodeUpTo(s, raw, header, limit)
	return body, torn, failed, nil
}

func (f *fetcher) decodeUpTo(s *slot, raw []byte, header http.Header, limit int64) (body []byte, torn string, failed error) {
	d := <-f.decoders
	defer func() { f.decoders <- d }()
	d.Limits.Body = limit
	if s.decoded == nil {
		s.decoded = *f.buffers.Get().(*[]byte)
	}
	body, torn, failed = d.Decode(s.decoded, raw, header)
	if len(body) > 0 && &body[0] != &raw[0] {
		s.decoded = body
	}
	return body, torn, failed
}

// drain reads a body, up to limit bytes, onto the tape of the slot. If it does not reach the
// end, it returns the reason. The only error is errNoMemory.
func drain(ctx context.Context, body io.Reader, limit int64, s *slot) (truncated string, err error) {
	var n int64
	for err == nil && n <= limit {
		step := min(limit+1-n, freeBody)
		if err = s.reserve(ctx, n+step); err == nil {
			step, err = io.CopyN(io.Discard, body, step)
			n += step
		}
	}
	switch {
	case errors.Is(err, errNoMemory):
		return "", err
	case n > limit, errors.Is(err, web.ErrTapeFull):
		return "length", nil
	case errors.Is(err, io.EOF):
		return "", nil
	case classify(ctx, err) == wire.ErrorTimeout:
		return "time", nil
	}
	return "disconnect", nil
}

// RoundTrip sends a request that polite has admitted, as soon as there is a free slot, and it is the turn
// of the request at the IP address of the host. The context of the request holds the slot to use.
func (f *fetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := f.checkTarget(req.URL.Hostname(), req.URL.Port()); err != nil {
		return nil, err
	}
	s := ctx.Value(slotKey{}).(*slot)
	req.Header.Set("User-Agent", f.UserAgent())
	s.secrets = f.Credentials.add(req)
	t := new(turns)
	t.end, _ = ctx.Deadline()
	for {
		if err := s.acquire(ctx); err != nil {
			return nil, &polite.BlamelessError{Err: err}
		}
		s.tape.Limit = s.tapeLimit
		polite.Begin(ctx)
		resp, err := f.web.RoundTrip(req.WithContext(context.WithValue(web.Record(ctx, s.tape), turnsKey{}, t)))
		if later, ok := errors.AsType[*laterError](err); ok {
			s.yield()
			if err := later.wait(ctx); err != nil {
				return nil, &polite.BlamelessError{Err: err}
			}
			continue
		}
		if _, blocked := errors.AsType[*polite.BlockedError](err); !blocked {
			f.counts.requested.Store(true)
		}
		if proxy, ok := errors.AsType[*web.ProxyError](err); ok {
			err = &polite.BlamelessError{Err: err, Asked: !proxy.Down}
		} else if err != nil && ctx.Err() != nil && len(s.tape.Request) == 0 { // cancelled before it was sent
			err = &polite.BlamelessError{Err: err}
		}
		return resp, err
	}
}

// robotsTransport fetches robots.txt in the same way as pages, and stores the exchange.
type robotsTransport struct{ f *fetcher } // from [fetcher.forRobots]

func (t robotsTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set("Accept", "text/plain,*/*;q=0.5")
	r, err := t.f.request(req, requestURL(req), archive.Metadata{Operator: "robots"})
	if err != nil {
		return nil, err
	}
	if errors.Is(r.failed, archive.ErrCoding) {
		r.release()
		return nil, r.failed
	}
	var body io.Reader = bytes.NewReader(bytes.Clone(r.page.Body))
	r.release()
	switch r.page.Truncated {
	case "disconnect":
		body = io.MultiReader(body, errReader{io.ErrUnexpectedEOF})
	case "time":
		body = io.MultiReader(body, errReader{&web.TimeoutError{Phase: web.Answer, Limit: t.f.Timeout}})
	}
	r.response.Body = io.NopCloser(body)
	return &r.response, nil
}

// An errReader is a body that ends with an error.
type errReader struct{ error }

func (r errReader) Read([]byte) (int, error) { return 0, r.error }

// requestURL returns the URL of a request made by [polite.NewRequest].
func requestURL(req *http.Request) string {
	u := req.URL
	switch {
	case strings.HasPrefix(u.Opaque, "//"):
		return u.Scheme + ":" + u.Opaque
	case u.Opaque != "":
		return u.Scheme + "://" + u.Host + u.Opaque
	}
	return u.String()
}
