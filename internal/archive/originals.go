package archive

import (
	"cmp"
	"fmt"

	"spoor/internal/weburl"
)

// originals checks that the originals of revisits exist if they are not identified by WARC-Refers-To,
// but by their address and payload digest, or by address and date if there is no digest.
type originals struct {
	captures map[uint64]struct{} // hashes of the keys of captures
	revisits []unresolved
}

// maxCaptureKeys limits the keys: a capture has two.
const maxCaptureKeys = 2 * maxIDs

// An unresolved is a revisit whose original was not read before it. Any capture with one of the keys
// would be the original.
type unresolved struct {
	Finding
	keys []uint64
}

// add adds the capture or the revisit in a record. Status is that of the response, or 0.
func (o *originals) add(rec *Record, file string, status int) {
	kind, url, digest := rec.Type(), rec.TargetURI(), rec.Header.Get(payloadDigest)
	if canonical, err := weburl.Canonical(url); err == nil {
		url = canonical
	}
	switch {
	case (kind == "response" || kind == "resource") && len(o.captures) < maxCaptureKeys:
		o.captures[digestKey(url, digest)] = struct{}{}
		o.captures[dateKey(url, rec.Header.Get("WARC-Date"))] = struct{}{}
	case kind == "revisit" && rec.Header.Get("WARC-Refers-To") == "" && len(o.revisits) < maxReferences:
		ref := newReferral(Capture{URL: url, Status: status, Digest: digest}, rec)
		if x := o.reference(&ref); x.keys != nil && !o.has(x) {
			x.File, x.Offset, x.ID, x.URL = file, rec.Offset, rec.ID(), rec.TargetURI()
			o.revisits = append(o.revisits, x)
		}
	}
}

// reference returns the keys of the original of a revisit; none if the revisit does not identify it.
func (o *originals) reference(ref *referral) (x unresolved) {
	switch {
	case ref.Digest != "":
		for _, url := range ref.urls() {
			x.keys = append(x.keys, digestKey(url, ref.Digest), digestKey(url, "")) // a capture may have no digest
		}
	case ref.date != "":
		x.keys = append(x.keys, dateKey(ref.urls()[0], ref.date))
	}
	x.Kind, x.Warning = KindReference, true
	x.Detail = fmt.Sprintf("the original is in none of the files: %.200s of %.40s with payload %.200s",
		cmp.Or(ref.url, ref.URL), cmp.Or(ref.date, "any date"), cmp.Or(ref.Digest, "of any digest"))
	return x
}

func (o *originals) has(x unresolved) bool {
	for _, key := range x.keys {
		if _, ok := o.captures[key]; ok {
			return true
		}
	}
	return false
}

// missing returns the revisits whose originals were not read. It returns none if not all captures were
// compared.
func (o *originals) missing() (all []Finding) {
	for _, x := range o.revisits {
		if len(o.captures) < maxCaptureKeys && !o.has(x) {
			all = append(all, x.Finding)
		}
	}
	return all
}

// digestKey returns the key of a capture of a URL with that payload digest, in any notation.
func digestKey(url, digest string) uint64 {
	if claim, err := parseClaim("", digest); err == nil && claim.sum != nil {
		digest = fmt.Sprintf("%s:%x", claim.algorithm, claim.sum)
	}
	return idKey(url + " " + digest)
}

func dateKey(url, date string) uint64 {
	if t, ok := parseDate(date); ok {
		date = t.Format(timestampLayout)
	}
	return idKey(url + " at " + date)
}
