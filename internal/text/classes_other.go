//go:build !amd64 || purego

package text

func classes(s string, i int) (words, wide uint64) { return classesGeneric(s, i) }
