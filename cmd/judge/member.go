package main

import (
	"bytes"
	"strconv"
)

// judged is a line with what the judge says of its record: before the body, which
// stays last, and in the place of what an earlier judge has said. The verdict is left
// out if there is none. The line must be a JSON object. The result is appended to dst.
func judged(dst, line []byte, verdict string, spent int64) []byte {
	dst = append(dst, '{')
	var bodies [][]byte
	for name, member := range eachMember(line) {
		switch string(name) {
		case `"verdict"`, `"spent"`:
		case `"body"`, `"body_base64"`:
			bodies = append(bodies, member)
		default:
			dst = append(append(dst, member...), ',')
		}
	}
	if verdict != "" {
		dst = append(append(append(dst, `"verdict":"`...), verdict...), `",`...)
	}
	dst = strconv.AppendInt(append(dst, `"spent":`...), spent, 10)
	for _, body := range bodies {
		dst = append(append(dst, ','), body...)
	}
	return append(dst, "}\n"...)
}

// verdictOf is what a judge has said of the record in a line, "" if none has.
func verdictOf(line []byte) (verdict string) {
	for name, member := range eachMember(line) {
		if string(name) == `"verdict"` {
			value := bytes.TrimLeft(member[len(name):], " \t:")
			verdict = string(bytes.Trim(value, `"`))
		}
	}
	return verdict
}

// eachMember yields the members of a JSON object, without the commas between them:
// the name as it is written, and name and value. It stops where there is no object.
func eachMember(line []byte) func(yield func(name, member []byte) bool) {
	return func(yield func(name, member []byte) bool) {
		i := bytes.IndexByte(line, '{') + 1
		for i > 0 {
			if i = skipBlank(line, i); i == len(line) || line[i] != '"' {
				return
			}
			start := i
			named := skipValue(line, i)
			i = skipBlank(line, named)
			if i == len(line) || line[i] != ':' {
				return
			}
			i = skipValue(line, skipBlank(line, i+1))
			if !yield(line[start:named], line[start:i]) {
				return
			}
			if i = skipBlank(line, i); i == len(line) || line[i] != ',' {
				return
			}
			i++
		}
	}
}

// skipBlank is where the white space that begins at i ends.
func skipBlank(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || line[i] == '\n') {
		i++
	}
	return i
}

// skipValue is where the JSON value that begins at i ends.
func skipValue(line []byte, i int) int {
	for depth := 0; i < len(line); {
		switch line[i] {
		case '"':
			i = skipString(line, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
		default:
			for i++; i < len(line) && !bytes.ContainsRune([]byte(`"{}[],: `+"\t\r\n"), rune(line[i])); i++ {
			}
			if depth > 0 {
				continue
			}
			return i
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipString is where the JSON string that begins at i ends.
func skipString(line []byte, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}
