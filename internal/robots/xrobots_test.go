package robots

import (
	"strings"
	"testing"
)

var (
	nothing   = Directives{}
	noIndex   = Directives{NoIndex: true}
	noFollow  = Directives{NoFollow: true}
	noArchive = Directives{NoArchive: true}
	none      = Directives{NoIndex: true, NoFollow: true}
	all       = Directives{NoIndex: true, NoFollow: true, NoArchive: true}
)

var tags = []struct {
	name   string
	values []string
	want   Directives
}{
	{"no header", nil, nothing},
	{"an empty one", []string{""}, nothing},
	{"one directive", []string{"noindex"}, noIndex},
	{"case does not matter", []string{"NoFollow"}, noFollow},
	{"a list", []string{"noindex, nofollow,noarchive"}, all},
	{"none is two", []string{"none"}, none},
	{"nocache is an old word for noarchive", []string{"nocache"}, noArchive},
	{"all restricts nothing", []string{"all"}, nothing},
	{"and takes nothing back", []string{"noindex, all", "index, follow"}, noIndex},
	{"several headers add up", []string{"noindex", "nofollow"}, none},
	{"unknown words are skipped", []string{"nosnippet, nonsense, noindex"}, noIndex},
	{"a word is not found in a longer one", []string{"noindexing, xnofollow, no-archive"}, nothing},
	{"blanks where commas should be", []string{" noindex\tnofollow "}, none},
	{"semicolons where commas should be", []string{"noindex; nofollow"}, none},
	{"stray commas", []string{",,noindex,,"}, noIndex},

	{"ours", []string{"spoor: noindex"}, noIndex},
	{"ours in capitals and with a version", []string{"SPOOR/2.0 : noindex"}, noIndex},
	{"another crawler's", []string{"otherbot: noindex, nofollow"}, nothing},
	{"a longer name is another crawler", []string{"spoorer: noindex", "spoor-image: nofollow"}, nothing},
	{"a name without a token is another crawler", []string{"360bot: noindex"}, nothing},
	{"everybody, and ours", []string{"noarchive", "spoor: nofollow", "otherbot: noindex"}, Directives{NoFollow: true, NoArchive: true}},
	{"a name in the middle", []string{"noarchive, otherbot: noindex, spoor: nofollow"}, Directives{NoFollow: true, NoArchive: true}},
	{"a name holds for its own header only", []string{"otherbot: noindex", "nofollow"}, noFollow},
	{"a name before a directive with a value", []string{"otherbot: max-snippet: 5, noindex"}, nothing},
	{"a name before a date", []string{"otherbot: unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"}, nothing},
	{"the star is everybody", []string{"*: noindex"}, noIndex},
	{"so is robots", []string{"robots: noindex"}, noIndex},

	{"a date of RFC 1123", []string{"unavailable_after: Wed, 03 Jul 2030 15:00:00 GMT, noindex"}, noIndex},
	{"a date of RFC 850", []string{"noarchive, unavailable_after: Wednesday, 03-Jul-30 15:00:00 GMT"}, noArchive},
	{"a date of asctime", []string{"unavailable_after: Wed Jul  3 15:00:00 2030, nofollow"}, noFollow},
	{"a date of ISO 8601", []string{"unavailable_after: 2030-07-03T15:00:00+00:00, nofollow"}, noFollow},
	{"a date that lacks", []string{"unavailable_after: noindex"}, noIndex},
	{"limits", []string{"max-snippet: 20, max-video-preview:-1, noindex"}, noIndex},
	{"a limit of none is no none", []string{"max-image-preview:none"}, nothing},
	{"a limit that lacks", []string{"max-snippet:, noindex"}, noIndex},
	{"an unknown directive with a value is no name", []string{"future: 5, noindex"}, noIndex},

	{"the draft's form", []string{"*=noindex, nosnippet; spoor=nofollow; otherbot=noarchive;"}, none},
	{"the draft's form, for somebody else", []string{"otherbot=none"}, nothing},
	{"a name with nothing", []string{"otherbot=; noindex"}, noIndex},
	{"rubbish", []string{"\x00\xff:=:=;;: \r\n\t,", ":", "=", "::noindex"}, noIndex},
}

func TestXRobotsTag(t *testing.T) {
	for _, c := range tags {
		if got := XRobotsTag("spoor/0.1 (+me@example.org)", c.values); got != c.want {
			t.Errorf("%s: %q is %+v, want %+v", c.name, c.values, got, c.want)
		}
	}
}

func TestMeta(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          Directives
	}{
		{"robots", "noindex, nofollow", none},
		{"ROBOTS", "NOARCHIVE", noArchive},
		{" robots ", "noindex", noIndex},
		{"spoor", "nofollow", noFollow},
		{"Spoor", "none", none},
		{"googlebot", "noindex", nothing},
		{"description", "noindex", nothing},
		{"", "noindex", nothing},
		{"robots", "", nothing},
		{"robots", "index, follow, max-image-preview:large", nothing},
		{"robots", "otherbot: noindex", nothing},
	} {
		if got := Meta("spoor/0.1", c.name, c.content); got != c.want {
			t.Errorf("<meta name=%q content=%q> is %+v, want %+v", c.name, c.content, got, c.want)
		}
	}
	if Meta("", "", "noindex") != nothing || Meta("", "robots", "noindex") != noIndex || Meta("!", "!", "noindex") != nothing {
		t.Error("a crawler without a token is addressed as everybody is, and not deviations")
	}
}

func TestDirectivesString(t *testing.T) {
	for _, d := range []Directives{nothing, noIndex, noFollow, noArchive, none, all} {
		if got := Meta("spoor", "robots", d.String()); got != d {
			t.Errorf("%q is read as %+v", d, got)
		}
	}
	if got := all.String(); got != "noindex, nofollow, noarchive" {
		t.Errorf("all of them are %q", got)
	}
}

func FuzzXRobotsTag(f *testing.F) {
	for _, c := range tags {
		f.Add(strings.Join(c.values, "\n"), "spoor")
	}
	f.Fuzz(func(t *testing.T, value, agent string) {
		d := XRobotsTag(agent, []string{value})
		lower := strings.ToLower(value)
		for word, said := range map[string]bool{
			"noindex": d.NoIndex, "nofollow": d.NoFollow, "noarchive": d.NoArchive,
		} {
			if said && !strings.Contains(lower, word) && !strings.Contains(lower, "none") && !strings.Contains(lower, "nocache") {
				t.Errorf("%q is %v without a word", value, d)
			}
			// Restrictions of another header add up.
			if got := XRobotsTag(agent, []string{value, word}); got != d.Or(meaning(word)) {
				t.Errorf("%q and %s are %+v", value, word, got)
			}
		}
		if got := Meta(agent, "robots", value); got != d {
			t.Errorf("%q is %+v in a header and %+v in an element", value, d, got)
		}
		if agent == "" && Meta(agent, value, "noindex").NoIndex && strings.Trim(lower, whitespace+"\r\n") != "*" &&
			strings.Trim(lower, whitespace+"\r\n") != "robots" {
			t.Errorf("%q is everybody", value)
		}
	})
}
