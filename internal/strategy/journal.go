package strategy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
)

// A Journal is a strategy's state on disk: one file to which every generation appends a delta,
// so that the state after any generation is a prefix of the file. Running a generation again
// truncates what followed it.
//
// The first line names the format and the strategy with its parameters. Each generation is a
// frame: the length of the delta, the generation, the CRC-32C of the delta, the CRC-32C of
// these three numbers (all 32 bits, little-endian), and the delta. An incomplete last frame
// was never acknowledged and is truncated; any other mismatch is damage.
type Journal struct {
	path    string
	head    []byte // the first line
	keep    int64  // size of the file before the next frame
	last    int    // generation of the last frame before keep
	scratch scratch
}

const (
	journalName   = "journal"
	journalFormat = "spoor-evolve 6 "
	frameHead     = 16

	// maxJournal limits the size of a journal, in bytes. Most of it are addresses: a million pages
	// with ten new links each, of 100 bytes, take 1 GB.
	maxJournal = 16 << 30

	// maxDelta limits the size of a delta, in bytes. A delta is read into memory.
	maxDelta = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenJournal restores s to the state after generation-1 from dir, which it creates if
// necessary, and returns the generation that follows. A generation of 0 means the generation after
// the last one in the journal. signature is the signature of s.
func OpenJournal(dir, signature string, s Strategy, generation int) (*Journal, int, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, 0, err
	}
	j := &Journal{path: filepath.Join(dir, journalName), head: []byte(journalFormat + signature + "\n"), scratch: scratch{dir: dir}}
	if s, ok := s.(large); ok {
		s.keepWith(j.scratch.keep)
	}
	if err := j.read(s, generation); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", j.path, err)
	}
	switch {
	case generation == 0:
		generation = j.last + 1
	case j.last < generation-1:
		return nil, 0, fmt.Errorf("%s ends with generation %d, so generation %d cannot follow\nhint: run generation %d first; if a crawl did, restore the file from a copy, or begin another run; if another command was EVOLVE then, only that command can go on",
			j.path, j.last, generation, j.last+1)
	}
	return j, generation, nil
}

// read restores s from the file, if there is one.
func (j *Journal) read(s Strategy, generation int) error {
	f, err := atomicfile.OpenFile(j.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxJournal {
		return fmt.Errorf("it has %d bytes, and at most %d are read\nhint: use another -state directory", info.Size(), int64(maxJournal))
	}
	return j.replay(f, info.Size(), s, generation)
}

// replay restores s from the first size bytes of r. It holds one delta at a time in memory.
func (j *Journal) replay(r io.Reader, size int64, s Strategy, generation int) error {
	in := bufio.NewReaderSize(io.LimitReader(r, size), len(j.head)+4<<10)
	line, err := in.ReadSlice('\n')
	switch {
	case err == io.EOF:
		return nil // the first generation was not finished: the journal is empty
	case err != nil && err != bufio.ErrBufferFull:
		return err
	case !bytes.Equal(line, j.head):
		if name, ok := bytes.CutPrefix(line, []byte(journalFormat)); ok && err == nil && len(bytes.TrimSpace(name)) > 0 {
			was, is := string(name), string(j.head[len(journalFormat):])
			return fmt.Errorf("this is the state of %s, not of %s\nhint: use another -state directory, or the same strategy and parameters",
				difference(was, is), difference(is, was))
		}
		return errors.New("this is not a state of this version of evolve\nhint: use another -state directory")
	}
	j.keep = int64(len(line))
	var head [frameHead]byte
	var delta []byte
	for size-j.keep >= frameHead && (generation == 0 || j.last < generation-1) {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		length := int64(binary.LittleEndian.Uint32(head[:]))
		g := binary.LittleEndian.Uint32(head[4:])
		end := j.keep + frameHead + length
		switch {
		case binary.LittleEndian.Uint32(head[12:]) != crc32.Checksum(head[:12], castagnoli):
			zero, err := isZero(io.MultiReader(bytes.NewReader(head[:]), in))
			if err != nil || zero {
				return err // incomplete: allocated but not written
			}
			return j.damaged()
		case length > maxDelta:
			return j.damaged()
		case end > size:
			return nil // torn
		}
		delta = slices.Grow(delta[:0], int(length))[:length]
		if _, err := io.ReadFull(in, delta); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(head[8:]) != crc32.Checksum(delta, castagnoli) {
			if end == size {
				return nil // torn
			}
			return j.damaged()
		}
		if int64(g) != int64(j.last)+1 {
			return j.damaged()
		}
		if err := s.Replay(delta); err != nil {
			return fmt.Errorf("generation %d: %w", g, err)
		}
		j.last++
		j.keep = end
	}
	return nil
}

// isZero reports whether all bytes are 0.
func isZero(r io.Reader) (bool, error) {
	var b [4 << 10]byte
	for {
		n, err := r.Read(b[:])
		if bytes.Count(b[:n], []byte{0}) < n {
			return false, nil
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return true, err
		}
	}
}

// difference returns the part of one that differs from other: the name or, for the same strategy,
// the parameters that differ.
func difference(one, other string) string {
	words, others := strings.Fields(one), strings.Fields(other)
	if words[0] != others[0] {
		return words[0]
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		return w != others[0] && slices.Contains(others, w)
	}), " ")
}

func (j *Journal) damaged() error {
	return fmt.Errorf("the frame after generation %d is damaged\nhint: run the generations from %d again, with -generation", j.last, j.last+1)
}

// Append writes the delta of generation. When Append returns, the state after this generation is
// durable.
func (j *Journal) Append(generation int, s Strategy) (err error) {
	if j.scratch.err != nil {
		return j.scratch.err
	}
	frame := s.AppendDelta(make([]byte, frameHead, 1<<12))
	if len(frame)-frameHead > maxDelta {
		return fmt.Errorf("the state of generation %d has %d bytes, and at most %d fit in %s\nhint: fetch fewer pages in a generation", generation, len(frame)-frameHead, maxDelta, j.path)
	}
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHead))
	binary.LittleEndian.PutUint32(frame[4:], uint32(generation))
	binary.LittleEndian.PutUint32(frame[8:], crc32.Checksum(frame[frameHead:], castagnoli))
	binary.LittleEndian.PutUint32(frame[12:], crc32.Checksum(frame[:12], castagnoli))
	if j.keep == 0 {
		frame = append(bytes.Clone(j.head), frame...)
	}
	f, err := atomicfile.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Truncate first: later frames belong to generations that are being run again.
	if err := f.Truncate(j.keep); err != nil {
		return err
	}
	if _, err := f.WriteAt(frame, j.keep); err != nil {
		return errors.Join(err, f.Truncate(j.keep))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if j.keep == 0 { // the file may be new
		if err := atomicfile.SyncDir(filepath.Dir(j.path)); err != nil {
			return err
		}
	}
	j.keep, j.last = j.keep+int64(len(frame)), generation
	return nil
}
