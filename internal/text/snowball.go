package text

import "github.com/blevesearch/snowballstem"

// snowball makes stemmers of one that the Snowball project's compiler wrote,
// each with a state of its own. A word that would lose all its letters keeps
// them: the Turkish stemmer takes leri and sunuz for suffixes of nothing.
func snowball(stem func(*snowballstem.Env) bool) func() func([]byte) []byte {
	return func() func([]byte) []byte {
		env := snowballstem.NewEnv("")
		return func(word []byte) []byte {
			env.SetCurrent(string(word))
			if stem(env); env.Current() == "" {
				return word
			}
			return append(word[:0], env.Current()...)
		}
	}
}

// ours is a stemmer without a state.
func ours(stem func([]byte) []byte) func() func([]byte) []byte {
	return func() func([]byte) []byte { return stem }
}

// unstemmed leaves every word as it is.
func unstemmed(word []byte) []byte { return word }
