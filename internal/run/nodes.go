package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"spoor/internal/partition"
	"spoor/internal/terminal"
)

// Dirs are the directories of one crawl: its run directory or, if it ran on several machines, the
// directories of its nodes. A partition that has moved has generations in several of them.
type Dirs []Dir

// IsNode reports whether d is the directory of a node, which has partitions and no generations.
func (d Dir) IsNode() bool {
	info, err := os.Stat(d.Path(partitionsDir))
	return err == nil && info.IsDir() && !exists(d.Generations())
}

type partitionDir struct {
	number int
	dir    Dir
}

// partitions returns the run directories of the partitions of all nodes, sorted by number. Directories
// of the same partition are in the order of ds.
func (ds Dirs) partitions() (list []partitionDir, err error) {
	for _, d := range ds {
		if !d.IsNode() {
			continue
		}
		entries, err := os.ReadDir(d.Path(partitionsDir))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			n, err := strconv.Atoi(e.Name())
			if err == nil && 0 <= n && n < partition.Max && filepath.Base(string(d.PartitionDir(n))) == e.Name() {
				list = append(list, partitionDir{n, d.PartitionDir(n)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b partitionDir) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// Files returns the files of that name in the directories ds, and then in the directories of partitions.
func (ds Dirs) Files(name string) (files []string) {
	partitions, _ := ds.partitions() // List returns the error
	all := slices.Clone(ds)
	for _, p := range partitions {
		all = append(all, p.dir)
	}
	for _, d := range all {
		file := d.Path(name)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			files = append(files, file)
		}
	}
	return files
}

// Find returns the first of [Dirs.Files], or the name of a file that does not exist.
func (ds Dirs) Find(name string) string { return append(ds.Files(name), ds[0].Path(name))[0] }

// List returns the generations of the crawl that have scored pages, by number and then by partition:
// the order of fetching. A generation that several nodes have, because it was repeated, is listed
// once: the first copy that is committed, otherwise the first copy. missing lists the generations that
// partitions lack; it is empty for a crawl on one machine. For such a crawl the error is
// [fs.ErrNotExist] if the run directory has no directory of generations.
func (ds Dirs) List() (list []Generation, missing []Missing, err error) {
	if len(ds) == 1 && !ds[0].IsNode() {
		list, err = ds[0].List()
		return list, nil, err
	}
	shared, err := ds.sharedSettings()
	if err != nil {
		return nil, nil, err
	}
	partitions, err := ds.partitions()
	if err != nil {
		return nil, nil, err
	}
	type place struct{ generation, partition int }
	places := map[place]int{}
	for _, p := range partitions {
		generations, err := p.dir.List()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, g := range generations {
			g.Partition = p.number
			at := place{g.Number, g.Partition}
			if i, ok := places[at]; !ok {
				places[at] = len(list)
				list = append(list, g)
			} else if !list[i].committed() && g.committed() {
				list[i] = g
			}
		}
	}
	slices.SortFunc(list, func(a, b Generation) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Partition, b.Partition))
	})
	return list, missingFrom(list, shared.Partitions), nil
}

func (g *Generation) committed() bool { return exists(g.Stats) }

// sharedSettings returns the settings of the crawl, empty if no node has settings. It returns an error
// if the nodes are not of the same crawl.
func (ds Dirs) sharedSettings() (*Settings, error) {
	shared, from := new(Settings), Dir("")
	for _, d := range ds {
		s, err := d.LoadSettings()
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			continue
		case from == "":
			shared, from = s, d
			continue
		}
		if words := shared.differences(s, func(string) bool { return true }); len(words) > 0 {
			return nil, fmt.Errorf("%s and %s are not nodes of the same crawl: %s",
				terminal.Line(from.String()), terminal.Line(d.String()), terminal.Line(words[0]))
		}
	}
	return shared, nil
}

// A Missing is a set of generations that some partitions lack. Numbers are written as "3,5-8".
type Missing struct{ Partitions, Generations string }

// missingFrom returns what is missing from a sorted list of the generations of a crawl with the given
// number of partitions, or more. Generations after the last committed one are not missing.
func missingFrom(list []Generation, partitions int) (missing []Missing) {
	last := 0
	numbers := map[int][]int{}
	for _, g := range list {
		numbers[g.Partition] = append(numbers[g.Partition], g.Number)
		if g.committed() {
			last = g.Number
		}
	}
	held := slices.Sorted(maps.Keys(numbers))
	if len(held) > 0 {
		partitions = max(partitions, held[len(held)-1]+1)
	}
	add := func(partitions, generations string) {
		if partitions != "" && generations != "" {
			missing = append(missing, Missing{partitions, generations})
		}
	}
	add(gaps(held, 0, partitions-1), gaps(nil, 1, last))
	for _, p := range held {
		add(strconv.Itoa(p), gaps(numbers[p], 1, last))
	}
	return missing
}

// gaps returns the numbers from first to last that a sorted list lacks.
func gaps(list []int, first, last int) string {
	var words []string
	for _, n := range append(slices.Clone(list), last+1) {
		switch before := min(n-1, last); {
		case before > first:
			words = append(words, fmt.Sprintf("%d-%d", first, before))
		case before == first:
			words = append(words, strconv.Itoa(first))
		}
		first = max(first, n+1)
	}
	return strings.Join(words, ",")
}
