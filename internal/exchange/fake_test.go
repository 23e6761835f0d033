package exchange

import (
	"context"
	"strings"
	"sync"
)

// A fakeStream is a stream in memory. Like a real one it may append a second message to PublishFirst.
type fakeStream struct {
	mu       sync.Mutex
	messages []Message
	ids      map[string]uint64
	watchers map[chan struct{}]bool
	fail     func() error // called by every operation; nil: none fails
	lost     map[uint64]bool
}

func newFake() *fakeStream {
	return &fakeStream{ids: map[string]uint64{}, watchers: map[chan struct{}]bool{}, lost: map[uint64]bool{}}
}

func (s *fakeStream) failing() error {
	if s.fail == nil {
		return nil
	}
	return s.fail()
}

func (s *fakeStream) append(subject string, data []byte) uint64 {
	seq := uint64(len(s.messages)) + 1
	s.messages = append(s.messages, Message{subject, seq, data})
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
	return seq
}

func (s *fakeStream) Publish(_ context.Context, subject string, data []byte, id string) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failing(); err != nil {
		return 0, err
	}
	if seq := s.ids[id]; seq > 0 {
		return seq, nil
	}
	s.ids[id] = s.append(subject, data)
	return s.ids[id], nil
}

func (s *fakeStream) PublishFirst(_ context.Context, subject string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failing(); err != nil {
		return err
	}
	s.append(subject, data)
	return nil
}

func (s *fakeStream) Range(_ context.Context, filter string, from uint64, limit int) (list []Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failing(); err != nil {
		return nil, err
	}
	for _, m := range s.messages[min(int(from)-1, len(s.messages)):] {
		if matches(filter, m.Subject) && !s.lost[m.Seq] {
			if list = append(list, m); len(list) == limit {
				break
			}
		}
	}
	return list, nil
}

func (s *fakeStream) Watch(string) (<-chan struct{}, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := make(chan struct{}, 1)
	s.watchers[w] = true
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}, nil
}

// matches reports whether a subject matches a filter with the wildcards * and >.
func matches(filter, subject string) bool {
	f, s := strings.Split(filter, "."), strings.Split(subject, ".")
	for i, token := range f {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != "*" && token != s[i] {
			return false
		}
	}
	return len(f) == len(s)
}
