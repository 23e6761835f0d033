package strategy

import (
	"os"

	"spoor/internal/arena"
)

// A scratch is a file without a name, for parts of a state that are seldom read. They are mapped into
// memory, so that they are in the system's page cache, from which it takes what others need more,
// and not in the heap. The file lasts as long as the process: the journal alone is kept.
type scratch struct {
	dir  string
	file *os.File // nil as long as all is in the heap
	heap int      // bytes left in the heap
	size int64
	err  error // the first failure; afterwards all blocks stay in the heap, and Append fails
}

// scratchAfter is the number of bytes that stay in the heap, so that small crawls write no such file.
// Systems that are not Unix have none.
var scratchAfter = 32 << 20

// A large strategy passes what it seldom reads to keep.
type large interface{ keepWith(keep arena.Keeper) }

// keep writes a block to the file, and returns it as it is there, or the block itself if it stays in
// the heap.
func (s *scratch) keep(block []byte) []byte {
	if !mapsFiles || s.err != nil || s.heap < scratchAfter {
		s.heap += len(block)
		return block
	}
	if s.file == nil {
		if s.err = s.create(); s.err != nil {
			return block
		}
	}
	mapped, err := s.write(block)
	if err != nil {
		s.err = err
		return block
	}
	return mapped
}

// create creates the file. It has a name only until this function returns.
func (s *scratch) create() (err error) {
	if s.file, err = os.CreateTemp(s.dir, ".scratch-*"); err != nil {
		return err
	}
	return os.Remove(s.file.Name())
}

func (s *scratch) write(block []byte) (mapped []byte, err error) {
	if _, err := s.file.WriteAt(block, s.size); err != nil {
		return nil, err
	}
	if mapped, err = mapFile(s.file, s.size, len(block)); err != nil {
		return nil, &os.PathError{Op: "map", Path: s.file.Name(), Err: err}
	}
	page := int64(os.Getpagesize())
	s.size = (s.size + int64(len(block)) + page - 1) / page * page
	return mapped, nil
}
