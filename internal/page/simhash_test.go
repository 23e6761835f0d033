package page

import (
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"spoor/internal/text"
)

// plainSimhash computes the majority bit by bit, as the paper describes it.
func plainSimhash(hashes []uint64) (sum uint64) {
	for bit := range 64 {
		vote := 0
		for _, h := range hashes {
			if h>>bit&1 == 1 {
				vote++
			} else {
				vote--
			}
		}
		if vote > 0 {
			sum |= 1 << bit
		}
	}
	return sum
}

// simhashOf returns the fingerprint of a text without links.
func simhashOf(text string) uint64 { return new(wordSet).fingerprint(text, nil) }

func TestSimhashOfWords(t *testing.T) {
	for _, same := range [][2]string{
		{"Eine, zwei; DREI!", "eine zwei drei"},
		{"a b c", "c b a"},
		{"to be or not to be", "be not or to be to"},
		{"MP3プレーヤー", "mp3 プレーヤー"},
		{"ÉTÉ 42", "été\n42"},
		{"", " … "},
	} {
		if a, b := simhashOf(same[0]), simhashOf(same[1]); a != b {
			t.Errorf("%q and %q: %016x and %016x", same[0], same[1], a, b)
		}
	}
	if simhashOf("ab") == simhashOf("ba") || simhashOf("ab c") == simhashOf("a bc") {
		t.Error("different words have the same fingerprint")
	}
	if simhashOf("") != 0 {
		t.Error("no words, but a fingerprint")
	}
}

// Half of the fingerprint is computed from the words outside links, if there are enough.
func TestFingerprintOutsideLinks(t *testing.T) {
	var links, text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&links, "<li><a href=%d>link%d to%d</a></li>", i, i, i)
		if i < minContentWords {
			fmt.Fprintf(&text, "word%d ", i)
		}
	}
	fingerprint := func(html string) (h uint64) {
		if _, err := fmt.Sscanf(extract(html).Simhash, "%x", &h); err != nil {
			t.Fatal(err)
		}
		return h
	}
	whole := fingerprint(links.String() + "<p>" + text.String())
	if want := simhashOf(extract(links.String() + "<p>" + text.String()).Text); (whole^want)&allWordsMask != 0 {
		t.Errorf("%016x, but of all words %016x", whole, want)
	}
	if want := simhashOf(text.String()); (whole^want)&^allWordsMask != 0 {
		t.Errorf("%016x, but of the words outside links %016x", whole, want)
	}
	for _, html := range []string{links.String(), links.String() + "<p>word0 word1 word2", text.String()} {
		if got, want := fingerprint(html), simhashOf(extract(html).Text); got != want {
			t.Errorf("%.40s…: %016x, want that of the text, %016x", html, got, want)
		}
	}
}

// Tables of short words, all different, fill the word set most.
func TestSimhashIgnoresOrder(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	var table []string
	for _, a := range letters {
		for _, b := range letters {
			table = append(table, string(a)+string(b))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{85, 340, 680} {
		words := slices.Clone(table[:n])
		want := simhashOf(strings.Join(words, " "))
		for range 20 {
			rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			if got := simhashOf(strings.Join(words, " ")); got != want {
				t.Fatalf("%d words in another order: %016x, not %016x", n, got, want)
			}
		}
	}
}

// Long texts of the same few words are different texts.
func TestFewWordsInAnotherOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 400)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i%30)
	}
	text := strings.Join(words, " ")
	rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	if d := bits.OnesCount64(simhashOf(text) ^ simhashOf(strings.Join(words, " "))); d < 10 {
		t.Errorf("they differ in %d bits only", d)
	}
	if d := bits.OnesCount64(simhashOf(text) ^ simhashOf(text+" word7")); d > 3 {
		t.Errorf("another word at the end changed %d bits", d)
	}
}

// Words chosen to collide, and more words than there are slots, are dropped.
func TestWordSetIsBounded(t *testing.T) {
	var s wordSet
	s.reset(1 << 30)
	if len(s.slots) != maxSlots {
		t.Fatalf("%d slots", len(s.slots))
	}
	for i := range uint64(1000) {
		s.add(5+i<<32, 0)
	}
	if n := len(s.used); n != maxProbes || s.words != 1000 {
		t.Errorf("%d of %d colliding words counted, want %d", n, s.words, maxProbes)
	}
	for range 100 {
		s.add(5, 0)
	}
	if c := s.sum(0); c.n != maxProbes+maxCount-1 {
		t.Errorf("a word counts %d times, want at most %d", c.n-maxProbes+1, maxCount)
	}
	for i := range uint64(2 * maxSlots) {
		s.add(mix(i+1), 0)
	}
}

// Random words in links and outside have the fingerprint that a plain implementation computes.
func TestFingerprintAgreesWithPlainImplementation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	parts := []string{"a", "Zz", "09", "é", "É", "日本", "\u0301", "/", ":", "@", "[", "`", "{", "_", " ", " ", "\n", "\x10", "\x19",
		"\u2019", "\uFFFD", "\xE9", "seven77", "eightSix", "NINEnines", "a word of a text ", "straße", "İx"}
	isOfWord := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
	}
	split := regexp.MustCompile(`([日本])\pM*|[^日本]+`)
	plain := func(seen map[uint64]int, text string, mark uint64) (hashes []uint64) {
		add := func(word string) {
			hash := uint64(fnvOffset)
			for _, r := range word {
				hash = (hash ^ uint64(unicode.ToLower(r))) * fnvPrime
			}
			if hash = mix(mix(hash) &^ slotMask); seen[hash^mark] < maxCount {
				seen[hash^mark]++
				hashes = append(hashes, hash)
			}
		}
		for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !isOfWord(r) }) {
			last := ""
			for _, word := range split.FindAllStringSubmatch(run, -1) {
				add(word[0])
				if last != "" && word[1] != "" {
					add(word[0] + last)
				}
				last = word[1]
			}
		}
		return hashes
	}
	var s wordSet
	for range 5000 {
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		if rng.IntN(9) == 0 {
			b.WriteString(strings.Repeat(" the日", rng.IntN(40)))
		}
		if rng.IntN(50) == 0 {
			for i := range rng.IntN(3000) {
				b.WriteByte(' ')
				b.WriteString(strconv.FormatInt(int64(i), 36))
			}
		}
		text := b.String()
		var references []reference
		for at := rng.IntN(20); at < len(text) && rng.IntN(5) > 0; {
			end := min(at+1+rng.IntN(30), len(text))
			references = append(references, reference{tag: "a", start: at, end: end})
			at = end + rng.IntN(30)
		}
		seen := map[uint64]int{}
		var own, linked []uint64
		at := 0
		for _, r := range references {
			own = append(own, plain(seen, text[at:r.start], 0)...)
			linked = append(linked, plain(seen, text[r.start:r.end], ^uint64(0))...)
			at = r.end
		}
		own = append(own, plain(seen, text[at:], 0)...)
		want := plainSimhash(append(slices.Clone(own), linked...))
		if len(own) >= minContentWords {
			want = want&allWordsMask | plainSimhash(own)&^allWordsMask
		}
		if got := s.fingerprint(text, references); got != want && !s.pairs {
			t.Fatalf("%q, %d links: %016x, want %016x", text, len(references), got, want)
		}
	}
}

// As many near-duplicates are found in scripts without spaces as in others.
func TestNearDuplicates(t *testing.T) {
	for _, tt := range []struct {
		name, separator string
		unit            func(n int) string
	}{
		{"words", " ", func(n int) string { return "w" + strconv.Itoa(n) }},
		{"Chinese", "", func(n int) string { return string(rune(0x4E00 + n)) }},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		random := func() string { return tt.unit(int(math.Pow(1500, rng.Float64()))) } // as often as Zipf's law says
		found := 0
		for range 100 {
			units := make([]string, 1000)
			for i := range units {
				units[i] = random()
			}
			want := simhashOf(strings.Join(units, tt.separator))
			for range len(units) / 100 {
				units[rng.IntN(len(units))] = random()
			}
			if bits.OnesCount64(simhashOf(strings.Join(units, tt.separator))^want) <= 3 {
				found++
			}
		}
		if found < 65 {
			t.Errorf("%s: %d of 100 near-duplicates differ in at most 3 bits", tt.name, found)
		}
	}
}

func TestSimilarTextsHaveSimilarFingerprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", rng.IntN(5000))
	}
	text := strings.Join(words, " ")
	near := append(strings.Fields("six words that were not there"), words...)
	far := make([]string, 1000)
	for i := range far {
		far[i] = fmt.Sprintf("other%d", rng.IntN(5000))
	}
	distance := func(words []string) int {
		return bits.OnesCount64(simhashOf(text) ^ simhashOf(strings.Join(words, " ")))
	}
	if d := distance(near); d > 6 {
		t.Errorf("0.6 %% of the words changed %d bits", d)
	}
	if d := distance(far); d < 20 {
		t.Errorf("another text differs in %d bits only", d)
	}
}

// Near-duplicates of real pages are found, and other pages are not taken for them. The directory
// SPOOR_PAGES has one of HTML files for each language; without it the test is skipped.
func TestNearDuplicatesOfPages(t *testing.T) {
	root := os.Getenv("SPOOR_PAGES")
	if root == "" {
		t.Skip("SPOOR_PAGES is not set")
	}
	languages, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range languages {
		t.Run(language.Name(), func(t *testing.T) {
			units := pagesUnder(t, filepath.Join(root, language.Name()))
			rng := rand.New(rand.NewPCG(1, 2))
			rng.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
			found, sum, n := 0, 0, min(100, len(units))
			for _, page := range units[:n] {
				near := slices.Clone(page)
				for range (len(page) + 50) / 100 {
					other := units[rng.IntN(len(units))]
					near[rng.IntN(len(near))] = other[rng.IntN(len(other))]
				}
				d := bits.OnesCount64(simhashOf(strings.Join(page, "")) ^ simhashOf(strings.Join(near, "")))
				if sum += d; d <= 3 {
					found++
				}
			}
			var hashes []uint64
			for _, page := range units {
				hashes = append(hashes, simhashOf(strings.Join(page, "")))
			}
			alike, pairs := 0, 0
			for i, a := range units {
				for j, b := range units[:i] {
					if bits.OnesCount64(hashes[i]^hashes[j]) <= 3 && shared(a, b) < 0.8 {
						alike++
					}
					pairs++
				}
			}
			t.Logf("%d pages; of %d near-duplicates %d found, %.2f bits differ on average; of %d pairs of other pages %d are taken for near-duplicates",
				len(units), n, found, float64(sum)/float64(n), pairs, alike)
		})
	}
}

// shared returns the share of the distinct units of two pages that are in both.
func shared(a, b []string) float64 {
	in := map[string]int{}
	for _, u := range a {
		in[u] |= 1
	}
	for _, u := range b {
		in[u] |= 2
	}
	both := 0
	for _, where := range in {
		if where == 3 {
			both++
		}
	}
	return float64(both) / float64(len(in))
}

// pagesUnder returns the texts of the pages in a directory that have at least 200 words, as words with the
// space after them; in scripts without spaces, as characters.
func pagesUnder(t *testing.T, dir string) (pages [][]string) {
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var units []string
		for _, word := range strings.SplitAfter(extract(string(body)).Text, " ") {
			if strings.IndexFunc(word, text.Unspaced) < 0 {
				units = append(units, word)
				continue
			}
			for _, r := range word {
				units = append(units, string(r))
			}
		}
		if all := strings.Join(units, ""); len(units) >= 200 && !seen[all] {
			seen[all] = true
			pages = append(pages, units)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
