package trap

import "strings"

// The budget of links that are relative and should not be.
const (
	maxLinkDirs = 4 // directories that such a link says
	maxTwice    = 4 // addresses that say it twice, found on pages that say it once, from which on it is one
)

// Links counts what addresses say twice, by which links show that are relative and
// should not be: about/us/ for /about/us/, in the foot of every page. Such a link leads
// from every directory to one more and, where the server answers there, from
// /x/about/us/ to /x/about/us/about/us/. One such address shows nothing, for people
// name directories so; that several directories have one with the same end does.
type Links map[Key]int

// Add counts an address that says the directories at its end twice. What the link
// says is those and the file: about/us/team.html of /x/about/us/about/us/team.html.
// Numbers are no names, for the first month of a year has a first day. It counts if it
// was found where the link would be: on a page in the directory up to the first of the
// two. Via is the path of the page of the host that it was found on, or "", and is
// asked only where that matters.
func (l Links) Add(host uint32, path string, via func() string) {
	file := strings.LastIndexByte(path, '/')
	for at, n := file, 0; at > 0 && n < maxLinkDirs; n++ {
		at = strings.LastIndexByte(path[:at], '/')
		if at < 0 {
			return
		}
		if dirs := path[at:file]; strings.HasSuffix(path[:at], dirs) && isName(dirs) {
			key := KeyOf('r', host, path[at:])
			if l[key] < maxTwice {
				if from := via(); from[:strings.LastIndexByte(from, '/')+1] == path[:at+1] {
					l[key]++
				}
			}
			return
		}
	}
}

// isName tells whether directories, a slash before each, have a name.
func isName(dirs string) bool {
	return len(dirs) > minSegment && strings.ContainsFunc(dirs, func(r rune) bool { return r >= 0x80 || isLetter(byte(r)) })
}

// Lead tells whether such a link leads to an address, or to a directory that it lies
// in, from elsewhere than the root: what the root has may be what was meant.
func (l Links) Lead(host uint32, path string) bool {
	if len(l) == 0 {
		return false
	}
	file := strings.LastIndexByte(path, '/')
	for at := 1; at < file; at++ {
		if path[at] != '/' {
			continue
		}
		end := at
		for n := 0; n < maxLinkDirs && end < file; n++ {
			end += 1 + strings.IndexByte(path[end+1:], '/')
			if l[KeyOf('r', host, path[at:end+1])] >= maxTwice {
				return true
			}
		}
		if end == file && l[KeyOf('r', host, path[at:])] >= maxTwice {
			return true
		}
	}
	return false
}
