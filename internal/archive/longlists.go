package archive

import "sync"

const (
	longList = 64       // number of captures of a list that is worth keeping
	maxLists = 32 << 20 // bytes of all lists that are kept
)

// longLists keeps the captures of URLs with many of them, because finding and confirming these takes time
// in proportion to their number. Many redirects lead to the front page of a site, and all revisits
// of a page to the same originals.
type longLists struct {
	mu    sync.Mutex
	lists map[listKey]*keptList
	bytes int // of all lists
}

// A listKey is what the captures in a list depend on.
type listKey struct {
	url     string
	pick    Pick
	rebuilt int // archives whose index was rebuilt
}

type keptList struct {
	captures  []Capture
	confirmed bool // the records were compared with the index
}

// get returns the list that is kept for key, or else the list that find returns.
func (l *longLists) get(key listKey, find func() []Capture) []Capture {
	l.mu.Lock()
	kept := l.lists[key]
	l.mu.Unlock()
	if kept != nil {
		return kept.captures
	}
	list := find()
	size := 0
	for i := range list {
		size += list[i].memory()
	}
	if len(list) < longList || size > maxLists {
		return list
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lists[key] == nil {
		if l.bytes += size; l.lists == nil || l.bytes > maxLists {
			l.lists, l.bytes = map[listKey]*keptList{}, size
		}
		l.lists[key] = &keptList{captures: list}
	}
	return list
}

func (l *longLists) isConfirmed(key listKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists[key] != nil && l.lists[key].confirmed
}

// confirm notes that the captures of a list were confirmed.
func (l *longLists) confirm(key listKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kept := l.lists[key]; kept != nil {
		kept.confirmed = true
	}
}

// memory returns about how many bytes a capture occupies.
func (c *Capture) memory() int {
	return 256 + len(c.URL) + len(c.MIME) + len(c.Digest) + len(c.Redirect) + len(c.Filename)
}
