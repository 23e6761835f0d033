// Packaging writes the manual pages and shell completions of the commands:
//
//	packaging BIN PREFIX DIR
//
// It runs the commands in the directory BIN with -help=all. Their output is the only source of their
// manuals and completions. spoor(1) is generated from README.md, and spoor-record(5) from
// doc/record.schema.json. PREFIX is the prefix of the installed names. The files in DIR are arranged
// as in /usr/share; the manual pages are Markdown (man/man1/NAME.1.md), for go-md2man.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: packaging BIN PREFIX DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

// A command is the parsed output of a command, or a subcommand, for -help=all. text is plain, chapters are
// Markdown.
type command struct {
	name, summary         string
	usage, text, chapters string
	options               []option
	subcommands           []command
}

// An option is a flag. value is the name of its argument, or "" if it has none. group is the heading of the
// flags that it belongs to, or "".
type option struct{ name, value, usage, group string }

func write(bin, prefix, dir string) error {
	commands, err := load(bin, prefix)
	if err != nil {
		return err
	}
	version, err := run(bin, "", "fetch", "-version")
	if err != nil {
		return err
	}
	w := &writer{prefix: prefix, dir: dir, version: strings.Join(strings.Fields(version)[1:3], " ")}
	spoor := command{name: "spoor"} // all commands; overview is its manual
	for _, c := range commands {
		w.manual(&c)
		w.completions(&c)
		spoor.subcommands = append(spoor.subcommands, c)
	}
	w.completions(&spoor)
	w.overview(commands)
	w.record()
	return w.err
}

// run returns the output of a command. Its examples have the prefix; its defaults must not depend on the
// user.
func run(bin, prefix, name string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Env = append(os.Environ(), "HOME=~", "XDG_CACHE_HOME=", "PROGRAM_PREFIX="+prefix)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	return string(out), nil
}

// load returns the commands in bin, sorted by name. The manual of crawl is printed by run, which
// is not for users.
func load(bin, prefix string) (commands []command, err error) {
	entries, err := os.ReadDir(bin)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, invocation := strings.TrimSuffix(e.Name(), ".exe"), []string{"-help=all"}
		if name == "spoor" { // all commands
			continue
		}
		if name == "run" {
			name, invocation = "crawl", []string{"open", "crawl", "-help=all"}
		}
		page, err := run(bin, prefix, e.Name(), invocation...)
		if err != nil {
			return nil, err
		}
		c := parse(page)
		if c.name != name {
			return nil, fmt.Errorf("%s -help=all does not begin with %q but with %.40q", e.Name(), name+" - ", page)
		}
		for _, sub := range subcommands(&c, prefix) {
			page, err := run(bin, prefix, e.Name(), sub, "-help=all")
			if err != nil {
				return nil, err
			}
			s := parse(page)
			if m := regexp.MustCompile(`(?m)^ *` + sub + ` {2,}(.+)$`).FindStringSubmatch(c.text); m != nil {
				s.summary = m[1]
			}
			s.name = name + " " + sub
			c.subcommands = append(c.subcommands, s)
		}
		commands = append(commands, c)
	}
	slices.SortFunc(commands, func(a, b command) int { return strings.Compare(a.name, b.name) })
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == "fetch" })
	for _, c := range commands { // crawl passes flags on to fetch
		for j, o := range c.options {
			k := slices.IndexFunc(commands[i].options, func(f option) bool { return f.name == o.name })
			if o.usage == "see fetch -help=all" && k >= 0 {
				c.options[j] = commands[i].options[k]
				c.options[j].group = o.group
			}
		}
	}
	return commands, nil
}

var optionLine = regexp.MustCompile(`^  -(\S+) ?([^\t]*)(?:\t(.*))?$`)

// parse parses the output of -help=all: name and summary, usage, text, chapters, and the flags in the
// format of package flag, with headings.
func parse(page string) (c command) {
	text, flags, _ := strings.Cut(page, "\n# Flags\n")
	text, c.chapters, _ = strings.Cut(text, "\n# ")
	if c.chapters != "" {
		c.chapters = "# " + strings.TrimSpace(c.chapters) + "\n\n"
	}
	title, text, _ := strings.Cut(text, "\n\nUsage: ")
	c.name, c.summary, _ = strings.Cut(title, " - ")
	c.usage, c.text, _ = strings.Cut(text, "\n\n")
	group := ""
	for line := range strings.Lines(flags) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			group = title
		} else if m := optionLine.FindStringSubmatch(line); m != nil {
			c.options = append(c.options, option{m[1], m[2], m[3], group})
		} else if n := len(c.options); n > 0 {
			o := &c.options[n-1]
			o.usage = strings.TrimSpace(o.usage + " " + strings.TrimSpace(line))
		}
	}
	return c
}

// subcommands returns the subcommands in the usage or, if the usage contains COMMAND, in the first
// list of the text.
func subcommands(c *command, prefix string) (names []string) {
	named := regexp.MustCompile(`(?m)^ *` + prefix + c.name + ` ([a-z]+)( |$)`)
	list := c.usage
	if strings.HasPrefix(c.usage, prefix+c.name+" COMMAND") {
		named = regexp.MustCompile(`(?m)^    ([a-z]+)( ) +`)
		list, _, _ = strings.Cut(c.text, "\n\n")
	}
	for _, m := range named.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

// A writer writes the files. It stores the first error.
type writer struct {
	prefix, dir, version string
	err                  error
}

func (w *writer) write(name, text string) {
	name = filepath.Join(w.dir, name)
	w.err = errors.Join(w.err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
}

// installed returns the name under which a command or the page of a subcommand is installed.
func (w *writer) installed(name string) string {
	if name == "spoor" { // it has no prefix
		return name
	}
	return w.prefix + strings.ReplaceAll(name, " ", "-")
}

// ---- manual pages ----

var special = regexp.MustCompile("[\\\\`*_{}\\[\\]()#+\\-.!:|&<>~]")

// escape makes plain text literal in Markdown.
func escape(text string) string { return special.ReplaceAllString(text, `\$0`) }

func (w *writer) page(name string, section int, summary, body string) {
	w.write(fmt.Sprintf("man/man%d/%s.%[1]d.md", section, name), fmt.Sprintf(
		"%% %s %d \"\" \"%s\" \"spoor\"\n\n# NAME\n\n%s - %s\n\n%s", strings.ToUpper(name), section, w.version, name, escape(summary), body))
}

func (w *writer) manual(c *command) {
	var b strings.Builder
	usage := strings.ReplaceAll(c.usage, "\n"+strings.Repeat(" ", len("Usage: ")), "\n")
	fmt.Fprintf(&b, "# SYNOPSIS\n\n%s\n# DESCRIPTION\n\n", verbatim(usage))
	if w.prefix != "" {
		fmt.Fprintf(&b, "The commands are installed with the prefix %s, which the text, except the examples, omits.\n\n", escape(w.prefix))
	}
	b.WriteString(markdown(c.text))
	b.WriteString(regexp.MustCompile(`(?m)^# .*`).ReplaceAllStringFunc(c.chapters, strings.ToUpper))
	b.WriteString("# OPTIONS\n\n")
	group := ""
	for _, o := range c.options {
		if o.group != group {
			group = o.group
			fmt.Fprintf(&b, "## %s\n\n", escape(group))
		}
		value := ""
		if o.value != "" {
			value = " *" + escape(o.value) + "*"
		}
		fmt.Fprintf(&b, "**-%s**%s\n: %s\n\n", escape(o.name), value, escape(o.usage))
	}
	fmt.Fprintf(&b, "# SEE ALSO\n\n**spoor**(1), **spoor-record**(5)")
	for _, s := range c.subcommands {
		w.manual(&s)
		fmt.Fprintf(&b, ", **%s**(1)", w.installed(s.name))
	}
	w.page(w.installed(c.name), 1, c.summary, b.String()+"\n")
}

// verbatim returns text as a code block.
func verbatim(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}

var aligned = regexp.MustCompile(`^ |\S {2,}\S|^(In|Out):`)

// markdown converts the text of a manual. Indented and aligned lines are not changed, other lines
// are paragraphs, and the lines "Examples:" and "Exit status: …" are headings.
func markdown(text string) string {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		inCode := false
		for line := range strings.Lines(block + "\n") {
			code := aligned.MatchString(line) || inCode && strings.HasPrefix(block, "In:")
			if code != inCode {
				b.WriteString("\n")
			}
			rest, status := strings.CutPrefix(line, "Exit status: ")
			switch inCode = code; {
			case code:
				b.WriteString("    " + line)
			case status:
				b.WriteString("# EXIT STATUS\n\n" + escape(rest))
			case line == "Example:\n", line == "Examples:\n":
				b.WriteString("# EXAMPLES\n")
			default:
				b.WriteString(escape(line))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// overview writes spoor(1): the introduction of README.md, and the list of commands.
func (w *writer) overview(commands []command) {
	readme, err := os.ReadFile("README.md")
	w.err = errors.Join(w.err, err)
	intro, _, _ := strings.Cut(string(readme), "\n## ")
	_, intro, _ = strings.Cut(intro, "\n")
	intro = regexp.MustCompile(`(?m)^!\[.*\n\n`).ReplaceAllString(intro, "") // pictures
	var b strings.Builder
	b.WriteString("# DESCRIPTION\n" + intro + "\n# COMMANDS\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "**%s**(1)\n: %s\n\n", w.installed(c.name), escape(c.summary))
	}
	w.page("spoor", 1, "a focused web crawler made of Unix filters", b.String()+"# SEE ALSO\n\n**spoor-record**(5)\n")
}

// record writes spoor-record(5).
func (w *writer) record() {
	type schema struct {
		Description string
		Section     string `json:"x-section"`
		Type        any
		Items       struct {
			Ref string `json:"$ref"`
		}
		Properties json.RawMessage
	}
	var root struct {
		schema
		Defs map[string]schema `json:"$defs"`
	}
	text, err := os.ReadFile("doc/record.schema.json")
	w.err = errors.Join(w.err, err, json.Unmarshal(text, &root))
	var b strings.Builder
	var list func(prefix string, s schema)
	list = func(prefix string, s schema) {
		d := json.NewDecoder(bytes.NewReader(s.Properties))
		for _, err := d.Token(); err == nil && d.More(); {
			var key json.Token
			var p schema
			if key, err = d.Token(); err == nil {
				err = d.Decode(&p)
			}
			w.err = errors.Join(w.err, err)
			name := prefix + fmt.Sprint(key)
			fmt.Fprintf(&b, "**%s** *%s*\n: %s", escape(name), escape(strings.ReplaceAll(strings.Trim(fmt.Sprint(p.Type), "[]"), " ", " or ")), escape(p.Description))
			if p.Section != "" {
				fmt.Fprintf(&b, " Section: %s.", p.Section)
			}
			b.WriteString("\n\n")
			if def := strings.TrimPrefix(p.Items.Ref, "#/$defs/"); def != "" {
				list(name+"[].", root.Defs[def])
			}
		}
	}
	list("", root.schema)
	w.page("spoor-record", 5, "a line of the streams between the commands of spoor",
		"# DESCRIPTION\n\n"+escape(strings.Replace(root.Description, "x-section", "Section", 1))+"\n\n# MEMBERS\n\n"+b.String()+"# SEE ALSO\n\n**spoor**(1)\n")
}
