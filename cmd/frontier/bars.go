package main

// bars are the flags by which addresses are refused.
type bars struct {
	traps                   bool
	maxPerHost, maxPerNiche int
}

// barFlags registers the flags of commands that take records in.
func (c *command) barFlags() {
	c.flags.BoolVar(&c.traps, "traps", false, "bar addresses that are traps: calendars without end, sessions, combined parameters, copies, links that should not be relative, and what is too long, too deep or goes in circles; frontier skipped lists them")
}
