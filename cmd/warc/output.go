package main

import (
	"encoding/json"
	"fmt"
	"os"

	"spoor/cmd/internal/filter"
)

// printLine writes v as a line: as JSON, or by its String method.
func (c *command) printLine(asJSON bool, v fmt.Stringer) (err error) {
	if !asJSON {
		_, err = fmt.Fprintln(c.stdout, v)
		return err
	}
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
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
