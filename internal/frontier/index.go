package frontier

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unsafe"

	"spoor/internal/weburl"
)

// This file implements the index: the state of every URL, small enough to stay in memory, and
// laid out so that the memory of a snapshot can be used directly.
//
// The state of a URL is split into three parts by use. Leasing scans the hot parts of all URLs;
// adding a link reads the hot and the cold part of one URL; the history exists only for URLs with
// an outcome, a lease, parents or the like.

// A hot is the part of a URL's state that leasing scans.
type hot struct {
	priority float64 // priority in the proposal
	host     uint32
	niche    uint16 // of the proposal: its number in index.niches
	flags    uint16
}

// A cold is the other part of the state that every URL has.
type cold struct {
	proposal   place  // place of the record that proposes the URL; 0 if it is only a parent or the target of a redirect
	lineHash   uint32 // hash of the line of the proposal, to break ties
	generation uint32 // generation of the proposal
	dir        uint32 // its directory: the URL up to the last slash of the path
	history    uint32 // index of its history; 0: none
	suffix     uint32 // offset of the rest of the URL in index.text: the low 32 of 40 bits
	depth      uint16 // depth of the proposal
	operator   uint8  // of the proposal: its number in index.operators
	suffixHigh uint8  // the high 8 bits of suffix
}

// A history is the part of the state that only some URLs have.
type history struct {
	outcome      place  // place of the record with the decisive outcome; 0: none
	due          uint32 // second before which the URL must not be requested; 0: none
	lease        uint32 // generation that leased the URL, or second at which the lease ends, depending on flags
	parents      uint32 // index of the list of parents; 0: none
	reason       uint16 // why the URL is skipped: number in index.reasons
	retries      uint8  // failed attempts
	class        uint8  // class of the outcome
	simhash      uint64 // simhash of the page; 0: unknown
	visits       uint32 // number of visits before the visit of the outcome
	retriesVisit uint32 // number of visits before the visit of the failed attempts
}

// The flags of a URL.
const (
	flagProposed           = 1 << iota // there is a proposal
	flagFinished                       // the URL is not requested any more: it has a final outcome, was given up, or is excluded
	flagWithdrawn                      // the proposal is a withdrawal: its priority is null
	flagHistory                        // there is a history
	flagFromUnfinal                    // the proposal is the address section of an outcome that is not final
	flagFromFinal                      // the proposal is the address section of a final outcome
	flagOwnOutcome                     // the outcome is of this URL, not of a URL that redirected to it
	flagLeasedByGeneration             // leased to a generation
	flagLeasedByClock                  // leased until a second
	flagRevised                        // the proposal was reprioritised
	flagTrapChecked                    // the URL was proposed before the last batch, and is not a trap
	flagLeased             = flagLeasedByGeneration | flagLeasedByClock
)

// The classes of outcomes, in ascending order of precedence.
const (
	classNone     = iota
	classBudget   // not requested
	classFailed   // to be retried
	classExcluded // not to be requested: a trap, or over a budget
	classRefused  // final, with an error
	classDone     // final, with a status
	classes
)

// A dir is the common beginning of URLs: scheme, host, and the path up to its last slash.
type dir struct {
	text  uint64 // the path: its offset in index.text, and its length in the low 16 bits
	host  uint32
	https uint32 // 1 for https, 0 for http
}

// A host is a host name, with its port if the port is not the default.
type host struct {
	text      uint64 // the name, as in a dir
	notBefore uint32 // second before which the host must not be requested
	_         [5]uint32
}

type batchPlace struct {
	generation uint64
	place      place
}

type batchList []batchPlace

var (
	_ [16]byte = [unsafe.Sizeof(hot{})]byte{}
	_ [32]byte = [unsafe.Sizeof(cold{})]byte{}
	_ [40]byte = [unsafe.Sizeof(history{})]byte{}
	_ [16]byte = [unsafe.Sizeof(dir{})]byte{}
	_ [32]byte = [unsafe.Sizeof(host{})]byte{}
	_ [16]byte = [unsafe.Sizeof(batchPlace{})]byte{}
)

// An index holds the state of all URLs. URLs, directories and hosts are numbered from 0.
type index struct {
	memory      arena
	hot         column[hot]
	cold        column[cold]
	histories   column[history] // the first is unused
	dirs        column[dir]
	hosts       column[host]
	parentLists column[uint32] // lists of URLs, each after its length; the first is unused
	text        column[byte]

	urlTable, dirTable, hostTable table

	operators, reasons, niches nameTable

	batches  batchList
	hashSeed uint64
	snapshot []byte // the snapshot that parts of the index are in; nil if there is none
}

// newIndex returns an empty index. Hashes depend on the seed, so that colliding URLs cannot be
// prepared in advance.
func newIndex(seed uint64) *index {
	x := &index{hashSeed: seed, operators: newNames(maxOperators), reasons: newNames(maxNames), niches: newNames(maxNames)}
	x.histories.push(&x.memory, history{})
	x.parentLists.push(&x.memory, 0)
	return x
}

func (x *index) free() {
	x.urlTable.free()
	x.dirTable.free()
	x.hostTable.free()
	x.memory.free()
	freeMemory(x.snapshot)
	*x = index{}
}

func (x *index) len() int { return x.hot.n }

// isKnown reports whether a URL was added or is the target of a redirect. It returns false for a URL
// that is only a parent.
func (x *index) isKnown(id uint32) bool {
	return x.hot.at(id).flags&flagProposed != 0 || x.history(id).outcome != 0
}

// history returns a copy of a URL's history.
func (x *index) history(id uint32) history {
	if x.hot.at(id).flags&flagHistory == 0 {
		return history{}
	}
	return *x.histories.at(x.cold.at(id).history)
}

// mutableHistory returns the history of a URL, to be changed, and creates it if there is none.
// updateFinished must be called after class or retries change.
func (x *index) mutableHistory(id uint32) *history {
	h, c := x.hot.at(id), x.cold.at(id)
	if h.flags&flagHistory == 0 {
		h.flags |= flagHistory
		c.history = x.histories.push(&x.memory, history{})
	}
	return x.histories.at(c.history)
}

// updateFinished sets or clears flagFinished.
func (x *index) updateFinished(id uint32) {
	h, p := x.hot.at(id), x.history(id)
	h.flags &^= flagFinished
	if p.isFinal() || p.retries > maxRetries || p.class == classExcluded && x.staysExcluded(id, &p) {
		h.flags |= flagFinished
	}
}

func (x *index) isSeed(id uint32) bool {
	return x.operators.list[x.cold.at(id).operator] == operatorSeed
}

const operatorSeed = "seed"

// suffixOf returns the part of a URL after the directory. In index.text the suffix follows its
// length, which has one byte, or two bytes if it is 128 or more.
func (x *index) suffixOf(c *cold) []byte {
	at := uint64(c.suffixHigh)<<32 | uint64(c.suffix)
	b := x.text.chunks[at>>chunkBits][at&(chunkSize-1):]
	if b[0] < 0x80 {
		return b[1:][:b[0]]
	}
	return b[2:][:int(b[0]&0x7f)|int(b[1])<<7]
}

// storeSuffix adds a suffix of less than 32 KiB to the text, and returns its offset.
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

func (x *index) textAt(ref uint64) []byte {
	if ref&0xffff == 0 {
		return nil
	}
	return x.text.slice(ref>>16, int(ref&0xffff))
}

func (x *index) storeText(s string) (ref uint64) {
	if s == "" {
		return 0
	}
	at := uint64(x.text.extend(&x.memory, len(s)))
	copy(x.text.slice(at, len(s)), s)
	return at<<16 | uint64(len(s))
}

func (x *index) hostName(host uint32) []byte { return x.textAt(x.hosts.at(host).text) }

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

// directoryEnd returns the length of the directory of u.
func directoryEnd(u weburl.URL) int {
	s, path := u.String(), len(u.Path())
	at := len(s) - len(u.RequestURI())
	return at + strings.LastIndexByte(s[at:at+path], '/') + 1
}

// isDirectory reports whether d is the directory s, whose host is s[start:path].
func (x *index) isDirectory(d *dir, s string, start, path int) bool {
	return d.https != 0 == (start == len("https://")) &&
		string(x.textAt(d.text)) == s[path:] &&
		string(x.hostName(d.host)) == s[start:path]
}

// matches reports whether id is u, whose directory ends at end.
func (x *index) matches(id uint32, u weburl.URL, end int) bool {
	c := x.cold.at(id)
	s, path := u.String(), len(u.String())-len(u.RequestURI())
	return string(x.suffixOf(c)) == s[end:] && x.isDirectory(x.dirs.at(c.dir), s[:end], path-len(u.Host()), path)
}

func (x *index) find(u weburl.URL) (id uint32, ok bool) {
	end := directoryEnd(u)
	id, _, ok = x.urlTable.find(hash64(x.hashSeed, u.String())>>32, func(id uint32) bool { return x.matches(id, u, end) })
	return id, ok
}

// prefetch reads the memory that find will read for the URLs. No iteration of a loop depends on an
// earlier iteration, so the processor can overlap the cache misses.
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

// intern returns the number of u, adding u if it is new.
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

func (x *index) parents(id uint32) []uint32 {
	at := x.history(id).parents
	if at == 0 {
		return nil
	}
	return x.parentLists.slice(uint64(at)+1, int(*x.parentLists.at(at)))
}

// setParents sets the parents of a URL. The capacity of a list is a power of two, so that a
// growing list wastes less memory than it uses.
func (x *index) setParents(id uint32, ids []uint32) {
	p := x.mutableHistory(id)
	if p.parents == 0 || listCapacity(int(*x.parentLists.at(p.parents))) < len(ids) {
		p.parents = uint32(x.parentLists.extend(&x.memory, 1+listCapacity(len(ids))))
	}
	*x.parentLists.at(p.parents) = uint32(len(ids))
	copy(x.parentLists.slice(uint64(p.parents)+1, len(ids)), ids)
}

func listCapacity(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// compareURLs compares the URLs a and b as strings.
func (x *index) compareURLs(a, b uint32) int {
	p, q := x.cold.at(a), x.cold.at(b)
	if p.dir == q.dir {
		return bytes.Compare(x.suffixOf(p), x.suffixOf(q))
	}
	var s, t [256]byte
	return bytes.Compare(x.appendURL(s[:0], a), x.appendURL(t[:0], b))
}

// A nameTable numbers names in the order in which they are added, from the empty name.
type nameTable struct {
	list    []string
	numbers map[string]uint16
	limit   int
}

const (
	maxOperators = 1 << 8
	maxNames     = 1 << 16
	otherName    = "other" // replaces all names beyond the limit, too long, or with line breaks
)

func newNames(limit int) nameTable {
	return nameTable{list: []string{""}, numbers: map[string]uint16{"": 0}, limit: limit}
}

// number returns the number of a name, adding it if it is new.
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

// hash64 returns a 64-bit hash of s, computed by multiplications to 128 bits. It is part of the
// file format. It is not cryptographic: URLs with equal hashes are compared, and because of the
// seed, collisions cannot be prepared.
func hash64(seed uint64, s string) uint64 {
	const k0, k1, k2 = 0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0xabc98388fb8fac03 // odd fractions of algebraic numbers
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

// unsafeString returns b as a string, which is valid until b changes.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
