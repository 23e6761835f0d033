package archive

import "sync"

const (
	longList = 64      // captures of a list that is worth keeping
	maxKept  = 1 << 16 // captures in all lists that are kept, in some 20 MiB, unless a single list is longer
)

// longLists keeps the captures of URLs with many of them, because finding these takes time in
// proportion to their number. Many redirects lead to the front page of a site, and all revisits of a
// page to the same originals.
type longLists struct {
	mu    sync.Mutex
	lists map[listKey][]Capture
	kept  int // captures in lists
}

// A listKey is what the captures in a list depend on.
type listKey struct {
	url     string
	pick    Pick
	rebuilt int // archives whose index was rebuilt
}

// get returns the list that is kept for key, or else the list that find returns.
func (l *longLists) get(key listKey, find func() []Capture) []Capture {
	l.mu.Lock()
	list := l.lists[key]
	l.mu.Unlock()
	if list != nil {
		return list
	}
	list = find()
	if len(list) < longList {
		return list
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept += len(list); l.lists == nil || l.kept > maxKept {
		l.lists, l.kept = map[listKey][]Capture{}, len(list)
	}
	l.lists[key] = list
	return list
}
