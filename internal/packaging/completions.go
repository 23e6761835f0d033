package main

import (
	"fmt"
	"strings"
)

// values returns the shell command that prints the values of a flag, or "".
func (w *writer) values(o option) string {
	switch o.name {
	case "strategy":
		return w.prefix + `evolve -strategies 2>/dev/null | grep -o "^[a-z0-9-]*:" | tr -d :`
	case "fitness":
		return w.prefix + `score -help=all | sed -n "/^  -fitness/{n;s/ (default.*//;s/.*: //;s/,//g;p;}"`
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
	words := func(c *command) string {
		var list []string
		for _, o := range c.options {
			list = append(list, "-"+o.name)
			if v := w.values(o); v != "" && !strings.Contains(asked.String(), "\t-"+o.name+")") {
				fmt.Fprintf(&asked, "\t-%s) words=$(%s) ;;\n", o.name, v)
			}
		}
		return strings.Join(list, " ")
	}
	function := "_spoor_" + strings.ReplaceAll(name, "-", "_")
	fmt.Fprintf(&b, "%s() {\n\tlocal words= flags='%s'\n\tcase ${COMP_WORDS[1]} in\n", function, words(c))
	var names []string
	for _, s := range c.subcommands {
		_, sub, _ := strings.Cut(s.name, " ")
		names = append(names, sub)
		fmt.Fprintf(&b, "\t%s) flags='%s' ;;\n", sub, words(&s))
	}
	fmt.Fprintf(&b, "\tesac\n\t((COMP_CWORD > 1)) || words='%s'\n\tcase $3 in\n%s\t*) [[ $2 != -* ]] || words=$flags ;;\n\tesac\n", strings.Join(names, " "), asked.String())
	fmt.Fprintf(&b, "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$2\"))\n}\ncomplete -o default -F %s %s\n", function, name)
	w.write("bash-completion/completions/"+name, b.String())
}

var zshEscape = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`, `'`, `'\''`)

func (w *writer) zsh(c *command) {
	var b, helpers strings.Builder
	arguments := func(c *command) string {
		var list strings.Builder
		list.WriteString("_arguments")
		for _, o := range c.options {
			value, action := "", "_files"
			if v := w.values(o); v != "" {
				action = "_spoor_" + o.name
				fmt.Fprintf(&helpers, "%s() { compadd -- $(%s) }\n", action, v)
			}
			if o.value != "" {
				value = ":" + zshEscape.Replace(o.value) + ":" + action
			}
			fmt.Fprintf(&list, " \\\n\t'*-%s[%s]%s'", o.name, zshEscape.Replace(brief(o.usage)), value)
		}
		return list.String() + " \\\n\t'*:file:_files'"
	}
	whole, names := arguments(c), ""
	for _, s := range c.subcommands {
		_, sub, _ := strings.Cut(s.name, " ")
		names += fmt.Sprintf(" '%s:%s'", sub, zshEscape.Replace(s.summary))
		fmt.Fprintf(&b, "%s) shift words; ((CURRENT--)); %s ;;\n", sub, arguments(&s))
	}
	if names != "" {
		whole = fmt.Sprintf("local -a commands=(%s)\n((CURRENT > 2)) || _describe command commands\ncase $words[2] in\n%s*) %s ;;\nesac", names, b.String(), whole)
	}
	w.write("zsh/site-functions/_"+w.installed(c.name), "#compdef "+w.installed(c.name)+"\n"+helpers.String()+whole+"\n")
}

var fishEscape = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func (w *writer) fish(c *command) {
	var b strings.Builder
	options := func(c *command, condition string) {
		for _, o := range c.options {
			argument := ""
			if v := w.values(o); v != "" {
				argument = " -x -a '(" + fishEscape.Replace(v) + ")'"
			} else if o.value != "" {
				argument = " -r"
			}
			fmt.Fprintf(&b, "complete -c %s%s -o %s%s -d '%s'\n", w.installed(nameOf(c)), condition, o.name, argument, fishEscape.Replace(brief(o.usage)))
		}
	}
	own := ""
	for _, s := range c.subcommands {
		own = " -n __fish_use_subcommand"
		_, sub, _ := strings.Cut(s.name, " ")
		fmt.Fprintf(&b, "complete -c %s -n __fish_use_subcommand -a %s -d '%s'\n", w.installed(c.name), sub, fishEscape.Replace(s.summary))
		options(&s, " -n '__fish_seen_subcommand_from "+sub+"'")
	}
	options(c, own)
	w.write("fish/vendor_completions.d/"+w.installed(c.name)+".fish", b.String())
}

// nameOf returns the name of the command to which a subcommand belongs.
func nameOf(c *command) string {
	name, _, _ := strings.Cut(c.name, " ")
	return name
}
