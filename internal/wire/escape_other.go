//go:build !amd64 || purego

package wire

const hasEscape = false

func escape([]byte, []byte, int) (wrote, read int) { panic("wire: no escape on this processor") }

func unescape([]byte, []byte, int) (wrote, read int) { panic("wire: no unescape on this processor") }
