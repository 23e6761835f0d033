package archive

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"spoor/internal/weburl"
)

// An indexKey is what an index is searched for: a canonical URL, and the beginning of its lines.
type indexKey struct {
	url  string
	surt []byte // with the space that follows it
	hash uint64
}

func newIndexKey(url string) indexKey {
	surt := append([]byte(weburl.SURT(url)), ' ')
	return indexKey{url, surt, hashKey(surt[:len(surt)-1])}
}

var keySeed = maphash.MakeSeed()

func hashKey(surt []byte) uint64 { return maphash.Bytes(keySeed, surt) }

// A keyFilter is a Bloom filter of the keys of an index. Searching the indexes of 20 archives for every
// link took three quarters of the time of parse. It has two to four bytes for each line.
type keyFilter []uint64 // as many as a power of two

// newKeyFilter returns a filter of the keys of lines. size is the expected number of lines.
func newKeyFilter(lines []byte, size int) keyFilter {
	f := make(keyFilter, 1<<bits.Len(uint(size/4)))
	for len(lines) > 0 {
		end := lineEnd(lines, 0)
		surt, _, _ := bytes.Cut(lines[:end], []byte(" "))
		word, mask := f.place(hashKey(surt))
		*word |= mask
		lines = lines[min(end+1, len(lines)):]
	}
	return f
}

// place returns the word of a key, and the four bits that are set in it.
func (f keyFilter) place(hash uint64) (word *uint64, mask uint64) {
	mask = 1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63) | 1<<(hash>>18&63)
	return &f[hash>>24&uint64(len(f)-1)], mask
}

// searchBytes is how many bytes of an index can be added to a filter in about the time of a search.
const searchBytes = 8 << 10

// mayHave reports whether the index may have lines of a key. The filter is made when the searches so far
// took about as long as that takes: a few lookups should not read a large index from its beginning to
// its end.
func (x *Index) mayHave(key indexKey) bool {
	if few := int64(len(x.data) / searchBytes); x.lookups.Load() < few && x.lookups.Add(1) <= few {
		return true
	}
	x.filterOnce.Do(func() {
		ok := true
		f := func() keyFilter {
			defer recoverFault(&ok)()
			lines := x.data[x.first:]
			return newKeyFilter(lines, int(min(max(0, x.Meta.Captures), int64(len(lines)/16))))
		}()
		if ok && !x.isTruncated() {
			x.filter = f
		}
	})
	if x.filter == nil { // the file was truncated
		return true
	}
	word, mask := x.filter.place(key.hash)
	return *word&mask == mask
}
