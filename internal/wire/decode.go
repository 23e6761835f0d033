package wire

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// maxDepth limits the nesting of values. encoding/json has the same limit.
const maxDepth = 10000

// A decoder decodes one line. Strings without escapes are not copied: they share memory with
// the line. Strings with escapes are unescaped into arena.
type decoder struct {
	line  []byte
	pos   int
	arena []byte // strings that were unescaped; see [decoder.reserve] for its capacity

	unchecked  bool // accept invalid numbers and times, see [Record.Restore]
	wantedOnly bool // check only the syntax of fields that are not wanted
	memory     int  // bytes that the elements of lists may still take
	dropped    int  // number of links that were dropped
}

// The elements of the lists and objects of a line may use len(line) + maxMemory bytes of memory. A
// limit is needed because an empty element uses up to a hundred times as many bytes in memory as in
// the line. maxMemory is more than one and a half times the memory that a sitemap, the longest list
// that a stage writes, requires.
const maxMemory = 20 << 20

// ErrTooLarge is wrapped by errors about a line whose lists and objects need more memory than its
// length allows.
var ErrTooLarge = errors.New(ErrorTooLarge + ": too many elements for the length of the record")

// useMemory subtracts n bytes from the memory that elements may use. It returns [ErrTooLarge] if
// there is not enough left.
func (d *decoder) useMemory(n uintptr) error {
	if d.memory -= int(n); d.memory < 0 {
		return ErrTooLarge
	}
	return nil
}

// errEnd is returned for a line that ends too early.
var errEnd = errors.New("unexpected end of the record")

// unexpected returns an error about the byte at pos.
func (d *decoder) unexpected(want string) error {
	if d.pos >= len(d.line) {
		return errEnd
	}
	r, n := utf8.DecodeRune(d.line[d.pos:])
	if r == '"' {
		return fmt.Errorf("a string at byte %d where %s is expected", d.pos+1, want)
	}
	if r == utf8.RuneError && n <= 1 {
		return fmt.Errorf("byte %#02x at %d where %s is expected", d.line[d.pos], d.pos+1, want)
	}
	return fmt.Errorf("%q at byte %d where %s is expected", r, d.pos+1, want)
}

// space skips white space and returns the next byte, or 0 at the end.
func (d *decoder) space() byte {
	for d.pos < len(d.line) {
		switch c := d.line[d.pos]; c {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

// members decodes the object at pos. It calls each for every member, with pos at the value
// and start at the first byte of the member; each must advance pos past the value.
//
// A callback per member is fast enough: the closures do not escape to the heap.
func (d *decoder) members(each func(key string, start int) error) error {
	if d.space() != '{' {
		return d.unexpected("{")
	}
	d.pos++
	if d.space() == '}' {
		d.pos++
		return nil
	}
	for {
		start := d.pos
		if d.space() != '"' {
			return d.unexpected("a quoted name")
		}
		key, err := d.key()
		if err != nil {
			return err
		}
		if d.space() != ':' {
			return d.unexpected("a colon")
		}
		d.pos++
		d.space()
		if err := each(key, start); err != nil {
			return err
		}
		switch d.space() {
		case ',':
			d.pos++
			d.space()
		case '}':
			d.pos++
			return nil
		default:
			return d.unexpected("a comma or }")
		}
	}
}

// elements decodes the array at pos. It calls each for every element, with pos at its start.
func (d *decoder) elements(each func() error) error {
	if d.space() != '[' {
		return d.unexpected("[")
	}
	d.pos++
	if d.space() == ']' {
		d.pos++
		return nil
	}
	for {
		d.space()
		if err := each(); err != nil {
			return err
		}
		switch d.space() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return nil
		default:
			return d.unexpected("a comma or ]")
		}
	}
}

// record decodes the wanted sections of the line into r, and stores the positions of all
// members in r.
func (d *decoder) record(r *Record, want Section) error {
	base := unsafe.Pointer(r)
	d.memory = len(d.line) + maxMemory
	err := d.members(func(key string, start int) error {
		m := member{start: start}
		f := recordObject.find(key)
		if f != nil {
			m.section = f.section
		}
		err := d.useMemory(unsafe.Sizeof(m))
		switch {
		case err != nil:
		case f != nil && (f.section&want != 0 || f.always):
			err = d.field(f, base)
		case f != nil && f.section == Body && d.peek() == '"':
			err = d.skipBody()
		case f != nil && f.valid != values{} && !d.wantedOnly:
			err = d.skipValid(f)
		default:
			err = d.skip(1)
		}
		m.end = d.pos
		r.raw.members = append(r.raw.members, m)
		return err
	})
	if err != nil {
		return err
	}
	if d.space(); d.pos < len(d.line) {
		return d.unexpected("the end of the line")
	}
	if r.URL == "" && r.Query == "" {
		return errors.New("the record has neither url nor query")
	}
	return nil
}

func (d *decoder) peek() byte {
	if d.pos < len(d.line) {
		return d.line[d.pos]
	}
	return 0
}

// object decodes the object at pos into the zero struct at base.
func (d *decoder) object(o *object, base unsafe.Pointer) error {
	if d.peek() == 'n' {
		return d.literal("null")
	}
	// Keep unknown members: as a part of the line if they are adjacent; otherwise a second pass
	// joins them.
	begin := d.pos
	var start, end, runs int
	unknown := false // whether the last member was unknown
	err := d.members(func(key string, from int) error {
		if f := o.find(key); f != nil {
			unknown = false
			return d.field(f, base)
		}
		err := d.skip(3)
		if !unknown {
			unknown = true
			runs++
			start = from
		}
		end = d.pos
		return err
	})
	if err != nil || runs == 0 {
		return err
	}
	extra := (*string)(unsafe.Add(base, o.extra))
	if runs == 1 {
		*extra = alias(d.line[start:end])
		return nil
	}
	d.pos = begin
	var joined []byte
	err = d.members(func(key string, from int) error {
		err := d.skip(3)
		if o.find(key) == nil {
			if joined != nil {
				joined = append(joined, ',')
			}
			joined = append(joined, d.line[from:d.pos]...)
		}
		return err
	})
	*extra = alias(joined)
	if err == nil {
		err = d.useMemory(uintptr(cap(joined)))
	}
	return err
}

// field decodes the value at pos into the field of the struct at base.
func (d *decoder) field(f *field, base unsafe.Pointer) error {
	var err error
	if d.peek() == 'n' {
		f.clear(base, Null)
		err = d.literal("null")
	} else {
		err = d.value(f, base)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// skipValid skips the value at pos, which belongs to a section that is not wanted. It checks that
// numbers and times are valid, so that every stage refuses the same records. A value of a wrong type
// is refused only by stages that decode it.
func (d *decoder) skipValid(f *field) (err error) {
	switch c := d.peek(); {
	case f.valid.time && c == '"':
		_, err = d.text(f)
	case !f.valid.time && (c == '-' || '0' <= c && c <= '9'):
		_, err = d.whole(f)
	default:
		return d.skip(1)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// The errors of values that are not valid.
var (
	errRange = errors.New("is out of range")
	errTime  = errors.New("is not a time in the format of RFC 3339")
)

// whole decodes the whole number at pos, which must be valid for f.
func (d *decoder) whole(f *field) (int64, error) {
	n, err := d.int(64)
	if err == nil && n != 0 && (n < f.valid.min || n > f.valid.max) && !d.unchecked {
		err = fmt.Errorf("%d %w: it must be from %d to %d", n, errRange, f.valid.min, f.valid.max)
	}
	return n, err
}

// text decodes the string at pos, which must be valid for f.
func (d *decoder) text(f *field) (string, error) {
	s, err := d.string()
	if f.valid.time && err == nil && s != "" && !d.unchecked {
		if _, bad := time.Parse(time.RFC3339, s); bad != nil {
			err = fmt.Errorf("%.40q %w", s, errTime)
		}
	}
	return s, err
}

// value decodes the value at pos, which is not null.
func (d *decoder) value(f *field, base unsafe.Pointer) (err error) {
	switch f.kind {
	case kindString:
		*in[string](f, base), err = d.text(f)
	case kindInt:
		var n int64
		n, err = d.whole(f)
		*in[int](f, base) = int(n)
	case kindInt64:
		*in[int64](f, base), err = d.whole(f)
	case kindFloat:
		p := in[Float](f, base)
		p.Kind = Present
		p.Value, err = d.float()
	case kindBool:
		*in[Bool](f, base), err = d.bool()
	case kindStrings:
		p := in[[]string](f, base)
		*p, err = d.strings((*p)[:0])
	case kindValues:
		err = d.values(in[[]Values](f, base))
	case kindScores:
		err = d.scores(in[[]Scored](f, base))
	case kindRedirects:
		p := in[[]Redirect](f, base)
		*p = (*p)[:0]
		err = d.elements(func() error {
			if err := d.useMemory(unsafe.Sizeof(Redirect{})); err != nil {
				return err
			}
			*p = append(*p, Redirect{})
			return d.object(redirectObject, unsafe.Pointer(&(*p)[len(*p)-1]))
		})
	case kindLinks:
		p := in[[]Link](f, base)
		*p = (*p)[:0]
		err = d.elements(func() error {
			l := extend(p)
			*l = Link{Scores: l.Scores[:0]}
			if err := d.object(linkObject, unsafe.Pointer(l)); err != nil {
				return err
			}
			if !fetchable(l.URL) {
				*p = (*p)[:len(*p)-1]
				d.dropped++
				return nil
			}
			return d.useMemory(unsafe.Sizeof(Link{}))
		})
	}
	return err
}

// maxURL is the maximum length of a URL that is requested, in bytes, as in package weburl.
const maxURL = 8 << 10

// fetchable reports whether a link with this URL can be followed: the URL is not empty and not longer
// than maxURL, and its scheme is http or https. A relative URL has no scheme, and is accepted.
func fetchable(url string) bool {
	if len(url) > maxURL {
		return false
	}
	for len(url) > 0 && url[0] <= ' ' { // as a browser does
		url = url[1:]
	}
	for i := range len(url) {
		switch c := url[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.EqualFold(url[:i], "https") || strings.EqualFold(url[:i], "http")
		default:
			return true
		}
	}
	return url != ""
}

// extend appends an element to s and returns a pointer to it. If the capacity of s suffices, the
// element is not zeroed, so that its slices can be reused.
func extend[T any](s *[]T) *T {
	n := len(*s)
	if n < cap(*s) {
		*s = (*s)[:n+1]
	} else {
		var zero T
		*s = append(*s, zero)
	}
	return &(*s)[n]
}

func (d *decoder) strings(s []string) ([]string, error) {
	err := d.elements(func() error {
		if err := d.useMemory(unsafe.Sizeof("")); err != nil {
			return err
		}
		if d.peek() == 'n' {
			s = append(s, "")
			return d.literal("null")
		}
		v, err := d.string()
		s = append(s, v)
		return err
	})
	return s, err
}

func (d *decoder) values(s *[]Values) error {
	*s = (*s)[:0]
	sorted := true
	err := d.members(func(key string, _ int) error {
		if d.peek() == 'n' {
			return d.literal("null")
		}
		if !valid([]byte(key)) {
			return errUTF8
		}
		if n := len(*s); n > 0 && (*s)[n-1].Name >= key {
			sorted = false
		}
		err := d.useMemory(unsafe.Sizeof(Values{}))
		if err != nil {
			return err
		}
		v := extend(s)
		v.Name = key
		v.Values, err = d.strings(v.Values[:0])
		return err
	})
	if err == nil && !sorted {
		*s = sortByName(*s, func(v *Values) string { return v.Name })
	}
	return err
}

func (d *decoder) scores(s *[]Scored) error {
	*s = (*s)[:0]
	sorted := true
	err := d.members(func(key string, _ int) error {
		if d.peek() == 'n' {
			return d.literal("null")
		}
		if !valid([]byte(key)) {
			return errUTF8
		}
		if n := len(*s); n > 0 && (*s)[n-1].Name >= key {
			sorted = false
		}
		if err := d.useMemory(unsafe.Sizeof(Scored{})); err != nil {
			return err
		}
		v, err := d.float()
		*s = append(*s, Scored{key, v})
		return err
	})
	if err == nil && !sorted {
		*s = sortByName(*s, func(v *Scored) string { return v.Name })
	}
	return err
}

// sortByName sorts s by name and keeps the last of several elements with the same name.
func sortByName[T any](s []T, name func(*T) string) []T {
	slices.SortStableFunc(s, func(a, b T) int { return cmp.Compare(name(&a), name(&b)) })
	n := 0
	for i := range s {
		if i+1 < len(s) && name(&s[i]) == name(&s[i+1]) {
			continue
		}
		s[n], s[i] = s[i], s[n]
		n++
	}
	return s[:n]
}

func (d *decoder) literal(word string) error {
	if end := d.pos + len(word); end <= len(d.line) && string(d.line[d.pos:end]) == word {
		d.pos = end
		return nil
	}
	return d.unexpected("a value")
}

func (d *decoder) bool() (Bool, error) {
	switch d.peek() {
	case 't':
		return True, d.literal("true")
	case 'f':
		return False, d.literal("false")
	}
	return Bool{}, d.unexpected("true or false")
}

// number skips the number at pos and returns its text, and whether it has neither fraction
// nor exponent.
func (d *decoder) number() (text []byte, whole bool, err error) {
	start, b := d.pos, d.line
	i := start
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		d.pos = i
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return nil, false, d.unexpected("a number")
	}
	whole = true
	if i < len(b) && b[i] == '.' {
		whole = false
		i++
		if !digits() {
			return nil, false, d.unexpected("a digit")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		whole = false
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return nil, false, d.unexpected("a digit")
		}
	}
	d.pos = i
	return b[start:i], whole, nil
}

func (d *decoder) int(bits int) (int64, error) {
	text, whole, err := d.number()
	if err != nil {
		return 0, err
	}
	digits := alias(text)
	if !whole {
		var ok bool
		if digits, ok = wholeDigits(digits); !ok {
			return 0, fmt.Errorf("%.40s is not a whole number", text)
		}
	}
	n, err := strconv.ParseInt(digits, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%.40s is out of range", text)
	}
	return n, nil
}

// wholeDigits returns a number with a fraction or an exponent, such as 200.0 or 2e2, without them. It
// returns false if the number is not whole, as 200.5. By JSON Schema, 200.0 is an integer, and some
// programs write integers so.
func wholeDigits(number string) (string, bool) {
	const (
		maxExponent = 1 << 40 // far beyond the length of a line
		maxDigits   = 20      // a number with so many digits is out of range
	)
	mantissa, exponent := number, 0
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		mantissa = number[:i]
		exponent, _ = strconv.Atoi(number[i+1:]) // if it is out of range, the nearest int
		exponent = max(-maxExponent, min(exponent, maxExponent))
	}
	before, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(before+fraction, "0")
	zeros := len(before) - len(digits) + exponent // to append to the digits
	switch {
	case strings.Trim(digits, "-0") == "":
		return "0", true
	case zeros < 0:
		return "", false
	}
	return digits + strings.Repeat("0", min(zeros, maxDigits)), true
}

func (d *decoder) float() (float64, error) {
	text, _, err := d.number()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(alias(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40s is out of range", text)
	}
	return v, nil
}

// alias returns b as a string that shares its memory.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// errUTF8 is returned for invalid UTF-8, which encoding/json would replace by U+FFFD.
var errUTF8 = errors.New("invalid UTF-8")

// rawString decodes the string at pos, whose first special byte is at i. It does not check
// that the string is UTF-8.
func (d *decoder) rawString(i int) ([]byte, error) {
	start := d.pos + 1
	if i < len(d.line) && d.line[i] == '"' {
		d.pos = i + 1
		return d.line[start:i], nil
	}
	return d.unescape(start, i)
}

// key decodes the name at pos. It does not check that the name is UTF-8.
func (d *decoder) key() (string, error) {
	i, _ := textEnd(d.line, d.pos+1)
	b, err := d.rawString(i)
	return alias(b), err
}

func (d *decoder) string() (string, error) {
	if d.peek() != '"' {
		return "", d.unexpected("a string")
	}
	i, ascii := textEnd(d.line, d.pos+1)
	ascii = ascii && i < len(d.line) && d.line[i] == '"'
	b, err := d.rawString(i)
	if err == nil && !ascii && !valid(b) {
		err = errUTF8
	}
	return alias(b), err
}

// reserve ensures that the arena has capacity for the rest of the line, since a decoded string is
// never longer than the encoded string, and for 16 more bytes, since unescape writes whole words.
func (d *decoder) reserve() {
	if cap(d.arena)-len(d.arena) < len(d.line)-d.pos+16 {
		n := len(d.line) + 16
		d.arena = make([]byte, 0, n+n/4) // strings in the old arena keep it alive
	}
}

// unescape decodes the string that starts at start and has its first special byte at i.
func (d *decoder) unescape(start, i int) ([]byte, error) {
	line := d.line
	d.reserve()
	from := len(d.arena)
	buf := d.arena[:cap(d.arena)]
	n := from + copy(buf[from:], line[start:i])
	for {
		if hasEscape && len(line)-i >= 16 {
			wrote, read := unescape(buf[n:], line[i:], (len(line)-i)/16)
			i, n = i+read, n+wrote
		}
		// Copy by words up to the next special byte.
		for i+8 <= len(line) {
			w := load(line[i:])
			binary.LittleEndian.PutUint64(buf[n:], w)
			m := special(w)
			i += first(m)
			n += first(m)
			if m != 0 {
				break
			}
		}
		if i >= len(line) {
			d.pos = i
			return nil, errEnd
		}
		switch c := line[i]; {
		case c == '"':
			d.pos = i + 1
			d.arena = buf[:n]
			return buf[from:n:n], nil
		case c == '\\':
			r, size := unescapeOne(line[i:])
			if size == 0 {
				d.pos = i
				return nil, d.unexpected("a valid escape")
			}
			i += size
			n += utf8.EncodeRune(buf[n:], r)
		case c < ' ':
			d.pos = i
			return nil, d.unexpected("a string without control characters")
		default: // within the last seven bytes of the line
			buf[n] = c
			n++
			i++
		}
	}
}

// unescapeOne decodes the escape at the start of b and returns its length, 0 if it is
// invalid.
func unescapeOne(b []byte) (r rune, size int) {
	if len(b) > 1 && unescaped[b[1]] != 0 {
		return rune(unescaped[b[1]]), 2
	}
	r, size = hex4(b)
	if utf16.IsSurrogate(r) {
		low, more := hex4(b[size:])
		if pair := utf16.DecodeRune(r, low); more > 0 && pair != utf8.RuneError {
			return pair, size + more
		}
		return utf8.RuneError, size
	}
	return r, size
}

// unescaped holds the bytes that short escapes stand for, by the letter after the backslash.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hex4 decodes \uXXXX at the start of b and returns its length, or 0 if b does not start with \uXXXX.
func hex4(b []byte) (r rune, size int) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, 0
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, 0
		}
		r = r<<4 | rune(c)
	}
	return r, 6
}

// skipBody skips the string at pos without checking its escapes.
func (d *decoder) skipBody() error {
	i := indexQuote(d.line, d.pos+1)
	if i < 0 {
		d.pos = len(d.line)
		return errEnd
	}
	d.pos = i + 1
	return nil
}

// skip skips the value at pos, which is nested in depth others, and checks its syntax.
func (d *decoder) skip(depth int) error {
	if depth > maxDepth {
		return errors.New("values are nested too deeply")
	}
	switch c := d.peek(); c {
	case '"':
		return d.skipString()
	case '{':
		return d.members(func(string, int) error { return d.skip(depth + 1) })
	case '[':
		return d.elements(func() error { return d.skip(depth + 1) })
	case 't':
		return d.literal("true")
	case 'f':
		return d.literal("false")
	case 'n':
		return d.literal("null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			return d.unexpected("a value")
		}
		_, _, err := d.number()
		return err
	}
}

func (d *decoder) skipString() error {
	for i := d.pos + 1; ; {
		i, _ = textEnd(d.line, i)
		d.pos = i
		if i >= len(d.line) {
			return errEnd
		}
		switch d.line[i] {
		case '"':
			d.pos++
			return nil
		case '\\':
			_, size := unescapeOne(d.line[i:])
			if size == 0 {
				return d.unexpected("a valid escape")
			}
			i += size
		default:
			return d.unexpected("a string without control characters")
		}
	}
}
