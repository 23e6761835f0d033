// Package spoor is the root of the project: a focused web crawler made of Unix
// filters, whose frontier evolves. There is nothing to import here. The programs
// are under cmd, the packages they are built from under internal, and the tests of
// the whole beside this file.
package spoor
