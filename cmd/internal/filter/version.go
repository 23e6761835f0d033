package filter

// Version is the version of spoor, as -version, User-Agent headers, WARC files, manual pages and
// packages name it.
const Version = "0.1"
