package trap

import (
	"iter"
	"math/bits"
	"strings"
)

// A URL is a URL of a known host.
type URL struct {
	HTTPS       bool
	Path, Query string
}

// String returns path and query.
func (u URL) String() string { return strings.TrimSuffix(u.Path+"?"+u.Query, "?") }

// A Page is a fetched page of a host.
type Page struct {
	URL
	Hash uint64 // simhash of the text
}

// isCopy reports whether two pages are near-duplicates: their hashes differ in at most three of 64 bits.
//
// Source: G. S. Manku, A. Jain and A. Das Sarma, "Detecting Near-Duplicates for Web Crawling",
// WWW 2007, section 3.
func isCopy(a, b uint64) bool { return bits.OnesCount64(a^b) <= 3 }

// The limits of near-duplicates. A part of a URL makes no difference if in at least minCopies
// pairs of pages, and in seven eighths of them, the page with the part is a copy of the page
// without. All URLs of a group have the same page if at least minSame pages of the group were
// fetched, and fifteen sixteenths of them are copies of their average.
const (
	minCopies = 8
	minSame   = 16
)

// A shortening is a URL without one of its parts: a parameter, all parameters, the final slash, the
// file name, or http in place of https. One key stands for the part with this value, one for all
// values of the parameter; the latter is 0 if the part is not a parameter.
//
// Source: Z. Bar-Yossef, I. Keidar and U. Schonfeld, "Do Not Crawl in the DUST: Different URLs with
// Similar Text", WWW 2007, learn such rules, and more general ones, from the logs of a server.
type shortening struct {
	URL
	value, name Key
}

// shortenings yields the shortenings of a URL.
func shortenings(host uint32, u URL) iter.Seq[shortening] {
	return func(yield func(shortening) bool) {
		start, parameters := 0, 0
		for pair := range Pairs(u.Query) {
			start += strings.Index(u.Query[start:], pair)
			end := start + len(pair)
			rest := strings.TrimSuffix(u.Query[:start], "&") + u.Query[end:]
			if start == 0 {
				rest = strings.TrimPrefix(rest, "&")
			}
			name, _, _ := strings.Cut(pair, "=")
			if !yield(shortening{URL{u.HTTPS, u.Path, rest}, KeyOf('v', host, pair), KeyOf('n', host, name)}) {
				return
			}
			start = end
			parameters++
		}
		if parameters > 1 && !yield(shortening{URL{u.HTTPS, u.Path, ""}, KeyOf('v', host, u.Query), KeyOf('n', host, string(names(nil, u.Query)))}) {
			return
		}
		at := strings.LastIndexByte(u.Path, '/') + 1
		if part := u.Path[at:]; part != "" {
			if !yield(shortening{URL{u.HTTPS, u.Path[:at], u.Query}, KeyOf('f', host, part), 0}) {
				return
			}
		} else if at > 1 && !yield(shortening{URL{u.HTTPS, u.Path[:at-1], u.Query}, KeyOf('f', host, "/"), 0}) {
			return
		}
		if !u.HTTPS {
			yield(shortening{URL{true, u.Path, u.Query}, KeyOf('h', host, ""), 0})
		}
	}
}

// levels is the number of kinds of groups to which a URL belongs.
const (
	firstDir = 2
	levels   = firstDir + maxDepth
)

// groups returns the keys of the groups of a host to which a URL belongs; 0 means that there is no
// such group. The groups are
//
//   - the URLs with the same path and parameter names,
//   - the URLs whose paths differ only in numbers, with the same parameter names,
//   - the directories from the outermost, without the root, which is the host.
func groups(host uint32, u URL) (keys [levels]Key) {
	path, query := u.Path, u.Query
	var buf [512]byte
	if query != "" {
		keys[0] = KeyOf('p', host, string(names(append(append(buf[:0], path...), '?'), query)))
	}
	b, digits := buf[:0], false
	for i := range len(path) {
		if !isDigit(path[i]) {
			b = append(b, path[i])
		} else if digits = true; i == 0 || !isDigit(path[i-1]) {
			b = append(b, '0')
		}
	}
	if digits {
		keys[1] = KeyOf('s', host, string(names(append(b, '?'), query)))
	}
	n := firstDir
	for i := 1; i < len(path) && n < levels; i++ {
		if path[i] == '/' {
			keys[n] = KeyOf('d', host, path[:i+1])
			n++
		}
	}
	return keys
}

// A Condemnation is what the pages of a host show about the URLs that lead to copies. The zero value
// is an empty Condemnation.
type Condemnation struct {
	host uint32
	keys map[Key]bool // of groups with the same page, and of parts that make no difference
}

// Condemned returns the Condemnation of a host, according to the given pages. The result does not
// depend on their order.
func Condemned(host uint32, pages []Page) Condemnation {
	c := Condemnation{host, map[Key]bool{}}
	c.addParts(pages)
	c.addGroups(pages)
	return c
}

// addParts adds the parts of URLs that make no difference. A parameter makes none with any value
// if this was seen with minCopies values.
func (c *Condemnation) addParts(pages []Page) {
	hashes := make(map[URL]uint64, len(pages))
	for _, p := range pages {
		hashes[p.URL] = p.Hash
	}
	type count struct{ pairs, copies, values int }
	counts := map[Key]count{}
	for _, p := range pages {
		for s := range shortenings(c.host, p.URL) {
			hash, ok := hashes[s.URL]
			if !ok {
				continue
			}
			value, name := counts[s.value], counts[s.name]
			value.pairs++
			name.pairs++
			if isCopy(p.Hash, hash) {
				if value.copies == 0 {
					name.values++
				}
				value.copies++
				name.copies++
			}
			value.values = value.copies
			counts[s.value], counts[s.name] = value, name
		}
	}
	delete(counts, 0)
	for key, n := range counts {
		if n.values >= minCopies && 8*n.copies >= 7*n.pairs {
			c.keys[key] = true
		}
	}
}

// addGroups adds the groups in which all URLs have the same page. Pages of such a group are not
// counted in the groups that contain it.
func (c *Condemnation) addGroups(pages []Page) {
	keys := make([][levels]Key, len(pages))
	for i, p := range pages {
		keys[i] = groups(c.host, p.URL)
	}
	for k := range levels {
		level := k
		if k >= firstDir {
			level = levels - 1 - (k - firstDir) // the innermost directory first
		}
		members := map[Key][]int{}
		for i := range pages {
			if key := keys[i][level]; key != 0 {
				members[key] = append(members[key], i)
			}
		}
		for key, group := range members {
			if len(group) >= minSame && haveSamePage(pages, group) {
				c.keys[key] = true
				for _, i := range group {
					keys[i] = [levels]Key{}
				}
			}
		}
	}
}

// haveSamePage reports whether fifteen sixteenths of the pages of a group are copies of their
// average: the hash whose bits are those of most pages.
func haveSamePage(pages []Page, group []int) bool {
	var average uint64
	for bit := range 64 {
		n := 0
		for _, i := range group {
			n += int(pages[i].Hash >> bit & 1)
		}
		if 2*n > len(group) {
			average |= 1 << bit
		}
	}
	same := 0
	for _, i := range group {
		if isCopy(pages[i].Hash, average) {
			same++
		}
	}
	return 16*same >= 15*len(group)
}

// Any reports whether any URL can lead to a copy.
func (c Condemnation) Any() bool { return len(c.keys) > 0 }

// samePages is the reason why URLs of a group in which all have the same page lead to a copy.
const samePages = "the pages fetched from URLs of this form are all the same"

// Reason returns why a URL leads to a copy, "" if it does not. A URL with a part that makes no
// difference leads to a copy only if isKnown returns true for a URL without this part.
func (c Condemnation) Reason(u URL, isKnown func(URL) bool) string {
	if !c.Any() {
		return ""
	}
	for _, key := range groups(c.host, u) {
		if c.keys[key] {
			return samePages
		}
	}
	for shorter := true; shorter; {
		shorter = false
		for s := range shortenings(c.host, u) {
			if c.keys[s.value] || c.keys[s.name] {
				u, shorter = s.URL, true
				break
			}
		}
		if shorter && isKnown(u) {
			return "a copy of " + u.String()
		}
	}
	return ""
}
