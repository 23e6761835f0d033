package page

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// language returns the language tag at the start of s, or "" if there is none or it is "und". A tag
// is a primary subtag of two or three letters, or x- or i- and another subtag, followed by subtags
// of letters and digits (RFC 5646, section 2.1). Its maximum length is 35 bytes, the longest in
// practice.
func language(s string) string {
	const maxLen = 35
	s, _, _ = strings.Cut(s, ",")
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
	if s == "" || len(s) > maxLen {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '-' && (c < '0' || c > '9') {
			return ""
		}
	}
	primary, rest, _ := strings.Cut(s, "-")
	for i := range len(primary) {
		if !isLetter(primary[i]) {
			return ""
		}
	}
	switch len(primary) {
	case 1:
		if strings.IndexByte("xXiI", primary[0]) < 0 || rest == "" {
			return ""
		}
	case 2, 3:
	default:
		return ""
	}
	if strings.EqualFold(primary, "und") {
		return ""
	}
	return s
}

// functionWords are the most common words, in lower case, of languages that share a script
// with others. They make up a third of the words of a text in their language, and few of the words
// in another language. The table also has languages that are easily confused with these, and Latin,
// because designers use it as filler text. Single Latin letters are not included, because they are
// variables, initials and days of the week in any language.
var functionWords = [...]struct{ language, words string }{
	{"af", "die van en in is het nie te vir met wat dit op deur om aan ook sal kan word hulle hy sy ek ons daar maar was of as by nog moet uit baie"},
	{"ar", "في من على إلى أن عن مع هذا التي الذي هذه ما لا كان أو و بعد ذلك بين كل قد لم هو هي كما ثم غير عند حتى"},
	{"be", "і ў не на што з да гэта як у за для ад пра або яго быў па але ці яна яны можна таксама"},
	{"bg", "и на в да за от се е с не по са че като но до ще или това със през при бъде може към той тя които който само след си"},
	{"ca", "de la que el en els les per un amb una del és no dels al ha se es més com aquest aquesta són pel ser també hi ho aquests"},
	{"cs", "se na je že to do pro jako ve jsou by za které nebo od ale podle který si při bude jeho jak tak jen po není však být která může ze"},
	{"da", "og at det er en til af på som for med den de der ikke et har kan om vi fra var jeg men også du ved skal eller efter blev hvor så vil dig din være mere bliver når nu alle"},
	{"de", "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um wir ich zum zur oder sind einem einen eines ihr war noch wie über so kann haben nur vor bis mehr durch man aber wenn unter können sein"},
	{"en", "the of and to in is that for it as was with be by on are this have from or you your we our can not at an will all more about has but they their which one were there been if do other new how also who when use these than its"},
	{"es", "de la que el en los del se las por un para con no una su al lo como más es sus este pero esta también ha son fue está muy ya sobre si entre todo desde cuando sin hay ser"},
	{"et", "ja on ei et see oma kui ka mis ning või oli ta seda aga nii kes selle võib ole mida kuid siis veel mille"},
	{"eu", "eta da ez bat du dira izan zen baina ere dute hau bere duen egin den dituzte edo dela"},
	{"fa", "و در به از که این را با است برای آن یک می تا های بر هم شده خود شود بود ما یا"},
	{"fi", "ja on ei että se oli hän mutta ovat myös kun tai jos niin kuin joka voi mukaan ole sen en ne jo nyt kanssa mitä olla jotka vain hyvin tämä sekä"},
	{"fr", "de la le et les des en un du une que est pour qui dans par sur au plus pas ne se ce il sont avec vous nous cette aux ou mais votre nos son ses tout été être comme je ont fait elle leur même si"},
	{"gl", "de que do da en un os para unha con no na as por se non ao máis como ou dos das é polo pola súa seu foi tamén"},
	{"hi", "के है में की से और का को पर ने यह हैं एक भी कि लिए नहीं था तो ही"},
	{"hr", "je na se da za od su iz ne koji kao što bi ili će to te ali koje koja sve samo nije kako po može"},
	{"hu", "az és hogy nem is egy van ez meg de csak ha vagy már volt el kell még be ki azt mint lehet ezt sem minden aki után ami"},
	{"id", "yang dan di dengan untuk dari ini pada adalah dalam tidak itu akan ke atau oleh juga bisa dapat anda saya karena telah kami kita seperti jika lebih sudah ada"},
	{"it", "di il la che in per un del è della non con le una da si dei sono al come più nel delle alla gli anche ed se lo ma dal questo questa tutti essere ha ai dalla nella"},
	{"la", "et in est non ad ut cum sed qui quod ex quae ab si de aut enim esse sunt nec atque hoc etiam per autem ac eius ea id me te se quam nisi sit fuit do"},
	{"lt", "ir yra į kad iš su tai kaip bei ar ne apie dėl buvo jo po bet tik jei jų už nuo"},
	{"lv", "un ir no ar uz ka par kas arī lai vai kā pie to bet gan tika nav tiek pēc"},
	{"mk", "и на во да за од се е со не по што како а го ги или ќе но кој која при"},
	{"mr", "आहे आणि या च्या मध्ये तो हे व असे होते आहेत ही नाही"},
	{"ms", "yang dan di untuk dengan ini dalam pada adalah tidak itu ke akan atau oleh anda boleh daripada kepada telah saya ialah mereka"},
	{"ne", "छ र को मा लाई यो पनि छन् भने गर्न छैन गरेको हुन्छ"},
	{"nl", "de van het een en in is dat op te zijn met voor niet die aan er om ook als dan maar bij uit naar wordt door worden deze je of kan hebben heeft meer over ze nog dit wij onze we was tot geen"},
	{"no", "og det er på som en til av for med at har den de ikke et om jeg vi fra kan var men seg også ved du skal eller etter ble hvor så vil deg din være mer blir når nå alle"},
	{"pl", "na się do to nie że jest jak po od za przez co dla oraz są ale tym lub może czy jego być tylko ich już który która które także tego przy ze będzie"},
	{"pt", "de que do da em um para com não uma os no se na por mais as dos como ao das é ou à seu sua são nos pelo pela foi também muito este esta você ser quando sobre isso aos"},
	{"ro", "de și si în la cu pe care nu un din mai pentru că este se sau fi ca au sunt prin al ale fost ţi dar când acest această după lui cel sa într"},
	{"ru", "и в не на что с по как это к из для а у от за он но так его то все или быть если вы мы при был может я только они также более есть до об"},
	{"sk", "sa na je že to do pre aj ako vo sú by za ktoré alebo od ale podľa ktorý si pri bude ich tak len po nie však ktorá môže zo"},
	{"sl", "je in na se za da so ki ne bi pri tudi kot iz po ali pa ter bo lahko kako če"},
	{"sr", "и у је на се да за од су а са о из не који као што би или ће то али све само није"},
	{"sv", "och att det som en på är av för med den till inte om ett har de jag var kan från vi eller så du ska vid men dig din mer vara efter när nu alla där också blir kommer"},
	{"tr", "ve bir bu için ile da de çok olarak daha olan ne gibi ya kadar en var sonra ancak değil her mi ama veya şekilde göre olduğu sizin tüm ise"},
	{"uk", "і в не на що з та до це як у за для від про або є по бути його й але ви ми він які який при може також"},
	{"ur", "کے کی میں ہے اور سے کا کو نے پر یہ ہیں اس کہ بھی ایک"},
	{"vi", "và của là có trong cho được các với một không những này để người khi đã như về cũng từ tôi bạn"},
}

// A languageSet is a set of languages: bit i stands for functionWords[i].
type languageSet uint64

// languagesOf is a hash table of the languages to which words belong, by the hash of the word.
// It is constant, and faster than a map.
var languagesOf = func() (t [1 << languageBits]struct {
	hash uint64
	set  languageSet
}) {
	for i, l := range functionWords {
		for w := range strings.FieldsSeq(l.words) {
			hash := uint64(fnvOffset)
			for _, r := range w {
				hash = (hash ^ uint64(r)) * fnvPrime
			}
			at := hash * hashFactor >> (64 - languageBits)
			for t[at].set != 0 && t[at].hash != hash {
				at = (at + 1) % uint64(len(t))
			}
			t[at].hash = hash
			t[at].set |= 1 << i
		}
	}
	return t
}()

const languageBits = 12 // size of languagesOf, for 900 words

// A long text is examined in several evenly spaced windows, because the beginning of a page is often
// a menu.
const (
	languageWindows = 8   // number of windows
	languageWindow  = 320 // size of a window in bytes
)

// detectLanguage returns the language of a text as an ISO 639-1 code, or "" if the text is too
// short or no language is clearly the most likely. It decides by the script if only one language
// uses it, otherwise by the share of function words. G. Grefenstette, "Comparing two language
// identification schemes", JADT 1995, found that function words are as good as trigrams for
// sentences of twenty words or more, at a fraction of the cost.
func detectLanguage(text string) string {
	var c languageCount
	if len(text) <= languageWindows*languageWindow {
		c.read(text)
	} else {
		for i := range languageWindows {
			from := (len(text) - languageWindow) / (languageWindows - 1) * i
			c.read(inner(text[from : from+languageWindow]))
		}
	}
	return c.decide()
}

// inner returns s without its first and last word, which may have been cut.
func inner(s string) string {
	first, last := strings.IndexAny(s, " \n"), strings.LastIndexAny(s, " \n")
	if first == last {
		return s // a script without spaces
	}
	return s[first:last]
}

// alphabets lists scripts that are mainly used by one language. worth is the number of Latin letters
// to which one letter of the script corresponds.
var alphabets = [...]struct {
	from, to rune
	language string
	worth    int
}{
	{0x3041, 0x30FF, "ja", 3}, {0x3400, 0x9FFF, "zh", 3}, {0xAC00, 0xD7AF, "ko", 3},
	{0x370, 0x3FF, "el", 1}, {0x1F00, 0x1FFF, "el", 1}, {0x531, 0x58F, "hy", 1}, {0x590, 0x5FF, "he", 1},
	{0x980, 0x9FF, "bn", 1}, {0xA00, 0xA7F, "pa", 1}, {0xA80, 0xAFF, "gu", 1}, {0xB80, 0xBFF, "ta", 1},
	{0xC00, 0xC7F, "te", 1}, {0xC80, 0xCFF, "kn", 1}, {0xD00, 0xD7F, "ml", 1}, {0xD80, 0xDFF, "si", 1},
	{0xE00, 0xE7F, "th", 1}, {0xE80, 0xEFF, "lo", 1}, {0x1000, 0x109F, "my", 1}, {0x10A0, 0x10FF, "ka", 1},
	{0x1200, 0x137F, "am", 1}, {0x1780, 0x17FF, "km", 1},
}

// Indexes in alphabets of Japanese and Chinese; Japanese uses both.
const (
	kana = 0
	han  = 1
)

// lowerLetter returns a non-ASCII letter in lower case if it belongs to a script of functionWords.
// Otherwise it returns 0.
func lowerLetter(r rune) rune {
	switch {
	case r < 0xAA:
	case r < 0x370, 0x1E00 <= r && r < 0x1F00: // Latin, and combining marks
		if 0xAB <= r && r < 0xC0 || r == '×' || r == '÷' {
			return 0
		}
		return unicode.ToLower(r)
	case 0x430 <= r && r < 0x460, 0x620 <= r && r < 0x660, 0x671 <= r && r < 0x6D4, 0x900 <= r && r < 0x964:
		return r
	case 0x400 <= r && r < 0x530: // Cyrillic
		return unicode.ToLower(r)
	}
	return 0
}

type languageCount struct {
	letters int                     // number of letters in words
	words   int                     // number of words
	foreign [len(alphabets)]int     // number of letters of each alphabet
	hits    [len(functionWords)]int // number of function words of each language
	sets    [512]languageSet        // languages of the first 512 function words; few texts have more
	known   int                     // number of elements of sets that are used
}

func (c *languageCount) read(s string) {
	for i := 0; i < len(s); {
		hash, letters := uint64(fnvOffset), 0
		for i < len(s) {
			small, size := rune(smallLetter[s[i]]), 1
			if s[i] >= utf8.RuneSelf {
				var r rune
				r, size = utf8.DecodeRuneInString(s[i:])
				if small = lowerLetter(r); small == 0 {
					c.foreignLetter(r)
				}
			}
			i += size
			if small == 0 {
				break
			}
			hash = (hash ^ uint64(small)) * fnvPrime
			letters++
		}
		if letters > 0 {
			c.letters += letters
			c.word(hash)
		}
	}
}

// smallLetter holds ASCII letters in lower case; other bytes are 0.
var smallLetter = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if isLetter(c) {
			t[c] = c | 0x20
		}
	}
	return t
}()

// foreignLetter counts a letter of an alphabet.
func (c *languageCount) foreignLetter(r rune) {
	if r >= 0x370 {
		for i := range alphabets {
			if a := &alphabets[i]; a.from <= r && r <= a.to {
				c.foreign[i]++
				break
			}
		}
	}
}

func (c *languageCount) word(hash uint64) {
	c.words++
	at := hash * hashFactor >> (64 - languageBits)
	for languagesOf[at].hash != hash {
		if languagesOf[at].set == 0 {
			return
		}
		at = (at + 1) % uint64(len(languagesOf))
	}
	set := languagesOf[at].set
	if c.known < len(c.sets) {
		c.sets[c.known] = set
		c.known++
	}
	for ; set != 0; set &= set - 1 {
		c.hits[bits.TrailingZeros64(uint64(set))]++
	}
}

func (c *languageCount) decide() string {
	const (
		minEvidence = 3  // minimum number of function words, or of letters of an alphabet
		maxSpacing  = 20 // at least one function word in this number of words
		minLead     = 2  // minimum ratio of words of only the first language to words of only the second
	)
	foreign, most := 0, 0
	for i, n := range c.foreign {
		foreign += n * alphabets[i].worth
		if n > c.foreign[most] {
			most = i
		}
	}
	if most == han && c.foreign[kana]*10 > c.foreign[han] {
		most = kana
	}
	if foreign > c.letters {
		if c.foreign[most] < minEvidence || c.foreign[most]*alphabets[most].worth*2 < foreign && most != kana {
			return ""
		}
		return alphabets[most].language
	}
	best, next := 0, 1
	if c.hits[next] > c.hits[best] {
		best, next = next, best
	}
	for i := 2; i < len(c.hits); i++ {
		switch {
		case c.hits[i] > c.hits[best]:
			best, next = i, best
		case c.hits[i] > c.hits[next]:
			next = i
		}
	}
	if c.hits[best] < minEvidence || c.hits[best]*maxSpacing < c.words {
		return ""
	}
	onlyBest, onlyNext := 0, 0
	for _, set := range c.sets[:c.known] {
		switch set & (1<<best | 1<<next) {
		case 1 << best:
			onlyBest++
		case 1 << next:
			onlyNext++
		}
	}
	if onlyBest < 2 || onlyBest < onlyNext*minLead {
		return ""
	}
	return functionWords[best].language
}
