package main

// bars are the flags by which addresses are refused.
type bars struct {
	traps                   bool
	maxPerHost, maxPerNiche int
}

// barFlags defines the flags of commands that add records.
func (c *command) barFlags() {
	c.flags.BoolVar(&c.traps, "traps", false, "exclude crawler traps: endless calendars, sessions, combinations of parameters, copies, wrong relative links, and URLs that are too long, too deep or repetitive; frontier skipped lists them")
}
