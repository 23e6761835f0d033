package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"spoor/cmd/internal/filter"
	"spoor/internal/archive"
)

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// escapeControls percent-encodes control characters, which terminals would interpret.
func escapeControls(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unicode.IsControl(c) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// formatFaults counts the faults of format by file. A file can be made to have one every few
// bytes, so only the first maxFormatFaults are printed; faults of other kinds are limited by
// the number of records.
type formatFaults map[string]int

const maxFormatFaults = 1000

// print reports whether a fault is to be printed. The last one printed gets a detail that
// says so.
func (f formatFaults) print(file, kind string, detail *string) bool {
	if kind != archive.KindFormat {
		return true
	}
	f[file]++
	if f[file] == maxFormatFaults+1 {
		*detail = "this and more such faults of the file are counted, but not printed"
	}
	return f[file] <= maxFormatFaults+1
}

// checkOutput returns an error if writing the file out would overwrite an input.
func checkOutput(out string, inputs []string) error {
	target, err := os.Stat(out)
	if err != nil {
		return nil // it does not exist
	}
	for _, input := range inputs {
		if info, err := os.Stat(input); err == nil && os.SameFile(target, info) {
			return filter.Usagef("%s is read, so it cannot be written\nhint: another name for -o, or remove the file first if it is from an earlier run", out)
		}
	}
	return nil
}
