package main

import (
	"fmt"
	"strings"
)

// values returns the shell command that prints the values of a flag, or "".
func values(o option) string {
	switch o.name {
	case "strategy":
		return `spoor evolve -strategies 2>/dev/null | grep -o "^[a-z0-9-]*:" | tr -d :`
	case "fitness":
		return `spoor score -help=all | sed -n "/^  -fitness/{n;s/ (default.*//;s/.*: //;s/,//g;p;}"`
	}
	return ""
}

// completions writes the completions of a command.
func (w *writer) completions(c *command) {
	w.bash(c)
	w.zsh(c)
	w.fish(c)
}

// brief returns the first clause of a description.
func brief(text string) string {
	text, _, _ = strings.Cut(text, "; ")
	return text
}

// bash completes flags, subcommands and values; -o default completes files for everything else.
func (w *writer) bash(c *command) {
	name := w.installed(c.name)
	var b, asked strings.Builder
	var words func(c *command, n int) // of c, the word n-1 of the command line
	words = func(c *command, n int) {
		var flags, names []string
		for _, o := range c.options {
			flags = append(flags, "-"+o.name)
			if v := values(o); v != "" && !strings.Contains(asked.String(), "\t-"+o.name+")") {
				fmt.Fprintf(&asked, "\t-%s) words=$(%s) ;;\n", o.name, v)
			}
		}
		for _, s := range c.subcommands {
			names = append(names, s.last())
		}
		fmt.Fprintf(&b, "\tflags='%s'\n", strings.Join(flags, " "))
		if names != nil {
			fmt.Fprintf(&b, "\t((COMP_CWORD != %d)) || words='%s'\n\tcase ${COMP_WORDS[%[1]d]} in\n", n, strings.Join(names, " "))
			for _, s := range c.subcommands {
				fmt.Fprintf(&b, "\t%s)\n", s.last())
				words(&s, n+1)
				b.WriteString("\t;;\n")
			}
			b.WriteString("\tesac\n")
		}
	}
	function := "_spoor_" + strings.ReplaceAll(name, "-", "_")
	fmt.Fprintf(&b, "%s() {\n\tlocal words= flags\n", function)
	words(c, 1)
	fmt.Fprintf(&b, "\tcase $3 in\n%s\t*) [[ $2 != -* ]] || words=$flags ;;\n\tesac\n", asked.String())
	fmt.Fprintf(&b, "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$2\"))\n}\ncomplete -o default -F %s %s\n", function, name)
	w.write("bash-completion/completions/"+name, b.String())
}

var zshEscape = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`, `'`, `'\''`)

func (w *writer) zsh(c *command) {
	var helpers strings.Builder
	var arguments func(c *command) string
	arguments = func(c *command) string {
		var list, cases, names strings.Builder
		list.WriteString("_arguments")
		for _, o := range c.options {
			value, action := "", "_files"
			if v := values(o); v != "" {
				action = "_spoor_" + o.name
				if !strings.Contains(helpers.String(), action+"()") {
					fmt.Fprintf(&helpers, "%s() { compadd -- $(%s) }\n", action, v)
				}
			}
			if o.value != "" {
				value = ":" + zshEscape.Replace(o.value) + ":" + action
			}
			fmt.Fprintf(&list, " \\\n\t'*-%s[%s]%s'", o.name, zshEscape.Replace(brief(o.usage)), value)
		}
		list.WriteString(" \\\n\t'*:file:_files'")
		if len(c.subcommands) == 0 {
			return list.String()
		}
		for _, s := range c.subcommands {
			fmt.Fprintf(&names, " '%s:%s'", s.last(), zshEscape.Replace(s.summary))
			fmt.Fprintf(&cases, "%s) shift words; ((CURRENT--)); %s ;;\n", s.last(), arguments(&s))
		}
		return fmt.Sprintf("local -a commands=(%s)\n((CURRENT > 2)) || _describe command commands\ncase $words[2] in\n%s*) %s ;;\nesac", names.String(), cases.String(), list.String())
	}
	body := arguments(c)
	w.write("zsh/site-functions/_"+w.installed(c.name), "#compdef "+w.installed(c.name)+"\n"+helpers.String()+body+"\n")
}

var fishEscape = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func (w *writer) fish(c *command) {
	name := w.installed(c.name)
	var b strings.Builder
	var complete func(c *command, given string) // after the words that the condition given demands
	complete = func(c *command, given string) {
		names, own := "", given
		for _, s := range c.subcommands {
			names += " " + s.last()
		}
		if names != "" {
			own = given + "; and not __fish_seen_subcommand_from" + names
		}
		for _, s := range c.subcommands {
			fmt.Fprintf(&b, "complete -c %s -n '%s' -a %s -d '%s'\n", name, own, s.last(), fishEscape.Replace(s.summary))
			complete(&s, given+"; and __fish_seen_subcommand_from "+s.last())
		}
		for _, o := range c.options {
			argument := ""
			if v := values(o); v != "" {
				argument = " -x -a '(" + fishEscape.Replace(v) + ")'"
			} else if o.value != "" {
				argument = " -r"
			}
			fmt.Fprintf(&b, "complete -c %s -n '%s' -o %s%s -d '%s'\n", name, own, o.name, argument, fishEscape.Replace(brief(o.usage)))
		}
	}
	complete(c, "true")
	w.write("fish/vendor_completions.d/"+name+".fish", b.String())
}

// last returns the last word of the name of a command.
func (c *command) last() string { return c.name[strings.LastIndex(c.name, " ")+1:] }
