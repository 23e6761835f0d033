package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	ia "github.com/internetarchive/gowarc"
	nlnwa "github.com/nlnwa/gowarc/v3"
)

// A record is what a library makes of a record.
type record struct {
	Type, URL        string
	Stored, Computed digests
}

// digests are those in the header of a record, or computed from it. The payload of a record
// that is no response has none.
type digests struct{ Block, Payload string }

// readIA reads archives by internetarchive/gowarc, as its command verify does.
func readIA(files ...string) (list []record, err error) {
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r, err := ia.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for {
			rec, err := r.ReadRecord()
			if err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			rec.Content.Seek(0, io.SeekStart)
			block, err := io.ReadAll(rec.Content)
			if err != nil {
				return nil, err
			}
			rec.Content.Close()
			got := record{Type: rec.Header.Get("WARC-Type"), URL: strings.Trim(rec.Header.Get("WARC-Target-URI"), "<>")} // wget follows the grammar of WARC 1.0
			got.Stored = digests{rec.Header.Get("WARC-Block-Digest"), rec.Header.Get("WARC-Payload-Digest")}
			if got.Computed.Block, err = ia.GetDigest(bytes.NewReader(block), ia.SHA1); err != nil {
				return nil, err
			}
			if got.Type == "response" {
				resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", name, got.URL, err)
				}
				if got.Computed.Payload, err = ia.GetDigest(resp.Body, ia.SHA1); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", name, got.URL, err)
				}
			}
			list = append(list, got)
		}
	}
	return list, nil
}

// readNLNWA reads archives by nlnwa/gowarc, as strictly as it can, except that it does not end at
// a digest that it computes otherwise.
func readNLNWA(files ...string) (list []record, err error) {
	for _, name := range files {
		r, err := nlnwa.NewWarcFileReader(name, 0, nlnwa.WithSyntaxErrorPolicy(nlnwa.ErrWarn), nlnwa.WithSpecViolationPolicy(nlnwa.ErrWarn),
			nlnwa.WithUnknownRecordTypePolicy(nlnwa.ErrFail), nlnwa.WithBlockErrorPolicy(nlnwa.ErrFail))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer r.Close()
		for rec, err := range r.Records() {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			h := rec.WarcRecord.WarcHeader()
			got := record{Type: rec.WarcRecord.Type().String(), URL: h.Get(nlnwa.WarcTargetURI)}
			got.Stored = digests{h.Get(nlnwa.WarcBlockDigest), h.Get(nlnwa.WarcPayloadDigest)}
			got.Computed.Block = got.Stored.Block
			if got.Type == "response" {
				got.Computed.Payload = got.Stored.Payload
			}
			findings := rec.Validation
			more, err := rec.WarcRecord.ValidateDigest()
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, got.URL, err)
			}
			for _, finding := range append(findings, more...) {
				var wrong *nlnwa.DigestError
				switch {
				case !errors.As(finding, &wrong):
					return nil, fmt.Errorf("%s: %s: %w", name, got.URL, finding)
				case strings.HasPrefix(finding.Error(), "block: "):
					got.Computed.Block = wrong.Computed
				default:
					got.Computed.Payload = wrong.Computed
				}
			}
			rec.Close()
			list = append(list, got)
		}
	}
	return list, nil
}

// readWarcio reads archives by npm's warcio.
func readWarcio(files ...string) (list []record, err error) {
	cmd := exec.Command("node", append([]string{"with_warcio.mjs"}, files...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	for line := range bytes.Lines(out) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}
