package robots

import "strings"

// Directives are what a page says of itself, in X-Robots-Tag headers and in
// <meta name=robots> elements. The zero value restricts nothing.
//
// There is no standard of them but draft-illyes-repext and the habits of search
// engines. Directives restrict only: where several speak of a page, every
// restriction counts and no permission takes one back. Of the words in use these
// three concern a crawler and its archive; the others (nosnippet, max-snippet,
// unavailable_after, notranslate, …) are for those who show pages to the
// public, and are stepped over.
type Directives struct {
	NoIndex   bool // noindex, none
	NoFollow  bool // nofollow, none: the page's links are not to be followed
	NoArchive bool // noarchive, nocache: no copy is to be kept
}

// Or is what d and e restrict together.
func (d Directives) Or(e Directives) Directives {
	return Directives{d.NoIndex || e.NoIndex, d.NoFollow || e.NoFollow, d.NoArchive || e.NoArchive}
}

// String is d as a meta element would have it, such as "noindex, nofollow"; ""
// if nothing is restricted. [Meta] reads it.
func (d Directives) String() string {
	var words []string
	if d.NoIndex {
		words = append(words, "noindex")
	}
	if d.NoFollow {
		words = append(words, "nofollow")
	}
	if d.NoArchive {
		words = append(words, "noarchive")
	}
	return strings.Join(words, ", ")
}

// XRobotsTag reads the values of all X-Robots-Tag headers of a response for the
// crawler that calls itself agent, of which the product token counts
// ([Token]). A directive is addressed to everybody, or behind a name and a colon
// to the crawler of that name, as are those that follow in the same value up to
// another name. The draft's way of writing it, "*=noindex; name=nofollow", is
// understood as well. The time taken is linear in the length of the values.
func XRobotsTag(agent string, values []string) Directives {
	var d Directives
	for _, v := range values {
		d = d.Or(directives(v, Token(agent)))
	}
	return d
}

// Meta reads the content of a <meta> element for the crawler that calls itself
// agent. There are no directives in it if the element's name is neither "robots"
// nor the agent's product token, in whatever case.
func Meta(agent, name, content string) Directives {
	if !addresses(name, Token(agent)) {
		return Directives{}
	}
	return directives(content, Token(agent))
}

// addresses tells whether a name means the crawler of the given token, or all.
func addresses(name, token string) bool {
	if name = strings.Trim(name, whitespace+"\r\n"); name == "*" || strings.EqualFold(name, "robots") {
		return true
	}
	return token != "" && strings.EqualFold(Token(name), token)
}

// directives reads one value. It goes by words, whatever parts them, because
// people write blanks where commas should be. Unknown words are skipped, those of
// a date among them.
func directives(value, token string) (d Directives) {
	for list := range strings.SplitSeq(value, ";") {
		ours := true // what follows is for everybody, or for us
		for word, valued, rest := nextWord(list); word != ""; word, valued, rest = nextWord(rest) {
			next, _, after := nextWord(rest)
			switch {
			case !valued:
			case isLimit(word):
				if strings.EqualFold(next, "none") {
					rest = after // a value: no preview at all
				}
			case isDirective(next) && !isDirective(word):
				// A name. Of another unknown word with a value nothing is known:
				// if that were a name, what comes behind it would be hidden.
				ours = addresses(word, token)
			}
			if ours {
				d = d.Or(meaning(word))
			}
		}
	}
	return d
}

// separators part words.
const separators = whitespace + "\r\n,:="

// nextWord is the first word of s, whether a colon or an equals sign gives it a
// value, and what is behind the word. There is none left if word is empty.
func nextWord(s string) (word string, valued bool, rest string) {
	s = strings.TrimLeft(s, separators)
	n := strings.IndexAny(s, separators)
	if n < 0 {
		return s, false, ""
	}
	rest = strings.TrimLeft(s[n:], whitespace)
	return s[:n], rest != "" && (rest[0] == ':' || rest[0] == '='), rest
}

// meaning is what one word restricts.
func meaning(word string) Directives {
	switch strings.ToLower(word) {
	case "noindex":
		return Directives{NoIndex: true}
	case "nofollow":
		return Directives{NoFollow: true}
	case "none":
		return Directives{NoIndex: true, NoFollow: true}
	case "noarchive", "nocache":
		return Directives{NoArchive: true}
	}
	return Directives{}
}

// isDirective tells whether a word is a directive that is in use, and so no name.
func isDirective(word string) bool {
	switch strings.ToLower(word) {
	case "all", "none", "index", "noindex", "follow", "nofollow", "archive", "noarchive", "cache", "nocache",
		"snippet", "nosnippet", "noimageindex", "notranslate", "noodp", "noydir", "indexifembedded",
		"nositelinkssearchbox", "noai", "noimageai", "unavailable_after":
		return true
	}
	return isLimit(word)
}

// isLimit tells whether a word is a directive with a number or a size.
func isLimit(word string) bool {
	return len(word) > 4 && strings.EqualFold(word[:4], "max-")
}
