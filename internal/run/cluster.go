package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/partition"
)

// This file is about crawls on several machines. The run directory of a node has the
// settings, the stages and the topic. Under partitions it has a run directory for each partition
// that the node has held: a steady crawl whose last stage is exchange pass.

// Cluster is the part of the settings that says where a crawl on several machines runs.
type Cluster struct {
	Exchange   []string // flags of exchange: how to reach the servers
	Crawl      string   // name of the crawl on the servers; "" if it runs on one machine
	Node       string   // the name of this machine
	Partitions int
	Lag        int
	Share      string
	Partition  string // p/P, in the run directory of a partition
}

// CrawlLog is the file of a partition's run directory that holds the messages of its crawl.
const CrawlLog = "crawl.log"

// partitionsDir contains the run directories of partitions.
const partitionsDir = "p"

// PartitionDir returns the run directory of a partition of a node.
func (d Dir) PartitionDir(p int) Dir { return Dir(d.Path(partitionsDir, fmt.Sprintf("%03d", p))) }

// nodeStop returns the stop file of the node, if d is the run directory of one of its partitions.
func (d Dir) nodeStop() string { return d.Path("..", "..", StopFile) }

// inCluster reports whether the crawl runs on several machines.
func (s *Settings) inCluster() bool { return s.Crawl != "" }

// exchangeCommand returns the command for a subcommand of exchange, with the flags for the crawl.
func (s *Settings) exchangeCommand(subcommand string) string {
	var command strings.Builder
	command.WriteString(subcommand)
	for _, f := range s.Exchange {
		command.WriteString(" " + Quote(f))
	}
	return command.String() + " -crawl " + Quote(s.Crawl)
}

// passCommand returns the last stage of a partition.
func (s *Settings) passCommand(prefix Prefix) string {
	return prefix.Quote("exchange") + " " + s.exchangeCommand("pass") + " -node " + Quote(s.Node) + ` -partition "$SPOOR_PARTITION" -state ` + inRun("evolve") + " -windows " + inRun(generations)
}

// local lists the settings that each node has for itself: commands, files of the machine, and how to
// reach servers. They are never copied from other machines.
var local = []string{"convert", "archive", "search", "seed-query", "live", "min-free", "watch", "replaced", "stage", "form", "steady", "exchange", "node", "partition"}

// SaveShared writes the settings that all nodes share to the directory d.
func (s *Settings) SaveShared(d Dir) error {
	shared := new(Settings)
	if err := shared.Join(s, nil); err != nil {
		return err
	}
	shared.Live = decisive(s.Live)
	return shared.save(d)
}

// decisiveFlags are the flags of fetch that decide what a crawl can fetch.
var decisiveFlags = strings.Fields("allow-private allow-port insecure mime max-body sitemaps")

// decisive returns the values of the decisive flags, which must be the same on all nodes.
func decisive(live []string) (values []string) {
	for _, name := range decisiveFlags {
		var given []string
		for _, f := range live {
			switch flag, value, _ := strings.Cut(strings.TrimPrefix(f, "-"), "="); {
			case flag != name:
			case value == "default": // live is a result of decisive
			default:
				given = append(given, cmp.Or(value, "on"))
			}
		}
		slices.Sort(given)
		values = append(values, name+"="+cmp.Or(strings.Join(given, ","), "default"))
	}
	return values
}

// checkFetchFlags returns an error if the decisive flags in live differ from those in s. s.Live holds the
// flags of a node, or what decisive has returned.
func (s *Settings) checkFetchFlags(live []string) error {
	was, is := decisive(s.Live), decisive(live)
	for i := range was {
		if was[i] != is[i] {
			return faultf(statusMisuse, "the crawl %s fetches with %s, and this node would with %s\nhint: give all nodes the same of the flags -%s: what one node refuses is lost to the crawl", s.Crawl, was[i], is[i], strings.Join(decisiveFlags, ", -"))
		}
	}
	return nil
}

// CheckShared compares the files that all nodes share with those that the first node has published, in
// the directory published.
func (d Dir) CheckShared(s *Settings, published Dir) error {
	for _, name := range sharedFiles {
		want, err := readShared(published, name)
		if err != nil {
			return err
		}
		if got, err := readShared(d, name); err != nil || !bytes.Equal(got, want) {
			return cmp.Or(err, faultf(statusMisuse, "%s is not that of the crawl %s\nhint: copy the file of another node; another topic or scope needs another crawl", d.Path(name), s.Crawl))
		}
	}
	return nil
}

// readShared reads a file that all nodes share; nil if it does not exist.
func readShared(d Dir, name string) ([]byte, error) {
	b, err := atomicfile.ReadFile(d.Path(name), maxScope)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// HasPartitions reports whether a node holds or has held partitions.
func (d Dir) HasPartitions() bool {
	partitions, _ := os.ReadDir(d.Path(partitionsDir)) // nil in another run
	return len(partitions) > 0
}

// Join copies to s the settings that all nodes share from others. It returns an error if one of them is
// given for this node and differs.
func (s *Settings) Join(others *Settings, given map[string]bool) error {
	isGiven := func(key string) bool { return given[key] && !slices.Contains(local, key) }
	if others.Content != s.Content && given != nil {
		return faultf(statusMisuse, "the crawl %s was begun with archives of the digest %s, and here it is %s\nhint: -archive takes copies of the same files on all nodes, and a crawl of the live web has none", others.Crawl, cmp.Or(others.Content, "none"), cmp.Or(s.Content, "none"))
	}
	if given != nil {
		if err := others.checkFetchFlags(s.Live); err != nil {
			return err
		}
	}
	if words := append(others.differences(s, isGiven), others.changes(s, given)...); len(words) > 0 {
		return faultf(statusMisuse, "the crawl %s was begun with other settings: %s\nhint: leave them out to join it; another crawl needs another -name", others.Crawl, words[0])
	}
	for _, f := range settings {
		if slices.Contains(local, f.key) {
			continue
		}
		if err := f.put(s, f.get(others)); err != nil {
			return err
		}
	}
	return nil
}

// changes describes the given settings that differ from s and may not be changed, although a crawl on one
// machine may change them when it is resumed.
func (s *Settings) changes(given *Settings, isGiven map[string]bool) (words []string) {
	for _, f := range settings {
		if was, is := f.get(s), f.get(given); !f.fixed && isGiven[f.key] && !slices.Contains(local, f.key) && !slices.Equal(was, is) {
			words = append(words, fmt.Sprintf("%s was %s and is %s", f.key, strings.Join(was, ", "), strings.Join(is, ", ")))
		}
	}
	return words
}

// sharedFiles are the files of a node's run directory that all nodes share.
var sharedFiles = []string{Topic, ScopeFile}

// SharedFiles returns the files of a run directory that all nodes share.
func (d Dir) SharedFiles() (names []string) {
	for _, name := range sharedFiles {
		if exists(d.Path(name)) {
			names = append(names, d.Path(name))
		}
	}
	return names
}

// OpenPartition opens the run directory of a partition of a node. Missing files are restored from
// the stream. The directory is locked as long as the returned file is open in any
// process.
func (o *Opener) OpenPartition(ctx context.Context, node Dir, p partition.Partition) (d Dir, hold *os.File, err error) {
	s, err := node.LoadSettings()
	if err != nil {
		return "", nil, err
	}
	if s == nil || s.Partitions != p.Of {
		return "", nil, faultf(statusMisuse, "%s is not the directory of a node of a crawl with %d partitions", node, p.Of)
	}
	d = node.PartitionDir(p.Number)
	for _, name := range []string{generations, "frontier", "evolve", "fetch", Captures} {
		if err := os.MkdirAll(d.Path(name), 0o777); err != nil {
			return "", nil, cannotWrite(d, err)
		}
	}
	if err := d.requirePlainFiles(); err != nil {
		return "", nil, err
	}
	if hold, err = d.Hold(); err != nil {
		return "", nil, err
	}
	s.Partition = p.String()
	if err := errors.Join(copyFiles(node, d, append(slices.Clone(sharedFiles), StagesFile)), s.save(d)); err != nil {
		return "", nil, errors.Join(err, hold.Close())
	}
	return d, hold, o.restore(ctx, d, s)
}

// copyFiles copies the files that exist.
func copyFiles(from, to Dir, names []string) error {
	for _, name := range names {
		b, err := readShared(from, name)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		if err := atomicfile.WriteBytes(to.Path(name), b); err != nil {
			return err
		}
	}
	return nil
}

// restore adds the missing files to the run directory of a partition.
func (o *Opener) restore(ctx context.Context, d Dir, s *Settings) error {
	command := o.Prefix.Quote("exchange") + " " + s.exchangeCommand("restore") + " -partition " + s.Partition +
		" -store " + inRun("frontier") + " -state " + inRun("evolve") + " -windows " + inRun(generations)
	if s.Traps {
		command += " -traps"
	}
	if len(s.Scope) > 0 {
		command += " " + scopeFlag
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", "exec "+command)
	cmd.Env = append(os.Environ(), "SPOOR_RUN="+string(d))
	cmd.Stderr = o.Stderr
	if err := cmd.Run(); err != nil {
		status, err := childStatus(ctx, err)
		if err != nil {
			return err
		}
		return faultf(status, "the partition %s was not restored: see above", s.Partition)
	}
	return nil
}

// checkCluster returns an error for settings and stages that a crawl on several machines does not
// support.
func (s *Settings) checkCluster(stages Stages) error {
	if s.Search != "" || s.SeedQuery != "" || stages.find("search") != nil {
		return faultf(statusMisuse, "-cluster cannot be used with a search: what queries cost is known too late to share -pages")
	}
	if s.PerDay > 0 || s.Keep > 0 || s.Relevant > 0 {
		return faultf(statusMisuse, "-per-day, -keep and -relevant cannot be used with -cluster")
	}
	return nil
}
