package filter

// Version is the version of spoor, as User-Agent headers and WARC files name it.
const Version = "0.1"
