package text

// Nearest returns the name that word is probably a misspelling of: the one with the fewest inserted,
// deleted and replaced letters, and letters exchanged with the next, if these are at most a third of the
// letters of word. Of several it is the first. It returns "" if there is none.
func Nearest(word string, names []string) (nearest string) {
	const longest = 100 // in bytes
	if len(word) > longest {
		return ""
	}
	least := len([]rune(word))/3 + 1
	for _, name := range names {
		if d := edits([]rune(word), []rune(name)); d < least {
			nearest, least = name, d
		}
	}
	return nearest
}

// edits returns the distance of two words in the edits that Nearest counts.
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1) // two rows ago, one, now
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
