package strategy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
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
	path string
	head []byte // the first line
	keep int64  // size of the file before the next frame
	last int    // generation of the last frame before that
}

const (
	journalName   = "journal"
	journalFormat = "spoor-evolve 4 "
	frameHead     = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenJournal restores s to the state after generation-1 from dir, which it creates if
// necessary, and returns the generation that follows. A generation of 0 means the one after
// the last in the journal. signature is the signature of s.
func OpenJournal(dir, signature string, s Strategy, generation int) (*Journal, int, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, 0, err
	}
	j := &Journal{path: filepath.Join(dir, journalName), head: []byte(journalFormat + signature + "\n")}
	b, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	if err := j.replay(b, s, generation); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", j.path, err)
	}
	switch {
	case generation == 0:
		generation = j.last + 1
	case j.last < generation-1:
		return nil, 0, fmt.Errorf("%s ends with generation %d, so generation %d cannot follow\nhint: run generation %d first",
			j.path, j.last, generation, j.last+1)
	}
	return j, generation, nil
}

func (j *Journal) replay(b []byte, s Strategy, generation int) error {
	line, rest, whole := bytes.Cut(b, []byte("\n"))
	if !whole {
		return nil // the first generation was not finished: the journal is empty
	}
	if !bytes.Equal(line, bytes.TrimSuffix(j.head, []byte("\n"))) {
		if name, ok := bytes.CutPrefix(line, []byte(journalFormat)); ok && len(bytes.TrimSpace(name)) > 0 {
			was, is := string(name), string(j.head[len(journalFormat):])
			return fmt.Errorf("this is the state of %s, not of %s\nhint: use another -state directory, or the same strategy and parameters",
				difference(was, is), difference(is, was))
		}
		return errors.New("this is not a state of this version of evolve\nhint: use another -state directory")
	}
	j.keep = int64(len(line)) + 1
	for len(rest) >= frameHead && (generation == 0 || j.last < generation-1) {
		size := int64(binary.LittleEndian.Uint32(rest))
		g := int(binary.LittleEndian.Uint32(rest[4:]))
		last := int64(len(rest)) <= frameHead+size // it reaches the end of the file
		switch {
		case binary.LittleEndian.Uint32(rest[12:]) != crc32.Checksum(rest[:12], castagnoli):
			if bytes.Count(rest, []byte{0}) == len(rest) {
				return nil // torn: allocated but not written
			}
			return j.damaged()
		case int64(len(rest)) < frameHead+size:
			return nil // torn
		}
		delta := rest[frameHead : frameHead+size]
		if binary.LittleEndian.Uint32(rest[8:]) != crc32.Checksum(delta, castagnoli) {
			if last {
				return nil // torn
			}
			return j.damaged()
		}
		if err := s.Replay(delta); err != nil {
			return fmt.Errorf("generation %d: %w", g, err)
		}
		j.last = g
		j.keep += frameHead + size
		rest = rest[frameHead+size:]
	}
	return nil
}

// difference returns what distinguishes one signature from another: the name, or for the same
// strategy the parameters that differ.
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

// Append writes the delta of generation. When it returns, the state after that generation is
// durable.
func (j *Journal) Append(generation int, s Strategy) (err error) {
	frame := s.AppendDelta(make([]byte, frameHead, 1<<12))
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
