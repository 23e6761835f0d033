// Package interop tests that other libraries and programs verify the archives that fetch writes,
// and that fetch and warc read theirs. It is a separate module; scripts/interop runs it.
package interop
