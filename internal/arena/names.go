package arena

import (
	"encoding/binary"
	"hash/maphash"
)

// Names numbers different strings from 0, in the order in which they were added. A string is stored
// without the bytes that it shares with the beginning of an earlier one, so that similar strings
// added one after the other, such as the addresses on a page, are stored in about half their
// length. The zero value is empty and ready to use.
type Names struct {
	list  List
	head  int      // number of the last string that was stored in full
	whole []byte   // this string
	table []uint32 // hash table with open addressing: the number of a string plus one; 0 is a free slot
	known int      // the number of strings in it: the latest ones
	most  int      // at most this number, if positive
	seed  maphash.Seed
	buf   []byte
}

// minShared is the least number of shared bytes that are not stored again.
const minShared = 10

// Len returns the number of strings.
func (s *Names) Len() int { return s.list.Len() }

// KeepWith is that of Arena.
func (s *Names) KeepWith(keep Keeper) { s.list.KeepWith(keep) }

// Know limits the strings that Find and Add know to the latest ones, at most the given number. Others
// get another number when they are added again, so that the memory to find
// strings is bounded, and only those that are soon repeated are stored once.
func (s *Names) Know(most int) { s.most = most }

// Append appends the string with number i to dst.
func (s *Names) Append(dst []byte, i int) []byte {
	prefix, rest := s.parts(i)
	return append(append(dst, prefix...), rest...)
}

// At returns the string with number i.
func (s *Names) At(i int) string {
	prefix, rest := s.parts(i)
	if len(prefix) == 0 {
		return string(rest)
	}
	b := make([]byte, 0, 256)
	return string(append(append(b, prefix...), rest...))
}

// parts returns the two parts of string i.
func (s *Names) parts(i int) (prefix, rest []byte) {
	record := s.list.At(i)
	if record[0] == 0 { // stored in full
		return nil, record[1:]
	}
	shared, n := binary.Uvarint(record)
	back, m := binary.Uvarint(record[n:])
	return s.list.At(i - int(back))[1:][:shared], record[n+m:]
}

// Find returns the number of a string, if it was added.
func (s *Names) Find(name string) (i int, ok bool) {
	if len(s.table) == 0 {
		return 0, false
	}
	i = int(s.table[s.slot(name)]) - 1
	return i, i >= 0
}

// Add returns the number of a string, which it adds if it is new.
func (s *Names) Add(name string) (i int, added bool) {
	s.Reserve(1)
	slot := s.slot(name)
	if i = int(s.table[slot]) - 1; i >= 0 {
		return i, false
	}
	if s.most > 0 && s.known == s.most {
		clear(s.table)
		s.known = 0
		slot = s.slot(name)
	}
	i = s.Len()
	s.buf = s.buf[:0]
	if shared := sharedPrefix(name, s.whole); i > 0 && shared >= minShared && 2*shared >= len(name) {
		s.buf = binary.AppendUvarint(binary.AppendUvarint(s.buf, uint64(shared)), uint64(i-s.head))
		s.buf = append(s.buf, name[shared:]...)
	} else {
		s.head, s.whole = i, append(s.whole[:0], name...)
		s.buf = append(append(s.buf, 0), name...)
	}
	s.list.Append(s.buf)
	s.table[slot] = uint32(i) + 1
	s.known++
	return i, true
}

func sharedPrefix(name string, whole []byte) (n int) {
	for n < min(len(name), len(whole)) && name[n] == whole[n] {
		n++
	}
	return n
}

// slot returns the index of name in the table, or the index of the free slot for it.
func (s *Names) slot(name string) uint64 {
	mask := uint64(len(s.table) - 1)
	for i := maphash.String(s.seed, name) & mask; ; i = (i + 1) & mask {
		if n := s.table[i]; n == 0 || s.is(int(n)-1, name) {
			return i
		}
	}
}

// is reports whether string i is name.
func (s *Names) is(i int, name string) bool {
	prefix, rest := s.parts(i)
	return len(prefix)+len(rest) == len(name) && string(rest) == name[len(prefix):] && string(prefix) == name[:len(prefix)]
}

// Reserve makes room for n more strings.
func (s *Names) Reserve(n int) {
	size := max(1<<10, len(s.table))
	for 4*(s.known+n) > 3*size {
		size *= 2
	}
	if size == len(s.table) {
		return
	}
	if len(s.table) == 0 {
		s.seed = maphash.MakeSeed()
	}
	s.table = make([]uint32, size)
	mask := uint64(size - 1)
	for n := s.Len() - s.known; n < s.Len(); n++ { // all are different: no need to compare
		s.buf = s.Append(s.buf[:0], n)
		i := maphash.Bytes(s.seed, s.buf) & mask
		for s.table[i] != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = uint32(n) + 1
	}
}
