package archive

import (
	"bufio"
	"bytes"
	"container/heap"
	"io"
	"os"
	"slices"
)

// A sorter sorts lines. It sorts chunks of lines in memory, writes each chunk to a temporary file
// in dir, and merges the files.
type sorter struct {
	dir   string
	chunk int // size of a chunk in bytes
	arena []byte
	lines []span
	files []spillFile // in descending order of level
}

const (
	// chunkSize is the number of bytes that are sorted in memory.
	chunkSize = 32 << 20

	// mergeFan is the number of files that are merged at once. Two levels of merging suffice
	// for 128 GiB of lines.
	mergeFan = 64

	runBuffer = 128 << 10
)

type span struct{ begin, end int }

// A spillFile is a temporary file of sorted lines that were merged level times.
type spillFile struct {
	*os.File
	level int
}

func (s *sorter) add(line []byte) error {
	if len(s.arena)+len(line) > s.chunk && len(s.lines) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if need := len(s.arena) + len(line); need > cap(s.arena) && need > s.chunk/8 {
		s.arena = slices.Grow(s.arena, max(s.chunk-len(s.arena), len(line))) // grow once instead of several times
	}
	begin := len(s.arena)
	s.arena = append(s.arena, line...)
	s.lines = append(s.lines, span{begin, len(s.arena)})
	return nil
}

// spill writes the chunk to a temporary file, and merges files if there are enough of them.
func (s *sorter) spill() error {
	if err := s.save(0, s.dump); err != nil {
		return err
	}
	for n := len(s.files); n >= mergeFan && s.files[n-mergeFan].level == s.files[n-1].level; n = len(s.files) {
		last := slices.Clone(s.files[n-mergeFan:])
		if err := s.save(last[0].level+1, func(w io.Writer) error { return merge(w, last) }); err != nil {
			return err
		}
		s.files = append(s.files[:n-mergeFan], s.files[n])
		discard(last)
	}
	return nil
}

// save writes the output of fill to a temporary file.
func (s *sorter) save(level int, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(s.dir, ".cdxj-*")
	if err != nil {
		return err
	}
	s.files = append(s.files, spillFile{f, level})
	w := bufio.NewWriterSize(f, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// dump writes the chunk in order and empties it.
func (s *sorter) dump(w io.Writer) error {
	slices.SortFunc(s.lines, func(a, b span) int {
		return bytes.Compare(s.arena[a.begin:a.end], s.arena[b.begin:b.end])
	})
	for _, l := range s.lines {
		if _, err := w.Write(s.arena[l.begin:l.end]); err != nil {
			return err
		}
	}
	s.arena, s.lines = s.arena[:0], s.lines[:0]
	return nil
}

func (s *sorter) write(w io.Writer) error {
	if len(s.files) == 0 {
		return s.dump(w)
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.arena, s.lines = nil, nil
	return merge(w, s.files)
}

// close removes the temporary files.
func (s *sorter) close() { discard(s.files) }

func discard(files []spillFile) {
	for _, f := range files {
		f.Close()
		os.Remove(f.Name())
	}
}

// merge writes the lines of all files in order.
func merge(w io.Writer, files []spillFile) error {
	var h runs
	for _, f := range files {
		r := &run{r: bufio.NewReaderSize(f, runBuffer)}
		if err := r.next(); err == nil {
			h = append(h, r)
		} else if err != io.EOF {
			return err
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if _, err := w.Write(h[0].line); err != nil {
			return err
		}
		switch err := h[0].next(); err {
		case nil:
			heap.Fix(&h, 0)
		case io.EOF:
			heap.Pop(&h)
		default:
			return err
		}
	}
	return nil
}

// A run reads sorted lines. line is the current line.
type run struct {
	r    *bufio.Reader
	line []byte
}

func (r *run) next() error {
	r.line = r.line[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		r.line = append(r.line, part...)
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// runs is a heap of runs, ordered by their current lines.
type runs []*run

func (h runs) Len() int           { return len(h) }
func (h runs) Less(i, j int) bool { return bytes.Compare(h[i].line, h[j].line) < 0 }
func (h runs) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runs) Push(r any)        { *h = append(*h, r.(*run)) }
func (h *runs) Pop() any {
	old := *h
	r := old[len(old)-1]
	*h = old[:len(old)-1]
	return r
}
