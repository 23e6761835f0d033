package trap

import "strings"

// The limits for relative links that should not be relative.
const (
	maxLinkDirs = 4 // maximum number of directories in such a link
	maxTwice    = 4 // number of URLs with the link twice, found on pages with the link once, that prove a mistake
)

// Links counts URLs that contain the same directories twice in a row, to find links that are
// relative by mistake: about/us/ instead of /about/us/, in the footer of every page. From every
// directory such a link leads to a deeper one and, if the server answers there, from
// /x/about/us/ to /x/about/us/about/us/. A single such URL proves nothing, because directory
// names may be repeated; several directories with the same end prove the mistake.
type Links map[Key]int

// Add counts a URL whose path ends in the same directories twice. The link consists of these
// directories and the file: about/us/team.html in /x/about/us/about/us/team.html. Add ignores
// directories that are only numbers: /2026/01/01/ is a date. It counts the URL only if the URL was
// found on a page in the directory that ends with the first occurrence. via returns the path of the
// page, on the same host, on which the URL was found, or "". It is called only if needed.
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

// isName reports whether at least one of the directories, each with a slash before it, is a name.
func isName(dirs string) bool {
	return len(dirs) > minSegment && strings.ContainsFunc(dirs, func(r rune) bool { return r >= 0x80 || isLetter(byte(r)) })
}

// Lead reports whether such a link leads to the URL, or to a directory above the URL, from another
// directory than the root. Links from the root are correct.
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
