package procgroup

import "strings"

// TailSize is the number of bytes that a [Tail] keeps.
const TailSize = 300

// A Tail is a writer that keeps the last TailSize bytes of the output of a command.
type Tail struct{ b []byte }

func (t *Tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-TailSize):]...)
	t.b = t.b[max(0, len(t.b)-TailSize):]
	return len(p), nil
}

// Line returns the last line of the output.
func (t *Tail) Line() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.b), "�")), "\n")
	return lines[len(lines)-1]
}
