package frontier

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"spoor/internal/weburl"
)

// This file is the index: what the store knows of every URL, small enough to
// stay in memory, and laid out so that a snapshot of it is used as it was read.

// An entry is what the index knows of one URL. It has no pointers and its size is
// a cache line; a snapshot holds it as it is.
type entry struct {
	text     uint64  // offset of path and query in the text, and their length in the low 16 bits
	wish     place   // the record that asks for it; 0 if it is known only as a parent or a redirect's end
	outcome  place   // the record that tells best what came of it; 0 if none
	priority float64 // of the wish
	host     uint32
	asked    uint32 // generation of the wish
	tie      uint32 // digest of the wish's line
	due      uint32 // not before this second; 0: at once
	lease    uint32 // generation or second, as flags tell
	parents  uint32 // offset of the list of parents, if not 0
	depth    uint16
	flags    uint16
	retries  uint8 // failed attempts
	operator uint8 // number of a name
	reason   uint8 // number of a name: why it is skipped
	class    uint8 // of the outcome
}

const entrySize = 64

var _ [entrySize]byte = [unsafe.Sizeof(entry{})]byte{}

// The flags of an entry.
const (
	flagHTTPS    = 1 << iota
	flagNull     // the wish is a withdrawal
	flagEcho     // the wish is the address section of an outcome that is not final
	flagBrought  // the wish is the address section of a final outcome
	flagOwn      // the outcome is of this URL, not of one that redirected to it
	flagByNumber // leased to a generation
	flagByClock  // leased until a second
	flagLeased   = flagByNumber | flagByClock
)

// The classes of outcomes; of two outcomes of a URL the one of the higher class
// tells more.
const (
	classNone    = iota
	classBudget  // handed back untried
	classFailed  // to be tried again
	classRefused // final, by an error
	classDone    // final, by a status
	classes
)

// A host is what the index knows of a host (and port).
type host struct {
	text      uint64 // of its name, as in an entry
	notBefore uint32 // second before which it does not want to be asked
	_         uint32
}

const hostSize = 16

// A handout remembers where in the log the batch of a generation stands.
type handout struct {
	generation uint64
	at         place
}

const handoutSize = 16

// index is all that is known. What came from a snapshot is in the base slices,
// which may be mapped memory and never grow; what came later is in the others.
type index struct {
	base, more         []entry
	baseText, moreText []byte
	slots              []uint64 // high half: digest of the URL; low half: number of the entry + 1
	hosts              []host
	hostSlots          []uint32 // number of the host + 1
	lists              []uint32 // length, then numbers of entries; begins with an unused 0
	names              []string // operators and reasons; the first is ""
	handouts           []handout
	seed               uint64
}

// newIndex returns an empty index. Its hash depends on the seed, so that nobody
// can prepare URLs that collide.
func newIndex(seed uint64) *index {
	return &index{seed: seed, lists: []uint32{0}, names: []string{""}}
}

func (x *index) len() int { return len(x.base) + len(x.more) }

func (x *index) at(id uint32) *entry {
	if int(id) < len(x.base) {
		return &x.base[id]
	}
	return &x.more[int(id)-len(x.base)]
}

// bytesAt is the piece of text that ref refers to.
func (x *index) bytesAt(ref uint64) []byte {
	at, n := int(ref>>16), int(ref&0xffff)
	if at < len(x.baseText) {
		return x.baseText[at : at+n]
	}
	at -= len(x.baseText)
	return x.moreText[at : at+n]
}

// keep adds s to the text.
func (x *index) keep(s string) (ref uint64) {
	ref = uint64(len(x.baseText)+len(x.moreText))<<16 | uint64(len(s))
	x.moreText = append(x.moreText, s...)
	return ref
}

// appendURL appends the URL of e to b.
func (x *index) appendURL(b []byte, e *entry) []byte {
	b = append(b, "http://"...)
	if e.flags&flagHTTPS != 0 {
		b = append(b[:len(b)-3], "s://"...)
	}
	b = append(b, x.bytesAt(x.hosts[e.host].text)...)
	return append(b, x.bytesAt(e.text)...)
}

func (x *index) url(e *entry) string { return string(x.appendURL(nil, e)) }

// is tells whether e is the entry of u.
func (x *index) is(e *entry, u weburl.URL) bool {
	return e.flags&flagHTTPS != 0 == (u.Scheme() == "https") &&
		string(x.bytesAt(e.text)) == u.RequestURI() &&
		string(x.bytesAt(x.hosts[e.host].text)) == u.Host()
}

// find returns the entry of u.
func (x *index) find(u weburl.URL) (id uint32, ok bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	tag := digest(x.seed, u.String()) >> 32
	for i := slot(tag, len(x.slots)); ; i = following(i, len(x.slots)) {
		s := x.slots[i]
		if s == 0 {
			return 0, false
		}
		if id := uint32(s) - 1; s>>32 == tag && x.is(x.at(id), u) {
			return id, true
		}
	}
}

// intern returns the entry of u, which is made if there is none.
func (x *index) intern(u weburl.URL) (id uint32, fresh bool) {
	if (x.len()+1)*5 > len(x.slots)*4 {
		x.grow()
	}
	tag := digest(x.seed, u.String()) >> 32
	i := slot(tag, len(x.slots))
	for ; x.slots[i] != 0; i = following(i, len(x.slots)) {
		if id := uint32(x.slots[i]) - 1; x.slots[i]>>32 == tag && x.is(x.at(id), u) {
			return id, false
		}
	}
	id = uint32(x.len())
	x.slots[i] = tag<<32 | uint64(id+1)
	e := entry{text: x.keep(u.RequestURI()), host: x.internHost(u.Host())}
	if u.Scheme() == "https" {
		e.flags = flagHTTPS
	}
	x.more = append(x.more, e)
	return id, true
}

// slot is where the search for a digest begins. Only its high bits decide, so
// that a larger table can be made of the slots alone.
func slot(tag uint64, slots int) int { return int(tag * uint64(slots) >> 32) }

func following(i, slots int) int {
	if i++; i == slots {
		return 0
	}
	return i
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]uint64, max(64, len(old)+len(old)/2))
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := slot(s>>32, len(x.slots))
		for ; x.slots[i] != 0; i = following(i, len(x.slots)) {
		}
		x.slots[i] = s
	}
}

// internHost returns the number of the host called name.
func (x *index) internHost(name string) uint32 {
	if (len(x.hosts)+1)*2 > len(x.hostSlots) {
		x.hostSlots = make([]uint32, max(64, 4*(len(x.hosts)+1)))
		for id := range x.hosts {
			i := slot(digest(x.seed, unsafeString(x.bytesAt(x.hosts[id].text)))>>32, len(x.hostSlots))
			for ; x.hostSlots[i] != 0; i = following(i, len(x.hostSlots)) {
			}
			x.hostSlots[i] = uint32(id) + 1
		}
	}
	i := slot(digest(x.seed, name)>>32, len(x.hostSlots))
	for ; x.hostSlots[i] != 0; i = following(i, len(x.hostSlots)) {
		if id := x.hostSlots[i] - 1; string(x.bytesAt(x.hosts[id].text)) == name {
			return id
		}
	}
	x.hosts = append(x.hosts, host{text: x.keep(name)})
	x.hostSlots[i] = uint32(len(x.hosts))
	return uint32(len(x.hosts)) - 1
}

// otherName stands for all names beyond what a byte can number.
const otherName = "other"

// name returns the number of an operator or reason.
func (x *index) name(s string) uint8 {
	if i := slices.Index(x.names, s); i >= 0 {
		return uint8(i)
	}
	if len(s) > 64 || strings.Contains(s, "\n") || len(x.names) >= 254 {
		if i := slices.Index(x.names, otherName); i >= 0 {
			return uint8(i)
		}
		s = otherName
	}
	x.names = append(x.names, strings.Clone(s))
	return uint8(len(x.names) - 1)
}

// list returns the parents of e.
func (x *index) list(e *entry) []uint32 {
	if e.parents == 0 {
		return nil
	}
	n := x.lists[e.parents]
	return x.lists[e.parents+1:][:n]
}

// less orders entries by URL.
func (x *index) less(a, b *entry) bool {
	if a.host == b.host && (a.flags^b.flags)&flagHTTPS == 0 {
		return string(x.bytesAt(a.text)) < string(x.bytesAt(b.text))
	}
	var p, q [256]byte
	return string(x.appendURL(p[:0], a)) < string(x.appendURL(q[:0], b))
}

// digest is a 64-bit hash of s in which every bit depends on every byte, by
// multiplications to 128 bits. It is no secret and needs no strength beyond an
// unknown seed: URLs with the same digest are told apart by comparing them.
func digest(seed uint64, s string) uint64 {
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
