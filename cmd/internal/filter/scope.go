package filter

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"spoor/internal/atomicfile"
	"spoor/internal/wire"
)

// maxScopeFile is the maximum size of a scope file, in bytes.
const maxScopeFile = 64 << 20

// ScopeFlags defines the flags that specify which URLs belong to a crawl. The flags append rules to
// lines, in the order of the command line and in the format of a scope file (package scope). check
// must return an error for a line that is not a rule.
func ScopeFlags(fs *flag.FlagSet, lines *[]string, check func(line string) error) {
	add := func(line string) error {
		if err := check(line); err != nil {
			return err
		}
		*lines = append(*lines, line)
		return nil
	}
	rule := func(name string) func(string) error {
		return func(value string) error { return add(name + " " + value) }
	}
	limit := func(name string) func(string) error {
		return func(value string) error {
			on, err := strconv.ParseBool(value)
			if err != nil || !on {
				return err
			}
			return add(name)
		}
	}
	fs.Func("include", "only URLs that match this `pattern` belong to the crawl; such as example.org, *.example.org, example.org/docs/*, */docs/*, ext:html, re:EXPR, or a SURT prefix; may be repeated; the last matching -include or -exclude decides", rule("include"))
	fs.Func("exclude", "URLs that match this `pattern` (a host or, as */docs/*, a path) do not belong to the crawl, not even seeds; may be repeated; patterns are those of -include", rule("exclude"))
	fs.BoolFunc("same-host", "only URLs on the hosts of the seeds", limit("same-host"))
	fs.BoolFunc("same-site", "only URLs in the registrable domains of the seeds, as example.co.uk", limit("same-site"))
	fs.Func("depth", "only URLs at most `n` links away from a seed", rule("depth"))
	fs.Func("scheme", "only URLs with this `scheme`: http or https", rule("scheme"))
	fs.Func("scope", "read rules from a `file`; it has a line for each: include PATTERN, exclude PATTERN, same-host, same-site, depth N, scheme S, or a SURT prefix; # begins a comment", func(name string) error {
		read, err := ReadScope(name, check)
		*lines = append(*lines, read...)
		return err
	})
}

// ReadScope reads the rules of a scope file, without empty lines and comments.
func ReadScope(name string, check func(line string) error) (lines []string, err error) {
	b, err := atomicfile.ReadFile(name, maxScopeFile)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.TrimSpace(wire.TrimBOM(line))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := check(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}
