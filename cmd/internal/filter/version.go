package filter

// Version is the version of spoor that -version, User-Agent headers, WARC files, manual pages and
// packages contain.
const Version = "0.1"
