package frontier

import (
	"fmt"
	"slices"
	"strings"

	"spoor/internal/weburl"
)

// This file removes URLs from a store. The log is append-only, so a frame lists the forgotten
// URLs: earlier lines about them are ignored, later lines are valid. So, as for leases, and unlike
// for everything that add and import write, the order of the log matters.

// A Selection selects the URLs that match any of its parts.
type Selection struct {
	URLs     []string
	Hosts    []string // with the port if it is not the default
	Prefixes []string // prefixes of URLs in canonical form
}

// Forget removes the selected URLs and returns how many were known. They can be added again as
// new URLs. Forget does not remove them from the parents of other URLs, and does not change the
// time at which their hosts may be requested. It is durable after [Store.Commit].
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
	s.running = nil
	s.unsaved += len(ids)
	return len(ids), nil
}

// selected returns the known URLs of a selection, each once.
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
			return nil, fmt.Errorf("%s is not a host", clip(name))
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

// writeForgotten writes the URLs to the log, in as many frames as needed.
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

// eachForgotten calls f with every URL of the frame in s.payload.
func (s *Store) eachForgotten(f func(weburl.URL)) error {
	for i := range len(s.lineStarts) - 1 {
		u, err := weburl.Parse(string(s.payload[s.lineStarts[i] : s.lineStarts[i+1]-1]))
		if err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
		f(u)
	}
	return nil
}

// applyForgotten applies the frame in s.payload.
func (s *Store) applyForgotten() error {
	return s.eachForgotten(func(u weburl.URL) {
		if id, ok := s.x.find(u); ok {
			s.x.forget(id)
		}
	})
}

// forget clears the state of a URL. The URL keeps its number, because it may be a parent of other
// URLs.
func (x *index) forget(id uint32) {
	h, c := x.hot.at(id), x.cold.at(id)
	if h.flags&flagHistory != 0 {
		*x.histories.at(c.history) = history{}
	}
	*h = hot{host: h.host, flags: h.flags & flagHistory}
	*c = cold{dir: c.dir, suffix: c.suffix, suffixHigh: c.suffixHigh, history: c.history}
}
