package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/frontier"
	"spoor/internal/scope"
	"spoor/internal/weburl"
	"spoor/internal/wire"
)

// ScopeFile is the file of a run that holds the rules of its scope, with the hosts and sites of the
// seeds by name. The frontier and fetch read it.
const ScopeFile = "scope"

// maxScope is the maximum size of the scope file, in bytes.
const maxScope = 256 << 20

// FrontierScope returns the scope as the frontier uses it, nil if it contains every URL.
func FrontierScope(s *scope.Scope) frontier.Scope {
	if s == nil || s.Empty() {
		return nil
	}
	return frontierScope{s}
}

type frontierScope struct{ *scope.Scope }

func (f frontierScope) Decide(u weburl.URL, depth int, isSeed bool) (reason, rule string) {
	role := scope.Link
	if isSeed {
		role = scope.Seed
	}
	because, rule := f.Scope.Decide(u, depth, role)
	return string(because), rule
}

// loadScope returns the scope of the run, nil if it has none.
func (d Dir) loadScope(s *Settings) (frontier.Scope, error) {
	if len(s.Scope) == 0 {
		return nil, nil
	}
	b, err := atomicfile.ReadFile(d.Path(ScopeFile), maxScope)
	if err != nil {
		return nil, err
	}
	rules, err := scope.Parse(strings.Split(string(b), "\n"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path(ScopeFile), err)
	}
	return FrontierScope(rules), nil
}

// saveScope writes the scope file, with the hosts and sites of the seeds in the frontier. If the
// rules have changed, it excludes the waiting addresses that are now out of scope.
func (d Dir) saveScope(s *Settings, changed bool) error {
	if len(s.Scope) == 0 {
		if err := os.Remove(d.Path(ScopeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	rules, err := scope.Parse(s.Scope)
	if err != nil {
		return faultf(statusMisuse, "the scope: %v", err)
	}
	if changed || rules.NeedsSeeds() {
		store, err := frontier.Open(d.Path("frontier"), frontier.Options{
			Create: true, Scope: FrontierScope(rules), RecheckScope: changed, Wait: 30 * time.Second, Holder: fmt.Sprintf("process %d, crawl", os.Getpid()),
		})
		if err != nil {
			return err
		}
		err = store.Close() // Close commits, and thereby applies the scope
		if _, only := errors.AsType[*frontier.SnapshotError](err); err != nil && !only {
			return err
		}
	}
	return d.writeScope(rules.Lines())
}

func (d Dir) writeScope(rules []string) error {
	text := "# Which addresses belong to this crawl. Made from the settings, where a change counts.\n" + strings.Join(rules, "\n") + "\n"
	return atomicfile.WriteBytes(d.Path(ScopeFile), []byte(text))
}

// checkSeeds writes the scope file after the seeds were added to the frontier. It returns an error if
// all seeds are out of scope.
func (o *Opener) checkSeeds(d Dir, s *Settings) error {
	if len(s.Scope) == 0 {
		return nil
	}
	if err := d.saveScope(s, false); err != nil {
		return err
	}
	store, err := frontier.Open(d.Path("frontier"), frontier.Options{ReadOnly: true, Wait: 30 * time.Second})
	if err != nil {
		return err
	}
	stats, err := store.Stats(time.Now())
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	if stats.URLs > 0 && stats.States[frontier.Skipped.String()] == stats.URLs {
		return faultf(statusFailed, "all seeds are out of scope\nhint: %sfrontier skipped -store %s names the rule of each", o.Prefix, d.Path("frontier"))
	}
	return nil
}

// unusedExcludes returns the exclude rules that have excluded no address, for the end of a crawl. Such
// a rule may be mistyped.
func (c *Crawl) unusedExcludes() ([]string, error) {
	rules, err := scope.Parse(c.Settings.Scope)
	if err != nil {
		return nil, err
	}
	u := &unused{slices.DeleteFunc(rules.Lines(), func(rule string) bool { return !strings.HasPrefix(rule, "exclude ") })}
	if len(u.rules) == 0 {
		return nil, nil
	}
	if err := c.openStore(); err != nil {
		return nil, err
	}
	if err := c.store.Export(u, time.Now(), frontier.Skipped); err != nil && !errors.Is(err, errAllUsed) {
		return nil, err
	}
	return u.rules, nil
}

// unused removes from rules those that the records written to it name as the reason of an exclusion.
type unused struct{ rules []string }

var errAllUsed = errors.New("all rules are used")

func (u *unused) Write(line []byte) (int, error) {
	var rec wire.Record
	if err := rec.Unmarshal(line, wire.Address|wire.Fetch); err != nil {
		return 0, err
	}
	u.rules = slices.DeleteFunc(u.rules, func(rule string) bool { return strings.HasSuffix(rec.ErrorDetail, rule) })
	if len(u.rules) == 0 {
		return 0, errAllUsed
	}
	return len(line), nil
}

// showRules returns rules for a message.
func showRules(rules []string) string {
	const most = 10
	switch n := len(rules); {
	case n == 0:
		return "every address"
	case n > most:
		return fmt.Sprintf("%s and %d more rules", strings.Join(rules[:most], ", "), n-most)
	}
	return strings.Join(rules, ", ")
}
