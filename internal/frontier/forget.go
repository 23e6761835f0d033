package frontier

import (
	"fmt"
	"slices"
	"strings"

	"spoor/internal/weburl"
)

// This file makes a store know nothing of URLs any more. The log is only ever
// appended to, so that is a frame that names them: it counts for every older line
// about them and for none that comes later. Of all that add, import and forget
// write, this alone follows the order of the log, as leases do.

// A Selection tells which URLs are meant: all that one of its parts names.
type Selection struct {
	URLs     []string
	Hosts    []string // with the port, if it is not that of the scheme
	Prefixes []string // of URLs in canonical form
}

// Forget forgets what is known of the URLs of a selection, and returns how many it
// was known of. They may come in again as new ones. What they were parents
// of stays as it is, and so does when their hosts want to be asked again. Like
// what is added, this counts after [Store.Commit].
func (s *Store) Forget(sel Selection) (forgotten int, err error) {
	if s.failed != nil {
		return 0, s.failed
	}
	ids, err := s.selected(sel)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := s.writeForgotten(ids); err != nil {
		s.failed = err
		return 0, err
	}
	for _, id := range ids {
		s.x.forget(id)
	}
	s.unsaved += len(ids)
	return len(ids), nil
}

// chosen are the entries of a selection that are known, each once.
func (s *Store) selected(sel Selection) (ids []uint32, err error) {
	x := s.x
	seen := map[uint32]bool{}
	for _, name := range sel.URLs {
		u, err := weburl.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip(name), err)
		}
		if id, ok := x.find(u); ok && x.isKnown(id) && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	if len(sel.Hosts)+len(sel.Prefixes) == 0 {
		return ids, nil
	}
	var names []string
	for _, name := range sel.Hosts {
		u, err := weburl.Parse("http://" + name + "/")
		if err != nil || u.RequestURI() != "/" {
			return nil, fmt.Errorf("%s is no host", clip(name))
		}
		names = append(names, u.Host())
	}
	hosts := make([]bool, x.hosts.n)
	for i := range hosts {
		hosts[i] = slices.Contains(names, string(x.hostName(uint32(i))))
	}
	prefixes := make([]string, len(sel.Prefixes))
	for i, p := range sel.Prefixes {
		u, err := weburl.Parse(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clip(p), err)
		}
		prefixes[i] = u.String()
	}
	var b []byte
	for id := range uint32(x.len()) {
		if !x.isKnown(id) || seen[id] {
			continue
		}
		wanted := hosts[x.hot.at(id).host]
		if b = b[:0]; !wanted && len(prefixes) > 0 {
			b = x.appendURL(b, id)
			for _, p := range prefixes {
				wanted = wanted || strings.HasPrefix(unsafeString(b), p)
			}
		}
		if wanted {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// writeForgotten writes the URLs of entries to the log, in as many frames as it
// needs.
func (s *Store) writeForgotten(ids []uint32) error {
	if err := s.log.flush(); err != nil {
		return err
	}
	var data []byte
	lines := 0
	for i, id := range ids {
		data = append(s.x.appendURL(data, id), '\n')
		if lines++; len(data) < blockSize && lines < 0xffff && i < len(ids)-1 {
			continue
		}
		if _, err := s.log.nextPlace(); err != nil {
			return err
		}
		if err := s.log.writeFrame(frameForgotten, data, lines); err != nil {
			return err
		}
		data, lines = data[:0], 0
	}
	return nil
}

// eachForgotten calls f with every URL of a frame.
func parseForgotten(data []byte, lines []int, f func(weburl.URL)) error {
	for i := range len(lines) - 1 {
		u, err := weburl.Parse(string(data[lines[i] : lines[i+1]-1]))
		if err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
		f(u)
	}
	return nil
}

// applyForgotten applies a frame that was read from the log.
func (s *Store) applyForgotten(data []byte, lines []int) error {
	return parseForgotten(data, lines, func(u weburl.URL) {
		if id, ok := s.x.find(u); ok {
			s.x.forget(id)
		}
	})
}

// forget makes an entry one of which nothing is known. It stays, because others may
// have it for a parent.
func (x *index) forget(id uint32) {
	h, c := x.hot.at(id), x.cold.at(id)
	if h.flags&flagHistory != 0 {
		*x.histories.at(c.history) = history{}
	}
	*h = hot{host: h.host, flags: h.flags & flagHistory}
	*c = cold{dir: c.dir, suffix: c.suffix, suffixHigh: c.suffixHigh, history: c.history}
}
