package filter

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A manual is what -h and -help=all print, and what the manual page of a command is made from. It
// begins with the line "NAME - SUMMARY"; "Usage:", examples and perhaps a few words follow. The
// block "Flags:" arranges the flags in groups: a line for each, with its name, two blanks or more, and the
// names of its flags. Flags that are in no line follow in a group of their own. The chapters begin
// with the first line "# …" and are Markdown; only -help=all prints them.
type manual struct {
	head     string
	groups   []group
	chapters string
}

// A group is a heading and the names of its flags, in order.
type group struct {
	title string
	names []string
}

// parseManual parses the text of a manual.
func parseManual(text string) (m manual) {
	text = strings.TrimSpace(text) + "\n"
	if i := strings.Index(text, "\n# "); i >= 0 {
		text, m.chapters = text[:i+1], text[i+1:]
	}
	head, groups, _ := strings.Cut(text, "\nFlags:\n")
	m.head = strings.TrimSpace(head) + "\n"
	for line := range strings.Lines(groups) {
		title, names, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if title != "" {
			m.groups = append(m.groups, group{title, strings.Fields(names)})
		}
	}
	return m
}

// commandInLine matches a command in a line of a synopsis or example, and commandInProse one in other lines. In a
// list of subcommands, such as serve of frontier, more than one blank follows the name.
var (
	commandInLine  = regexp.MustCompile(`(^(?:Usage:)? +|\| )(` + commandNames + `(?: [^ ]|$))`)
	commandInProse = regexp.MustCompile(`(^| )(` + commandNames + ` COMMAND )`)
)

// addPrefix puts prefix before the names of commands that a reader may copy.
func (m *manual) addPrefix(prefix string) {
	title, text, _ := strings.Cut(m.head, "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		pattern := commandInProse
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "Usage: ") {
			pattern = commandInLine
		}
		lines[i] = pattern.ReplaceAllString(line, insertion(prefix))
	}
	m.head = title + "\n" + strings.Join(lines, "\n")
}

// arrange returns the groups of the manual with the flags of the set: all of them, each once.
func (m *manual) arrange(fs *flag.FlagSet) (groups []group) {
	listed := map[string]bool{}
	for _, g := range m.groups {
		g.names = slices.DeleteFunc(slices.Clone(g.names), func(name string) bool { return fs.Lookup(name) == nil || listed[name] })
		for _, name := range g.names {
			listed[name] = true
		}
		groups = append(groups, g)
	}
	rest := group{title: "other"}
	fs.VisitAll(func(f *flag.Flag) {
		if !listed[f.Name] {
			rest.names = append(rest.names, f.Name)
		}
	})
	return append(groups, rest)
}

// short writes what -h prints: flags have the first clause of their descriptions.
func (m *manual) short(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, m.head)
	for _, g := range m.arrange(fs) {
		title := "Flags:"
		if len(m.groups) > 0 {
			title = "Flags, " + g.title + ":"
		}
		fmt.Fprintf(w, "\n%s\n", title)
		for names := g.names; len(names) > 0; {
			// Flags with the same description, such as those that crawl passes on, share it.
			value, usage := firstClause(fs.Lookup(names[0]))
			n := 1
			for n < len(names) {
				if v, u := firstClause(fs.Lookup(names[n])); v != value || u != usage {
					break
				}
				n++
			}
			label := strings.TrimSpace("-" + strings.Join(names[:n], " -") + " " + value)
			names = names[n:]
			if len(label) > flagColumn-4 {
				for _, line := range wrap(label, helpWidth-2) {
					fmt.Fprintf(w, "  %s\n", line)
				}
				label = ""
			}
			for i, line := range wrap(usage, helpWidth-flagColumn) {
				if i > 0 {
					label = ""
				}
				fmt.Fprintf(w, "%-*s%s\n", flagColumn, strings.TrimRight("  "+label, " "), line)
			}
		}
	}
}

// firstClause returns the name of a flag's value, and the first clause of its description with its default.
func firstClause(f *flag.Flag) (value, usage string) {
	value, usage = flag.UnquoteUsage(f)
	usage, _, _ = strings.Cut(usage, "; ")
	return value, usage + defaultOf(f)
}

// The columns of -h.
const (
	helpWidth  = 80
	flagColumn = 26
)

// whole writes what -help=all prints: the manual and its chapters, and then the flags with their whole
// descriptions.
func (m *manual) whole(w io.Writer, fs *flag.FlagSet) {
	fmt.Fprintf(w, "%s\n%s\n# Flags\n", m.head, m.chapters)
	for _, g := range m.arrange(fs) {
		if len(m.groups) > 0 {
			fmt.Fprintf(w, "\n## %s\n", g.title)
		}
		fmt.Fprintln(w)
		for _, name := range g.names {
			f := fs.Lookup(name)
			value, usage := flag.UnquoteUsage(f)
			fmt.Fprintf(w, "%s\n", strings.TrimRight("  -"+name+" "+value, " "))
			fmt.Fprintf(w, "    \t%s\n", strings.ReplaceAll(usage+defaultOf(f), "\n", "\n    \t"))
		}
	}
}

// defaultOf returns the default of a flag as package flag prints it: " (default 5)", or "" if it is the
// zero value.
func defaultOf(f *flag.Flag) string {
	switch f.DefValue {
	case "", "0", "false", "0s":
		return ""
	}
	if getter, ok := f.Value.(flag.Getter); ok {
		if _, ok := getter.Get().(string); ok {
			return fmt.Sprintf(" (default %q)", f.DefValue)
		}
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

// wrap breaks text into lines of at most width characters, unless a word is longer.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
