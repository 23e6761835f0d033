package trap

import "strings"

// The budget of relative links that should not be relative.
const (
	maxLinkDirs = 4 // directories of such a link
	maxTwice    = 4 // URLs with the link twice, found on pages with it once, that prove it
)

// Links counts URLs that contain the same directories twice in a row, to find links that are
// relative by mistake: about/us/ instead of /about/us/, in the footer of every page. Such a
// link leads from every directory one level deeper and, if the server answers there, from
// /x/about/us/ to /x/about/us/about/us/. A single such URL proves nothing, since directory
// names do repeat; several directories with the same end do.
type Links map[Key]int

// Add counts a URL whose path ends in the same directories twice. The link consists of these
// and the file: about/us/team.html in /x/about/us/about/us/team.html. Directories that are only
// numbers do not count: /2026/01/01/ is a date. The URL counts if it was found on a page in
// the directory up to the first occurrence. via returns the path of the page of the host that
// it was found on, or ""; it is called only if needed.
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

// isName reports whether directories, each with a slash before it, include a name.
func isName(dirs string) bool {
	return len(dirs) > minSegment && strings.ContainsFunc(dirs, func(r rune) bool { return r >= 0x80 || isLetter(byte(r)) })
}

// Lead reports whether such a link leads to the URL, or to a directory above it, from a
// directory other than the root: links from the root are correct.
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
