package frontier

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unsafe"

	"spoor/internal/weburl"
)

// This file is the index: what the store knows of every URL, small enough to
// stay in memory, and laid out so that a snapshot of it is used as it was read.
//
// What is known of a URL lies in up to three places, by who asks for it: handing
// out reads the hot part of all URLs, adding a link reads hot and cold of one, and
// the past is there only for URLs to which something has happened.

// hot is what handing out looks at.
type hot struct {
	priority float64 // of the wish
	host     uint32
	niche    uint16 // number of a name: that of the wish
	flags    uint16
}

// cold is what else is known of every URL.
type cold struct {
	proposal   place  // the record that asks for it; 0 if it is known only as a parent or a redirect's end
	lineHash   uint32 // digest of the wish's line
	generation uint32 // generation of the wish
	dir        uint32 // what its text begins with
	history    uint32 // number of its past; 0: none
	suffix     uint32 // where the rest of its text is, the low 32 of 40 bits
	depth      uint16
	operator   uint8 // number of a name
	suffixHigh uint8
}

// past is what has happened to a URL.
type history struct {
	outcome      place  // the record that tells best what came of it; 0 if none
	due          uint32 // not before this second; 0: at once
	lease        uint32 // generation or second, as flags tell
	parents      uint32 // place of the list of parents, if not 0
	reason       uint16 // number of a name: why it is skipped
	retries      uint8  // failed attempts
	class        uint8  // of the outcome
	simhash      uint64 // of the page; 0: none is known
	visits       uint32 // that came before the one that the outcome tells of
	retriesVisit uint32 // that came before the one of the failed attempts
}

// The flags of a URL.
const (
	flagProposed           = 1 << iota // there is a wish
	flagFinished                       // it is not asked for: it has a final outcome, or was given up
	flagWithdrawn                      // the wish is a withdrawal
	flagHistory                        // there is a past
	flagFromUnfinal                    // the wish is the address section of an outcome that is not final
	flagFromFinal                      // the wish is the address section of a final outcome
	flagOwnOutcome                     // the outcome is of this URL, not of one that redirected to it
	flagLeasedByGeneration             // leased to a generation
	flagLeasedByClock                  // leased until a second
	flagRevised                        // the wish was reprioritised
	flagTrapChecked                    // it was asked for before the latest batch: whether it is a trap is decided
	flagLeased             = flagLeasedByGeneration | flagLeasedByClock
)

// The classes of outcomes; of two outcomes of a URL the one of the higher class
// tells more.
const (
	classNone     = iota
	classBudget   // handed back untried
	classFailed   // to be tried again
	classExcluded // not to be asked for: a trap, or beyond a budget
	classRefused  // final, by an error
	classDone     // final, by a status
	classes
)

// A dir is what the URLs of a directory begin with: scheme, host, and the path up
// to its last slash.
type dir struct {
	text  uint64 // of the path: its place, and its length in the low 16 bits
	host  uint32
	https uint32 // 1, or 0
}

// A host is what the index knows of a host (and port).
type host struct {
	text      uint64 // of its name, as in a dir
	notBefore uint32 // second before which it does not want to be asked
	_         [5]uint32
}

// A handout remembers where in the log the batch of a generation stands.
type batchPlace struct {
	generation uint64
	place      place
}

var (
	_ [16]byte = [unsafe.Sizeof(hot{})]byte{}
	_ [32]byte = [unsafe.Sizeof(cold{})]byte{}
	_ [40]byte = [unsafe.Sizeof(history{})]byte{}
	_ [16]byte = [unsafe.Sizeof(dir{})]byte{}
	_ [32]byte = [unsafe.Sizeof(host{})]byte{}
	_ [16]byte = [unsafe.Sizeof(batchPlace{})]byte{}
)

// index is all that is known. A URL, a directory and a host are numbers.
type index struct {
	memory      arena
	hot         column[hot]
	cold        column[cold]
	histories   column[history] // the first is of nobody
	dirs        column[dir]
	hosts       column[host]
	parentLists column[uint32] // length, then numbers of URLs; the first is of nobody
	text        column[byte]

	urlTable, dirTable, hostTable table

	operators, reasons, niches nameTable

	batches  []batchPlace
	hashSeed uint64
}

// newIndex returns an empty index. Its hash depends on the seed, so that nobody
// can prepare URLs that collide.
func newIndex(seed uint64) *index {
	x := &index{hashSeed: seed, operators: newNames(maxOperators), reasons: newNames(maxNames), niches: newNames(maxNames)}
	x.histories.push(&x.memory, history{})
	x.parentLists.push(&x.memory, 0)
	return x
}

// free gives the memory back.
func (x *index) free() {
	x.urlTable.free()
	x.dirTable.free()
	x.hostTable.free()
	x.memory.free()
	*x = index{}
}

func (x *index) len() int { return x.hot.n }

// known tells whether a URL is more than one that was named as a parent.
func (x *index) isKnown(id uint32) bool {
	return x.hot.at(id).flags&flagProposed != 0 || x.history(id).outcome != 0
}

// past is what has happened to a URL, to be read.
func (x *index) history(id uint32) history {
	if x.hot.at(id).flags&flagHistory == 0 {
		return history{}
	}
	return *x.histories.at(x.cold.at(id).history)
}

// pastOf is the past of a URL, to be changed; it gets one if it has none. After a
// change of class or retries, settle must be called.
func (x *index) mutableHistory(id uint32) *history {
	h, c := x.hot.at(id), x.cold.at(id)
	if h.flags&flagHistory == 0 {
		h.flags |= flagHistory
		c.history = x.histories.push(&x.memory, history{})
	}
	return x.histories.at(c.history)
}

// settle notes whether a URL is over. What a person asks for is not barred.
func (x *index) updateFinished(id uint32) {
	h, p := x.hot.at(id), x.history(id)
	h.flags &^= flagFinished
	if p.isFinal() || p.retries > maxRetries || p.class == classExcluded && !x.isSeed(id) {
		h.flags |= flagFinished
	}
}

// isSeed tells whether a person asks for a URL.
func (x *index) isSeed(id uint32) bool {
	return x.operators.list[x.cold.at(id).operator] == operatorSeed
}

// operatorSeed is the operator of what a person asks for.
const operatorSeed = "seed"

// restOf is what the text of a URL has behind that of its directory. Its length
// stands before it, in one byte or, if it is 128 or more, in two.
func (x *index) suffixOf(c *cold) []byte {
	at := uint64(c.suffixHigh)<<32 | uint64(c.suffix)
	b := x.text.chunks[at>>chunkBits][at&(chunkSize-1):]
	if b[0] < 0x80 {
		return b[1:][:b[0]]
	}
	return b[2:][:int(b[0]&0x7f)|int(b[1])<<7]
}

// keepRest adds the rest of a text, of less than 32 KiB.
func (x *index) storeSuffix(s string) uint64 {
	head := 1
	if len(s) >= 0x80 {
		head = 2
	}
	at := uint64(x.text.extend(&x.memory, head+len(s)))
	b := x.text.slice(at, head+len(s))
	b[0] = byte(len(s))
	if head == 2 {
		b[0], b[1] = byte(len(s))|0x80, byte(len(s)>>7)
	}
	copy(b[head:], s)
	return at
}

// bytesAt is the piece of text that ref refers to.
func (x *index) textAt(ref uint64) []byte {
	if ref&0xffff == 0 {
		return nil
	}
	return x.text.slice(ref>>16, int(ref&0xffff))
}

// keep adds s to the text.
func (x *index) storeText(s string) (ref uint64) {
	if s == "" {
		return 0
	}
	at := uint64(x.text.extend(&x.memory, len(s)))
	copy(x.text.slice(at, len(s)), s)
	return at<<16 | uint64(len(s))
}

// nameOf is the name of a host.
func (x *index) hostName(host uint32) []byte { return x.textAt(x.hosts.at(host).text) }

// appendURL appends a URL to b.
func (x *index) appendURL(b []byte, id uint32) []byte {
	c := x.cold.at(id)
	d := x.dirs.at(c.dir)
	if d.https != 0 {
		b = append(b, "https://"...)
	} else {
		b = append(b, "http://"...)
	}
	b = append(b, x.hostName(d.host)...)
	b = append(b, x.textAt(d.text)...)
	return append(b, x.suffixOf(c)...)
}

func (x *index) url(id uint32) string { return string(x.appendURL(nil, id)) }

// split is where the directory of u ends.
func directoryEnd(u weburl.URL) int {
	s, path := u.String(), len(u.Path())
	at := len(s) - len(u.RequestURI())
	return at + strings.LastIndexByte(s[at:at+path], '/') + 1
}

// isDir tells whether d is the directory s, a URL up to its last slash, of a host
// that begins at start and ends at path.
func (x *index) isDirectory(d *dir, s string, start, path int) bool {
	return d.https != 0 == (start == len("https://")) &&
		string(x.textAt(d.text)) == s[path:] &&
		string(x.hostName(d.host)) == s[start:path]
}

// is tells whether id is u, whose directory ends at end.
func (x *index) matches(id uint32, u weburl.URL, end int) bool {
	c := x.cold.at(id)
	s, path := u.String(), len(u.String())-len(u.RequestURI())
	return string(x.suffixOf(c)) == s[end:] && x.isDirectory(x.dirs.at(c.dir), s[:end], path-len(u.Host()), path)
}

// find returns the number of u.
func (x *index) find(u weburl.URL) (id uint32, ok bool) {
	end := directoryEnd(u)
	id, _, ok = x.urlTable.find(hash64(x.hashSeed, u.String())>>32, func(id uint32) bool { return x.matches(id, u, end) })
	return id, ok
}

// warm reads what find is going to read of URLs. In each of its loops no step waits
// for another, so that the processor asks memory for many at once.
func (x *index) prefetch(urls []string) (sum uint64) {
	if len(x.urlTable.slots) == 0 {
		return 0
	}
	var tags [MaxPrefetch]uint64
	var at [MaxPrefetch]int
	var ids [MaxPrefetch]uint32
	for i, u := range urls {
		tags[i] = hash64(x.hashSeed, u) >> 32
		at[i] = slot(tags[i], len(x.urlTable.slots))
		sum += x.urlTable.slots[at[i]]
	}
	n := 0
	for i := range urls {
		for j := at[i]; x.urlTable.slots[j] != 0; j = x.urlTable.nextSlot(j) {
			if s := x.urlTable.slots[j]; s>>32 == tags[i] {
				ids[n] = uint32(s) - 1
				n++
				break
			}
		}
	}
	for _, id := range ids[:n] {
		sum += uint64(x.cold.at(id).suffix) + uint64(x.hot.at(id).flags)
	}
	for _, id := range ids[:n] {
		c := x.cold.at(id)
		at := uint64(c.suffixHigh)<<32 | uint64(c.suffix)
		sum += uint64(x.text.chunks[at>>chunkBits][at&(chunkSize-1)]) + x.dirs.at(c.dir).text
	}
	for _, id := range ids[:n] {
		d := x.dirs.at(x.cold.at(id).dir)
		if d.text&0xffff > 0 {
			sum += uint64(x.textAt(d.text)[0])
		}
		sum += x.hosts.at(d.host).text
	}
	for _, id := range ids[:n] {
		if name := x.hostName(x.dirs.at(x.cold.at(id).dir).host); len(name) > 0 {
			sum += uint64(name[0])
		}
	}
	return sum
}

// intern returns the number of u, which it gets if it has none.
func (x *index) intern(u weburl.URL) (id uint32, isNew bool) {
	end := directoryEnd(u)
	tag := hash64(x.hashSeed, u.String()) >> 32
	id, at, ok := x.urlTable.find(tag, func(id uint32) bool { return x.matches(id, u, end) })
	if ok {
		return id, false
	}
	number := x.internDir(u, end)
	rest := x.storeSuffix(u.String()[end:])
	id = x.hot.push(&x.memory, hot{host: x.dirs.at(number).host})
	x.cold.push(&x.memory, cold{dir: number, suffix: uint32(rest), suffixHigh: uint8(rest >> 32)})
	x.urlTable.insert(tag, at, id)
	return id, true
}

// internDir returns the number of the directory of u, which ends at end.
func (x *index) internDir(u weburl.URL, end int) uint32 {
	s, path := u.String()[:end], len(u.String())-len(u.RequestURI())
	start := path - len(u.Host())
	tag := hash64(x.hashSeed, s) >> 32
	n, at, ok := x.dirTable.find(tag, func(n uint32) bool { return x.isDirectory(x.dirs.at(n), s, start, path) })
	if ok {
		return n
	}
	d := dir{text: x.storeText(s[path:]), host: x.internHost(s[start:path])}
	if start == len("https://") {
		d.https = 1
	}
	n = x.dirs.push(&x.memory, d)
	x.dirTable.insert(tag, at, n)
	return n
}

// internHost returns the number of the host called name.
func (x *index) internHost(name string) uint32 {
	tag := hash64(x.hashSeed, name) >> 32
	n, at, ok := x.hostTable.find(tag, func(n uint32) bool { return string(x.hostName(n)) == name })
	if ok {
		return n
	}
	n = x.hosts.push(&x.memory, host{text: x.storeText(name)})
	x.hostTable.insert(tag, at, n)
	return n
}

// list returns the parents of a URL.
func (x *index) parents(id uint32) []uint32 {
	at := x.history(id).parents
	if at == 0 {
		return nil
	}
	return x.parentLists.slice(uint64(at)+1, int(*x.parentLists.at(at)))
}

// setList makes ids the parents of a URL. There is room for as many as the next
// power of two, so that a list that grows leaves less behind than it has.
func (x *index) setParents(id uint32, ids []uint32) {
	p := x.mutableHistory(id)
	if p.parents == 0 || listCapacity(int(*x.parentLists.at(p.parents))) < len(ids) {
		p.parents = uint32(x.parentLists.extend(&x.memory, 1+listCapacity(len(ids))))
	}
	*x.parentLists.at(p.parents) = uint32(len(ids))
	copy(x.parentLists.slice(uint64(p.parents)+1, len(ids)), ids)
}

// roomOf is how many fit where a list of n is.
func listCapacity(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// less orders URLs.
func (x *index) less(a, b uint32) bool {
	p, q := x.cold.at(a), x.cold.at(b)
	if p.dir == q.dir {
		return string(x.suffixOf(p)) < string(x.suffixOf(q))
	}
	var s, t [256]byte
	return string(x.appendURL(s[:0], a)) < string(x.appendURL(t[:0], b))
}

// names are numbered in the order in which they come. The first is the empty one.
type nameTable struct {
	list    []string
	numbers map[string]uint16
	limit   int
}

const (
	maxOperators = 1 << 8
	maxNames     = 1 << 16
	otherName    = "other" // stands for all names that are beyond the limit, too long, or of several lines
)

func newNames(limit int) nameTable {
	return nameTable{list: []string{""}, numbers: map[string]uint16{"": 0}, limit: limit}
}

// number returns the number of a name.
func (n *nameTable) number(s string) uint16 {
	if i, ok := n.numbers[s]; ok {
		return i
	}
	if s != otherName && (len(s) > 256 || strings.Contains(s, "\n") || len(n.list) >= n.limit-1) {
		return n.number(otherName)
	}
	s = strings.Clone(s)
	i := uint16(len(n.list))
	n.list, n.numbers[s] = append(n.list, s), i
	return i
}

// digest is a 64-bit hash of s in which every bit depends on every byte, by
// multiplications to 128 bits. It is no secret and needs no strength beyond an
// unknown seed: URLs with the same digest are told apart by comparing them.
func hash64(seed uint64, s string) uint64 {
	const k0, k1, k2 = 0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0xabc98388fb8fac03 // odd, from ratios of algebraic numbers
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	h := seed ^ k0
	for len(b) > 16 {
		h = mix(binary.LittleEndian.Uint64(b)^k1, binary.LittleEndian.Uint64(b[8:])^h)
		b = b[16:]
	}
	var last [16]byte
	copy(last[:], b)
	h = mix(binary.LittleEndian.Uint64(last[:])^k1, binary.LittleEndian.Uint64(last[8:])^h)
	return mix(h^k2, uint64(len(s))^k0)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// unsafeString is b as a string, for as long as b is not changed.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
