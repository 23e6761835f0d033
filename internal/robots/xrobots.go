package robots

import "strings"

// Directives are the restrictions that a page states in X-Robots-Tag headers and
// <meta name=robots> elements. The zero value restricts nothing.
//
// The only specifications are draft-illyes-repext and the practice of search engines.
// Restrictions of several headers and elements are combined; a permission such as "index"
// does not remove a restriction. Only directives about crawling and archiving are
// recognized; other directives (nosnippet, max-snippet, unavailable_after, notranslate, …)
// concern the display of search results, and are ignored.
type Directives struct {
	NoIndex   bool // noindex, none
	NoFollow  bool // nofollow, none: do not follow the page's links
	NoArchive bool // noarchive, nocache: keep no copy
}

// Or returns the restrictions of d and e together.
func (d Directives) Or(e Directives) Directives {
	return Directives{d.NoIndex || e.NoIndex, d.NoFollow || e.NoFollow, d.NoArchive || e.NoArchive}
}

// String returns d in the form of a meta element's content, such as "noindex,
// nofollow", or "" if there is no restriction. [Meta] parses this form.
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

// XRobotsTag parses the values of all X-Robots-Tag headers of a response for the
// crawler called agent (see [Token]). Directives apply to all crawlers. Directives after
// a name and a colon, up to the next name in the value, apply to the crawler of that name.
// The draft's syntax, "*=noindex; name=nofollow", is accepted as well. The time is
// linear in the length of the values.
func XRobotsTag(agent string, values []string) Directives {
	var d Directives
	for _, v := range values {
		d = d.Or(directives(v, Token(agent)))
	}
	return d
}

// Meta parses the content of a <meta> element for the crawler called agent. It
// returns no directives unless the element's name is "robots" or the agent's product
// token, in any letter case.
func Meta(agent, name, content string) Directives {
	if !addresses(name, Token(agent)) {
		return Directives{}
	}
	return directives(content, Token(agent))
}

// addresses reports whether name means all crawlers, or the crawler with the given token.
func addresses(name, token string) bool {
	if name = strings.Trim(name, whitespace+"\r\n"); name == "*" || strings.EqualFold(name, "robots") {
		return true
	}
	return token != "" && strings.EqualFold(Token(name), token)
}

// directives parses one value. Words may be separated by blanks instead of commas.
// Unknown words, such as the words of a date, are skipped.
func directives(value, token string) (d Directives) {
	for list := range strings.SplitSeq(value, ";") {
		ours := true // the following words apply to this crawler
		for word, valued, rest := nextWord(list); word != ""; word, valued, rest = nextWord(rest) {
			next, _, after := nextWord(rest)
			switch {
			case !valued:
			case isLimit(word):
				if strings.EqualFold(next, "none") {
					rest = after // the value of the limit, not the directive "none"
				}
			case isDirective(next) && !isDirective(word):
				// The name of a crawler. Any other unknown word with a value is skipped.
				// If it were treated as a name, the directives after it would be ignored.
				ours = addresses(word, token)
			}
			if ours {
				d = d.Or(meaning(word))
			}
		}
	}
	return d
}

const separators = whitespace + "\r\n,:="

// nextWord returns the first word of s, or "" if there is none, and the rest of s. It also
// reports whether a colon or an equals sign follows the word.
func nextWord(s string) (word string, valued bool, rest string) {
	s = strings.TrimLeft(s, separators)
	n := strings.IndexAny(s, separators)
	if n < 0 {
		return s, false, ""
	}
	rest = strings.TrimLeft(s[n:], whitespace)
	return s[:n], rest != "" && (rest[0] == ':' || rest[0] == '='), rest
}

// meaning returns the restrictions that one word stands for.
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

// isDirective reports whether word is a known directive, and therefore not the name of a crawler.
func isDirective(word string) bool {
	switch strings.ToLower(word) {
	case "all", "none", "index", "noindex", "follow", "nofollow", "archive", "noarchive", "cache", "nocache",
		"snippet", "nosnippet", "noimageindex", "notranslate", "noodp", "noydir", "indexifembedded",
		"nositelinkssearchbox", "noai", "noimageai", "unavailable_after":
		return true
	}
	return isLimit(word)
}

// isLimit reports whether word is a directive with a value, such as max-snippet.
func isLimit(word string) bool {
	return len(word) > 4 && strings.EqualFold(word[:4], "max-")
}
