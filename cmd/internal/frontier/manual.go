package frontier

import "embed"

//go:embed manual/*.md
var manuals embed.FS

// manual returns the manual of a subcommand, or that of frontier itself.
func manual(name string) string {
	text, err := manuals.ReadFile("manual/" + name + ".md")
	if err != nil {
		panic(err) // a subcommand without a manual
	}
	return string(text)
}
