package page

import "strings"

// A docType is the content of a DOCTYPE, as written.
type docType struct {
	name, public, system string
	hasPublic, hasSystem bool
	malformed            bool   // the standard's force-quirks flag, unless at the end of the page
	rest                 string // after the last identifier
}

// parseDoctype parses what is between <!DOCTYPE and ">" (sections 13.2.5.53 to 13.2.5.68).
func parseDoctype(s string) (d docType) {
	quoted := func() (id string, begins bool) {
		s = strings.TrimLeft(s, blanks)
		if s == "" || s[0] != '"' && s[0] != '\'' {
			return "", false
		}
		var ends bool
		id, s, ends = strings.Cut(s[1:], s[:1])
		d.malformed = !ends
		return id, true
	}
	s = strings.TrimLeft(s, blanks)
	end := strings.IndexAny(s, blanks)
	if end < 0 {
		end = len(s)
	}
	d.name = s[:end]
	s = strings.TrimLeft(s[end:], blanks)
	const keyword = len("public")
	isPublic := len(s) >= keyword && equalFold(s[:keyword], "public")
	isSystem := len(s) >= keyword && equalFold(s[:keyword], "system")
	switch {
	case isPublic:
		s = s[keyword:]
		if d.public, d.hasPublic = quoted(); d.hasPublic && !d.malformed {
			d.system, d.hasSystem = quoted()
			d.malformed = d.malformed || !d.hasSystem && s != ""
		} else {
			d.malformed = true
		}
	case isSystem:
		s = s[keyword:]
		if d.system, d.hasSystem = quoted(); !d.hasSystem {
			d.malformed = true
		}
	default:
		d.malformed = d.name == "" || s != ""
	}
	d.rest = s
	return d
}

// quirks reports whether the latest token, a doctype, selects quirks mode, in which a table
// does not end a p element. It agrees with golang.org/x/net/html rather than with the
// standard, which does not require "html" in lower case, ignores a system identifier beside a
// public one, permits characters after the identifiers, and does not decode character
// references here.
func (z *scanner) quirks() bool {
	z.references = true
	d := parseDoctype(z.text())
	if d.name != "html" || d.hasPublic && !d.hasSystem {
		return true
	}
	if !d.hasSystem {
		return d.malformed
	}
	if d.rest != "" || len(d.system) == len(quirkySystem) && equalFold(d.system, quirkySystem) {
		return true
	}
	for _, id := range quirkyPublic {
		prefix, more := strings.CutSuffix(id, "*")
		if len(d.public) >= len(prefix) && equalFold(d.public[:len(prefix)], prefix) && (more || len(d.public) == len(prefix)) {
			return true
		}
	}
	return false
}

// quirkySystem is the system identifier that selects quirks mode.
const quirkySystem = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"

// quirkyPublic lists the prefixes of public identifiers that select quirks mode.
var quirkyPublic = []string{
	"html",
	"-/w3d/dtd html 4.0 transitional/en", // the standard has w3c
	"-//w3o//dtd w3 html strict 3.0//en//",
	"+//silmaril//dtd html pro v0r11 19970101//*",
	"-//advasoft ltd//dtd html 3.0 aswedit + extensions//*",
	"-//as//dtd html 3.0 aswedit + extensions//*",
	"-//ietf//dtd html 2.0 level 1//*",
	"-//ietf//dtd html 2.0 level 2//*",
	"-//ietf//dtd html 2.0 strict level 1//*",
	"-//ietf//dtd html 2.0 strict level 2//*",
	"-//ietf//dtd html 2.0 strict//*",
	"-//ietf//dtd html 2.0//*",
	"-//ietf//dtd html 2.1e//*",
	"-//ietf//dtd html 3.0//*",
	"-//ietf//dtd html 3.2 final//*",
	"-//ietf//dtd html 3.2//*",
	"-//ietf//dtd html 3//*",
	"-//ietf//dtd html level 0//*",
	"-//ietf//dtd html level 1//*",
	"-//ietf//dtd html level 2//*",
	"-//ietf//dtd html level 3//*",
	"-//ietf//dtd html strict level 0//*",
	"-//ietf//dtd html strict level 1//*",
	"-//ietf//dtd html strict level 2//*",
	"-//ietf//dtd html strict level 3//*",
	"-//ietf//dtd html strict//*",
	"-//ietf//dtd html//*",
	"-//metrius//dtd metrius presentational//*",
	"-//microsoft//dtd internet explorer 2.0 html strict//*",
	"-//microsoft//dtd internet explorer 2.0 html//*",
	"-//microsoft//dtd internet explorer 2.0 tables//*",
	"-//microsoft//dtd internet explorer 3.0 html strict//*",
	"-//microsoft//dtd internet explorer 3.0 html//*",
	"-//microsoft//dtd internet explorer 3.0 tables//*",
	"-//netscape comm. corp.//dtd html//*",
	"-//netscape comm. corp.//dtd strict html//*",
	"-//o'reilly and associates//dtd html 2.0//*",
	"-//o'reilly and associates//dtd html extended 1.0//*",
	"-//o'reilly and associates//dtd html extended relaxed 1.0//*",
	"-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//*",
	"-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//*",
	"-//spyglass//dtd html 2.0 extended//*",
	"-//sq//dtd html 2.0 hotmetal + extensions//*",
	"-//sun microsystems corp.//dtd hotjava html//*",
	"-//sun microsystems corp.//dtd hotjava strict html//*",
	"-//w3c//dtd html 3 1995-03-24//*",
	"-//w3c//dtd html 3.2 draft//*",
	"-//w3c//dtd html 3.2 final//*",
	"-//w3c//dtd html 3.2//*",
	"-//w3c//dtd html 3.2s draft//*",
	"-//w3c//dtd html 4.0 frameset//*",
	"-//w3c//dtd html 4.0 transitional//*",
	"-//w3c//dtd html experimental 19960712//*",
	"-//w3c//dtd html experimental 970421//*",
	"-//w3c//dtd w3 html//*",
	"-//w3o//dtd w3 html 3.0//*",
	"-//webtechs//dtd mozilla html 2.0//*",
	"-//webtechs//dtd mozilla html//*",
}
