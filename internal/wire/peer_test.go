package wire

import (
	"reflect"
	"strings"
	"testing"
)

// peer is the record as a struct for encoding/json, with which fuzz tests and benchmarks
// compare the codec.
type peer struct {
	V          int      `json:"v"`
	URL        string   `json:"url"`
	Generation int      `json:"generation"`
	Depth      int      `json:"depth"`
	Via        string   `json:"via,omitempty"`
	Parents    []string `json:"parents,omitempty"`
	Operator   string   `json:"operator,omitempty"`
	Priority   *float64 `json:"priority,omitempty"`
	Revision   int      `json:"revision,omitempty"`
	Niche      string   `json:"niche,omitempty"`
	Query      string   `json:"query,omitempty"`
	Retries    int      `json:"retries,omitempty"`
	Cost       int      `json:"cost,omitempty"`

	Reasons map[string]float64 `json:"reasons,omitempty"`

	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	LastDigest   string `json:"last_digest,omitempty"`
	LastMod      string `json:"lastmod,omitempty"`
	Visits       int    `json:"visits,omitempty"`
	Interval     int    `json:"interval,omitempty"`

	FinalURL      string              `json:"final_url,omitempty"`
	Redirects     []peerRedirect      `json:"redirects,omitempty"`
	Timestamp     string              `json:"timestamp,omitempty"`
	StatusCode    int                 `json:"status_code,omitempty"`
	Headers       map[string][]string `json:"headers,omitempty"`
	ContentType   string              `json:"content_type,omitempty"`
	Charset       string              `json:"charset,omitempty"`
	ContentLength int64               `json:"content_length,omitempty"`
	Truncated     string              `json:"truncated,omitempty"`
	FetchMS       int64               `json:"fetch_ms,omitempty"`
	IP            string              `json:"ip,omitempty"`
	Digest        string              `json:"digest,omitempty"`
	WARCFilename  string              `json:"warc_filename,omitempty"`
	WARCOffset    int64               `json:"warc_offset,omitempty"`
	WARCLength    int64               `json:"warc_length,omitempty"`
	NotBefore     string              `json:"not_before,omitempty"`
	Error         string              `json:"error,omitempty"`
	ErrorDetail   string              `json:"error_detail,omitempty"`

	Title          string              `json:"title,omitempty"`
	Description    string              `json:"description,omitempty"`
	Keywords       string              `json:"keywords,omitempty"`
	Lang           string              `json:"lang,omitempty"`
	Text           string              `json:"text,omitempty"`
	AnchorText     string              `json:"anchor_text,omitempty"`
	OutDegree      int                 `json:"out_degree"`
	Links          []peerLink          `json:"links,omitempty"`
	Canonical      string              `json:"canonical,omitempty"`
	RobotsMeta     string              `json:"robots_meta,omitempty"`
	Simhash        string              `json:"simhash,omitempty"`
	NeedsBrowser   *bool               `json:"needs_browser,omitempty"`
	CharsetGuessed *bool               `json:"charset_guessed,omitempty"`
	Fields         map[string][]string `json:"fields,omitempty"`

	Score    *float64           `json:"score,omitempty"`
	Scores   map[string]float64 `json:"scores,omitempty"`
	Relevant *bool              `json:"relevant,omitempty"`

	Body       string `json:"body,omitempty"`
	BodyBase64 string `json:"body_base64,omitempty"`
}

type peerRedirect struct {
	URL        string `json:"url"`
	StatusCode int    `json:"status_code"`
}

type peerLink struct {
	URL      string             `json:"url"`
	Anchor   string             `json:"anchor,omitempty"`
	Context  string             `json:"context,omitempty"`
	Rel      string             `json:"rel,omitempty"`
	Hreflang string             `json:"hreflang,omitempty"`
	Tag      string             `json:"tag,omitempty"`
	Path     string             `json:"path,omitempty"`
	Archived *bool              `json:"archived,omitempty"`
	Score    *float64           `json:"score,omitempty"`
	Scores   map[string]float64 `json:"scores,omitempty"`
	LastMod  string             `json:"lastmod,omitempty"`
	Priority *float64           `json:"priority,omitempty"`
}

// TestPeerHasAllFields checks that the comparison with encoding/json omits no field.
func TestPeerHasAllFields(t *testing.T) {
	for _, c := range []struct {
		object *object
		peer   reflect.Type
	}{
		{recordObject, reflect.TypeFor[peer]()},
		{redirectObject, reflect.TypeFor[peerRedirect]()},
		{linkObject, reflect.TypeFor[peerLink]()},
	} {
		tags := map[string]bool{}
		for field := range c.peer.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			tags[name] = true
		}
		for _, f := range c.object.fields {
			if !tags[f.name] {
				t.Errorf("%v has no %s", c.peer, f.name)
			}
		}
	}
}

// asPeer returns r as a peer. Empty maps and slices become nil.
func asPeer(r *Record) *peer {
	p := &peer{
		V: r.V, URL: r.URL, Generation: r.Generation, Depth: r.Depth, Via: r.Via,
		Operator: r.Operator, Priority: number(r.Priority), Niche: r.Niche, Query: r.Query, Retries: r.Retries,
		Revision: r.Revision, Cost: r.Cost, Reasons: scoreMap(r.Reasons), ETag: r.ETag, LastModified: r.LastModified,
		LastDigest: r.LastDigest, LastMod: r.LastMod, Visits: r.Visits, Interval: r.Interval,

		FinalURL: r.FinalURL, Timestamp: r.Timestamp, StatusCode: r.StatusCode, Headers: valueMap(r.Headers),
		ContentType: r.ContentType, Charset: r.Charset, ContentLength: r.ContentLength, Truncated: r.Truncated,
		FetchMS: r.FetchMS, IP: r.IP, Digest: r.Digest, WARCFilename: r.WARCFilename, WARCOffset: r.WARCOffset,
		WARCLength: r.WARCLength, NotBefore: r.NotBefore, Error: r.Error, ErrorDetail: r.ErrorDetail,

		Title: r.Title, Description: r.Description, Keywords: r.Keywords, Lang: r.Lang, Text: r.Text,
		AnchorText: r.AnchorText, OutDegree: r.OutDegree, Canonical: r.Canonical, RobotsMeta: r.RobotsMeta,
		Simhash: r.Simhash, NeedsBrowser: truth(r.NeedsBrowser), CharsetGuessed: truth(r.CharsetGuessed), Fields: valueMap(r.Fields),

		Score: number(r.Score), Scores: scoreMap(r.Scores), Relevant: truth(r.Relevant),
		Body: r.Body, BodyBase64: r.BodyBase64,
	}
	p.Parents = append(p.Parents, r.Parents...)
	for _, h := range r.Redirects {
		p.Redirects = append(p.Redirects, peerRedirect{h.URL, h.StatusCode})
	}
	for _, l := range r.Links {
		p.Links = append(p.Links, peerLink{
			l.URL, l.Anchor, l.Context, l.Rel, l.Hreflang, l.Tag, l.Path, truth(l.Archived), number(l.Score), scoreMap(l.Scores), l.LastMod,
			number(l.Priority),
		})
	}
	return p
}

func number(f Float) *float64 {
	if f.Kind != Present {
		return nil
	}
	return &f.Value
}

func truth(b Bool) *bool {
	if b.Kind != Present {
		return nil
	}
	return &b.Value
}

func valueMap(s []Values) map[string][]string {
	if len(s) == 0 {
		return nil
	}
	m := map[string][]string{}
	for _, v := range s {
		m[v.Name] = append([]string(nil), v.Values...)
	}
	return m
}

func scoreMap(s []Scored) map[string]float64 {
	if len(s) == 0 {
		return nil
	}
	m := map[string]float64{}
	for _, v := range s {
		m[v.Name] = v.Value
	}
	return m
}
