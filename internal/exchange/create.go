package exchange

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"spoor/internal/partition"
	"spoor/internal/run"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// maxFiles is the maximum size of the files for all nodes, in bytes.
const maxFiles = 128 << 20

// Create publishes the settings, the seeds and the files of a crawl, and returns the settings in the
// stream. If the crawl exists already, its settings and files must be equal; its seeds are not changed.
func Create(ctx context.Context, s Stream, name string, settings Settings, seeds io.Reader, files map[string]string, patience time.Duration, log run.Log) (*Settings, error) {
	settings.Version = formatVersion
	var packed []byte
	if len(files) > 0 {
		var err error
		if packed, err = json.Marshal(files); err != nil {
			return nil, err
		}
		if len(packed) > maxFiles {
			return nil, fmt.Errorf("the files for all nodes have %d bytes, and at most %d are permitted", len(packed), maxFiles)
		}
		settings.Files = sum(packed)
	}
	if err := cmp.Or(CheckName(name), settings.check()); err != nil {
		return nil, err
	}
	existing, err := Load(ctx, s, name, patience, log)
	if err != nil {
		return nil, err
	}
	if existing == nil {
		r := retryer{patience, log}
		if settings.Seeds, err = publishSeeds(ctx, s, name, &settings, seeds, r); err != nil {
			return nil, err
		}
		for k, data := range cut(packed) {
			b, err := publishInitial(ctx, s, name, toNodes, k, data, r)
			if err != nil {
				return nil, err
			}
			settings.Seeds = append(settings.Seeds, b)
		}
		data, err := json.Marshal(&settings)
		if err != nil {
			return nil, err
		}
		if len(data) > maxCommit {
			return nil, fmt.Errorf("the settings have %d bytes, and at most %d are permitted", len(data), maxCommit)
		}
		subject := subjects{name}.settings()
		if err := (retryer{patience, log}).do(ctx, func() error { return s.PublishFirst(ctx, subject, data) }); err != nil {
			return nil, err
		}
		for begun := time.Now(); existing == nil; time.Sleep(20 * time.Millisecond) {
			if existing, err = Load(ctx, s, name, patience, log); err != nil {
				return nil, err
			}
			if time.Since(begun) > patience {
				return nil, errors.New("the servers acknowledged the settings and do not return them")
			}
		}
	}
	if words := existing.differences(&settings); len(words) > 0 {
		return nil, fmt.Errorf("the crawl %s exists with other settings: %s\nhint: leave out the topic, the seeds and the settings to join it; another crawl needs another name", name, strings.Join(words, "; "))
	}
	return existing, nil
}

// differences describes the settings of others that differ from s, except the seeds.
func (s *Settings) differences(others *Settings) (words []string) {
	for _, f := range []struct {
		key     string
		was, is any
	}{
		{"partitions", s.Partitions, others.Partitions}, {"size", s.Size, others.Size}, {"pages", s.Pages, others.Pages},
		{"generations", s.Generations, others.Generations}, {"lag", s.Lag, others.Lag}, {"share", s.Share, others.Share},
		{"patience", s.Patience, others.Patience},
	} {
		if f.was != f.is {
			words = append(words, fmt.Sprintf("%s was %v and is %v", f.key, f.was, f.is))
		}
	}
	if s.Files != others.Files {
		words = append(words, "the topic, the scope, or a flag that all nodes share (doc/guide/machines.md) is another one")
	}
	return words
}

// publishSeeds publishes seeds as blocks of generation 0.
func publishSeeds(ctx context.Context, s Stream, name string, settings *Settings, seeds io.Reader, r retryer) (blocks []Block, err error) {
	to := make([]packer, settings.Partitions)
	in := wire.NewReader(seeds, wire.Address)
	var rec wire.Record
	var line bytes.Buffer
	n := 0
	for {
		err := in.Read(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading seeds: %w", err)
		}
		if rec.URL == "" {
			continue
		}
		u, err := weburl.Parse(rec.URL)
		if err != nil {
			return nil, fmt.Errorf("the seed %q: %w", rec.URL, err)
		}
		line.Reset()
		w := wire.NewWriter(&line)
		if err := cmp.Or(w.Write(&rec), w.Flush()); err != nil {
			return nil, err
		}
		if err := to[partition.Of(u.Host(), settings.Partitions)].add(line.Bytes()); err != nil {
			return nil, err
		}
		n++
	}
	if n == 0 {
		return nil, errors.New("there are no seeds\nhint: the input is a list of addresses, one a line, or address records")
	}
	for p := range to {
		for k, data := range to[p].pieces {
			b, err := publishInitial(ctx, s, name, strconv.Itoa(p), k, data, r)
			if err != nil {
				return nil, err
			}
			b.Records = bytes.Count(data, []byte("\n"))
			blocks = append(blocks, b)
		}
	}
	return blocks, nil
}

// publishInitial publishes a block of generation 0, with seeds or files.
func publishInitial(ctx context.Context, s Stream, name, to string, k int, data []byte, r retryer) (Block, error) {
	b := Block{To: to, Bytes: len(data), Sum: sum(data)}
	subject := subjects{name}.block(to, 0, 0, k)
	message := pack(data)
	err := r.do(ctx, func() (err error) {
		b.Seq, err = s.Publish(ctx, subject, message, "seeds "+b.Sum+" "+subject)
		return err
	})
	return b, err
}

// Files returns the contents of the files for all nodes, by name. The names have no directories.
func Files(ctx context.Context, s Stream, name string, settings *Settings, patience time.Duration, log run.Log) (map[string]string, error) {
	size := 0
	for _, b := range settings.Seeds {
		if b.To == toNodes {
			size += max(0, b.Bytes)
		}
	}
	if size > maxFiles {
		return nil, fmt.Errorf("the files of the crawl %s have %d bytes, and at most %d are read", name, size, maxFiles)
	}
	pieces, err := fetchBlocks(ctx, retryer{patience, log}, s, subjects{name}, toNodes, 0, settings.Seeds)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	if packed := bytes.Join(pieces, nil); len(packed) > 0 {
		if sum(packed) != settings.Files {
			return nil, fmt.Errorf("the files of the crawl %s have the checksum %s, and its settings say %s", name, sum(packed), settings.Files)
		}
		if err := json.Unmarshal(packed, &files); err != nil {
			return nil, fmt.Errorf("the files of the crawl %s: %w", name, err)
		}
	}
	for file := range files {
		if file == "" || file[0] == '.' || strings.Trim(file, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return nil, fmt.Errorf("the crawl %s has a file %q: a name of small letters, digits, -, _ and . was expected", name, file)
		}
	}
	return files, nil
}

// Load returns the settings of a crawl; nil if there is no crawl of that name.
func Load(ctx context.Context, s Stream, name string, patience time.Duration, log run.Log) (*Settings, error) {
	var messages []Message
	err := retryer{patience, log}.do(ctx, func() (err error) {
		messages, err = s.Range(ctx, subjects{name}.settings(), 1, 1)
		return err
	})
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	settings := new(Settings)
	if len(messages[0].Data) > maxCommit {
		return nil, fmt.Errorf("the settings of the crawl %s have %d bytes, and at most %d are read", name, len(messages[0].Data), maxCommit)
	}
	if err := json.Unmarshal(messages[0].Data, settings); err != nil {
		return nil, fmt.Errorf("the settings of the crawl %s: %w", name, err)
	}
	if err := settings.check(); err != nil {
		return nil, fmt.Errorf("the settings of the crawl %s: %w", name, err)
	}
	return settings, nil
}
