package archive

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// MinRevisit is the size of a payload, in bytes, below which it is written
// again rather than referred to: the reference would hardly be smaller.
const MinRevisit = 1 << 10

// once tells whether the body of an exchange need not be written twice.
func once(x *Exchange) bool {
	return len(x.Body) >= MinRevisit && x.Truncated == "" && !x.NotModified && x.NoArchive == ""
}

// keyPayload is what a payload with the digest that e has is looked up by.
func (e *encoder) keyPayload() key { return key(e.payload) }

// keyURL is what the newest capture of an address is looked up by.
func (e *encoder) keyURL(url string) key {
	e.sum = append(append(e.sum[:0], "url "...), url...)
	e.hash.Reset()
	e.hash.Write(e.sum)
	e.sum = e.hash.Sum(e.sum[:0])
	return key(e.sum)
}

// original is the capture that the exchange only repeats: the zero value if it
// repeats none. Files of this prefix are asked first; own is the one in work.
func (w *Writer) original(e *encoder, x *Exchange, own string) reference {
	digest := ""
	switch {
	case !once(x) && (!x.NotModified || x.NoArchive != ""):
		return reference{}
	case once(x):
		digest = e.digest
	}
	to := w.written(e, x, digest, own)
	if to == (reference{}) && w.options.Known != nil {
		if o, ok := w.options.Known(x.URL, digest); ok {
			to = o.reference()
		}
	}
	return to
}

// written is the capture in a file of this prefix: of a payload with that
// digest, or of the address if it is empty.
func (w *Writer) written(e *encoder, x *Exchange, digest, own string) reference {
	k := e.keyPayload()
	if digest == "" {
		k = e.keyURL(x.URL)
	}
	at, ok := w.ledger.get(k)
	if !ok {
		return reference{}
	}
	rec, done, err := w.record(at, own)
	if err != nil {
		return reference{}
	}
	defer done()
	to := reference{rec.TargetURI(), rec.Header.Get("WARC-Date"), rec.ID()}
	switch {
	case digest != "":
		if rec.Type() != "response" || rec.Header.Get("WARC-Payload-Digest") != digest {
			return reference{}
		}
	case to.url != x.URL:
		return reference{}
	case rec.Type() == "revisit":
		// A revisit refers to what holds the payload, never to another revisit.
		to = reference{rec.Header.Get("WARC-Refers-To-Target-URI"), rec.Header.Get("WARC-Refers-To-Date"), rec.Header.Get("WARC-Refers-To")}
	case rec.Type() != "response":
		return reference{}
	}
	return to
}

// record reads the header of the record at a place. It is valid until done is
// called. Of files that are still open only our own is looked at: what others
// wrote may be lost, if the machine fails, when what refers to it is not.
func (w *Writer) record(at position, own string) (rec *Record, done func(), err error) {
	name, ok := w.files.Load(at.file)
	if !ok || at.offset <= 0 { // the first record of a file is no capture
		return nil, nil, os.ErrNotExist
	}
	path := w.path(name.(string))
	f, err := openFile(path, os.O_RDONLY)
	if name == own && errors.Is(err, os.ErrNotExist) {
		f, err = openFile(path+openSuffix, os.O_RDONLY)
	}
	if err != nil {
		return nil, nil, err
	}
	r := w.readers.Get().(*Reader)
	done = func() {
		w.readers.Put(r)
		f.Close()
	}
	err = r.Reset(io.NewSectionReader(f, at.offset, 1<<62-at.offset))
	if err == nil {
		rec, err = r.Next()
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return rec, done, nil
}

// remember notes where an exchange was written, for those that repeat it and for
// those that go on with the file.
func (w *Writer) remember(e *encoder, x *Exchange, here position, revisit bool) {
	if once(x) && !revisit {
		w.ledger.put(e.keyPayload(), here)
	}
	// The answer 304 confirms the newest capture of the address with a good
	// status. If that was not to be kept, what it refers to is not here.
	if !x.NotModified && (isOK(x.Head) || x.NoArchive != "") {
		w.ledger.put(e.keyURL(x.URL), here)
	}
	if here.offset >= w.mark+markEvery {
		w.mark = here.offset
		w.ledger.put(markKey(w.name), here)
	}
}

// isOK tells whether the status of a response is 2xx.
func isOK(head []byte) bool {
	_, status, _ := bytes.Cut(head[:min(len(head), len("HTTP/1.1 200"))], []byte(" "))
	return bytes.HasPrefix(status, []byte("2"))
}
