package exchange

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"spoor/internal/partition"
	"spoor/internal/wire"
)

// formatVersion is the version of all messages in a stream. Other versions are an error.
const formatVersion = 1

// maxCommit is the maximum size of a commit or of settings, in bytes.
const maxCommit = 1 << 20

// How the partitions share the addresses of a generation.
const (
	ByPriority = "priority" // the highest priorities of all partitions
	ByReward   = "reward"   // in proportion to the recent share of relevant pages of each partition
)

// Settings are the settings of a crawl, the same for all its partitions. They are in the first
// message of the stream, and never change.
type Settings struct {
	Version     int     `json:"version"`
	Partitions  int     `json:"partitions"`
	Size        int     `json:"size"`                  // average number of addresses of a partition in a generation
	Pages       int     `json:"pages"`                 // cost at which the crawl ends; 0 is no limit
	Generations int     `json:"generations,omitempty"` // generation after which the crawl ends; 0 is no limit
	Lag         int     `json:"lag"`                   // number of generations by which records from other partitions arrive later
	Share       string  `json:"share"`                 // ByPriority or ByReward
	Patience    float64 `json:"patience"`              // seconds to wait when no partition has an address that is due
	Files       string  `json:"files,omitempty"`       // checksum of the files for all nodes, such as the topic
	Seeds       []Block `json:"seeds"`                 // the blocks of generation 0: seeds and files
}

// check returns an error if a setting is invalid.
func (s *Settings) check() error {
	switch {
	case s.Version != formatVersion:
		return fmt.Errorf("the crawl is of version %d of the format, and this program reads version %d\nhint: run the same version of spoor on all machines", s.Version, formatVersion)
	case s.Partitions < 1 || s.Partitions > partition.Max:
		return fmt.Errorf("%d partitions: want 1 to %d", s.Partitions, partition.Max)
	case s.Size < 1 || s.Size > 1e6 || s.Pages < 0 || s.Generations < 0 || s.Lag < 0 || s.Lag > 16 || !(s.Patience >= 0):
		return fmt.Errorf("size %d, pages %d, generations %d, lag %d, patience %g: want a size from 1 to a million, a lag from 0 to 16, and nothing negative", s.Size, s.Pages, s.Generations, s.Lag, s.Patience)
	case s.Share != ByPriority && s.Share != ByReward:
		return fmt.Errorf("share %q: want %s or %s", s.Share, ByPriority, ByReward)
	}
	return nil
}

// A Commit describes what a partition did in a generation. Only the first commit of a partition and
// generation in the stream is valid. A later one, from a process that had lost the partition, is
// ignored.
type Commit struct {
	Version    int       `json:"version"`
	Partition  int       `json:"partition"`
	Generation int       `json:"generation"`
	Node       string    `json:"node,omitempty"` // name of the machine, for messages
	Attempt    string    `json:"attempt"`        // unique identifier of the process
	Total      int       `json:"total"`          // addresses that all partitions were to fetch in the generation
	N          int       `json:"n"`              // how many of these were for this partition
	Outcomes   int       `json:"outcomes"`
	Cost       int       `json:"cost"`
	Relevant   int       `json:"relevant"`
	Added      int       `json:"added"`             // addresses proposed, for all partitions
	Sent       int       `json:"sent"`              // how many of these are for other partitions
	Spent      int       `json:"spent"`             // cost of the partition so far
	Found      int       `json:"found"`             // relevant pages of the partition so far
	Journal    int64     `json:"journal"`           // size of the strategy's journal after the generation, in bytes
	Waiting    int       `json:"waiting,omitempty"` // number of waiting addresses that are known to the filter
	Best       []float64 `json:"best,omitempty"`    // the highest priorities of waiting addresses, in descending order
	Due        string    `json:"due,omitempty"`     // RFC 3339: when an address becomes due, if none was due
	At         string    `json:"at,omitempty"`      // RFC 3339: the time of the commit, if Due is set
	Stop       bool      `json:"stop,omitempty"`    // the user has asked the crawl to end
	Blocks     []Block   `json:"blocks"`
	Digest     string    `json:"digest"` // digest of the counts and the content of the blocks
}

// digest returns the digest of the counts and the blocks. It does not depend on the sequence numbers
// of the blocks or on the process that wrote them.
func (c *Commit) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d %d\n", c.Partition, c.Generation, c.N, c.Outcomes, c.Cost)
	for _, b := range c.Blocks {
		fmt.Fprintf(h, "%s %d %d %s\n", b.To, b.Records, b.Bytes, b.Sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// parseCommit returns the commit of a partition and generation in a message.
func parseCommit(data []byte, p, g, partitions int) (*Commit, error) {
	wrong := func(format string, args ...any) (*Commit, error) {
		return nil, fmt.Errorf("the commit of generation %d of partition %d: "+format, append([]any{g, p}, args...)...)
	}
	if len(data) > maxCommit {
		return wrong("it has %d bytes, and at most %d are read", len(data), maxCommit)
	}
	c := new(Commit)
	if err := json.Unmarshal(data, c); err != nil {
		return wrong("%w", err)
	}
	due, err := parseTime(c.Due)
	at, err2 := parseTime(c.At)
	switch {
	case c.Version != formatVersion:
		return wrong("it is of version %d, and this program reads version %d\nhint: run the same version of spoor on all machines", c.Version, formatVersion)
	case c.Partition != p || c.Generation != g:
		return wrong("it says that it is generation %d of partition %d", c.Generation, c.Partition)
	case len(c.Blocks) > maxBlocks || len(c.Best) > wire.MaxBest:
		return wrong("it has %d blocks and %d priorities: at most %d and %d are permitted", len(c.Blocks), len(c.Best), maxBlocks, wire.MaxBest)
	case min(c.Total, c.N, c.Outcomes, c.Cost, c.Relevant, c.Added, c.Sent, c.Spent, c.Found, c.Waiting) < 0 || c.Journal < 0 || c.N > c.Total || c.Cost > c.Spent ||
		max(c.Total, c.Outcomes, c.Spent, c.Found, c.Added, c.Waiting) > wire.MaxCount || c.Sent > c.Added || c.Relevant > c.Found:
		return wrong("its counts contradict each other")
	case err != nil || err2 != nil || due.IsZero() != at.IsZero():
		return wrong("its times %q and %q are invalid", c.Due, c.At)
	case !slices.IsSortedFunc(c.Best, func(a, b float64) int { return cmp.Compare(b, a) }):
		return wrong("its priorities are not in descending order")
	case c.digest() != c.Digest:
		return wrong("its digest is %s instead of %s", c.digest(), c.Digest)
	}
	for _, b := range c.Blocks {
		if n, err := strconv.Atoi(b.To); b.To != toJournal && b.To != toTopic && (err != nil || strconv.Itoa(n) != b.To || n < 0 || n >= partitions) {
			return wrong("a block is for %q, which is no partition", b.To)
		}
	}
	return c, nil
}

// parseTime parses a time. It returns the zero time if s is empty.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, s)
}

// subjects returns the subjects of the stream of a crawl:
//
//	spoor.NAME.s              the settings
//	spoor.NAME.b.D.G.P.K      block K of generation G from partition P to D, which is a partition,
//	                          or "j" or "t" for a file of the strategy
//	spoor.NAME.c.G.P          the commit of generation G of partition P
type subjects struct{ name string }

func (s subjects) settings() string { return "spoor." + s.name + ".s" }

func (s subjects) block(to string, g, p, k int) string {
	return fmt.Sprintf("spoor.%s.b.%s.%d.%d.%d", s.name, to, g, p, k)
}

func (s subjects) commit(p, g int) string { return fmt.Sprintf("spoor.%s.c.%d.%d", s.name, g, p) }

// commits matches the commits of all partitions in a generation.
func (s subjects) commits(g int) string { return fmt.Sprintf("spoor.%s.c.%d.*", s.name, g) }

// parseCommit returns the partition and generation of the subject of a commit.
func (s subjects) parseCommit(subject string) (p, g int, ok bool) {
	rest, ok := strings.CutPrefix(subject, "spoor."+s.name+".c.")
	generation, number, ok2 := strings.Cut(rest, ".")
	g, err := strconv.Atoi(generation)
	p, err2 := strconv.Atoi(number)
	return p, g, ok && ok2 && err == nil && err2 == nil
}

// CheckName returns an error if name is not the name of a crawl.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 64
	for _, r := range name {
		ok = ok && (r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	if !ok {
		return fmt.Errorf("%q is not a name: want 1 to 64 letters, digits, - and _", name)
	}
	return nil
}
