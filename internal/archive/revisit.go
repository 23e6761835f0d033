package archive

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// MinRevisit is the size in bytes from which a known payload is written as a revisit. For a smaller
// payload, a revisit would save hardly any space.
const MinRevisit = 1 << 10

// isRevisitable reports whether an exchange may become a revisit of an identical payload.
func isRevisitable(x *Exchange) bool {
	return len(x.Body) >= MinRevisit && x.Truncated == "" && !x.NotModified && x.NoArchive == ""
}

// keyPayload returns the key of the payload whose digest e holds.
func (e *encoder) keyPayload() key { return key(e.payload) }

// keyURL returns the key of the newest capture of a URL.
func (e *encoder) keyURL(url string) key {
	e.sum = append(append(e.sum[:0], "url "...), url...)
	e.hash.Reset()
	e.hash.Write(e.sum)
	e.sum = e.hash.Sum(e.sum[:0])
	return key(e.sum)
}

// original returns the original of the exchange, or the zero value if there is none. It searches
// the files with this prefix first, then earlier archives. own is the name of the current file.
func (w *Writer) original(e *encoder, x *Exchange, own string) reference {
	digest := ""
	switch {
	case !isRevisitable(x) && (!x.NotModified || x.NoArchive != ""):
		return reference{}
	case isRevisitable(x):
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

// written returns a capture in a file with this prefix: a capture whose payload has that digest,
// or, if digest is empty, the newest capture of the URL.
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
		// A revisit must not refer to a revisit.
		to = reference{rec.Header.Get("WARC-Refers-To-Target-URI"), rec.Header.Get("WARC-Refers-To-Date"), rec.Header.Get("WARC-Refers-To")}
	case rec.Type() != "response":
		return reference{}
	}
	return to
}

// record reads the header of the record at a position. The record is valid until done is called.
// record does not read open files of other writers: after a crash of the machine, a record there
// may be lost, although a reference to it is not.
func (w *Writer) record(at position, own string) (rec *Record, done func(), err error) {
	name, ok := w.files.Load(at.file)
	if !ok || at.offset <= 0 { // the first record of a file is not a capture
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

// remember stores where an exchange was written, for later revisits and for checking the end of
// the file.
func (w *Writer) remember(e *encoder, x *Exchange, here position, revisit bool) {
	if isRevisitable(x) && !revisit {
		w.ledger.put(e.keyPayload(), here)
	}
	// A response 304 refers to the newest capture of the URL with a status of 2xx. If the newest
	// response must not be archived, its entry replaces that of the earlier capture, so that a 304
	// then refers to nothing.
	if !x.NotModified && (isOK(x.Head) || x.NoArchive != "") {
		w.ledger.put(e.keyURL(x.URL), here)
	}
	if here.offset >= w.mark+markEvery {
		w.mark = here.offset
		w.ledger.put(markKey(w.name), here)
	}
}

// isOK reports whether the status of a response is 2xx.
func isOK(head []byte) bool {
	_, status, _ := bytes.Cut(head[:min(len(head), len("HTTP/1.1 200"))], []byte(" "))
	return bytes.HasPrefix(status, []byte("2"))
}
