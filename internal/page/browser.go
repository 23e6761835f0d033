package page

import "strings"

// Scripts are not run, so a page whose text they would make has almost none. The rule finds the
// shells of applications (<div id="root"></div>), but no short pages that also have scripts.
const (
	maxShellText    = 200    // bytes of text outside noscript elements
	minShellScripts = 2_000  // bytes of scripts
	scriptsPerText  = 100    // bytes of scripts for each byte of that text
	externalScripts = 10_000 // bytes that all scripts in other files count together

	enoughScripts = scriptsPerText * maxShellText // bytes of scripts beyond which their number changes nothing
)

// script counts the bytes of a script, as many as its text has: CRLF is one, and a NUL becomes three.
func (c *collector) script(raw string) {
	if c.scripts < enoughScripts {
		head := raw[:min(len(raw), 2*enoughScripts)] // half of them at least are counted
		c.scripts += 2*strings.Count(head, "\x00") - strings.Count(head, "\r\n")
	}
	c.scripts += len(raw)
}

// needsBrowser reports whether the page has almost no text, but large scripts. The text of a page
// with frames is in other pages.
func (c *collector) needsBrowser() bool {
	text, scripts := len(c.body)-c.fallback, c.scripts
	if c.hasScripts {
		scripts += externalScripts
	}
	return text < maxShellText && scripts >= max(minShellScripts, scriptsPerText*text) && !c.hasFrames
}
