package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"spoor/internal/testfile"
)

// analyzerOf returns an analyzer of a language with its default stemmer.
func analyzerOf(tb testing.TB, code string) *Analyzer {
	tb.Helper()
	a, err := New(code, "")
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// The stems are those of libstemmer 2.2, another program made from the same sources.
func TestLanguagesAndStemmers(t *testing.T) {
	stems := map[string]string{
		"da":  "undersøgelserne undersøg bøgerne bøg husene hus venskab venskab hjælpsomhed hjælpsom løbende løb",
		"de":  "häusern haus straße strass strasse strass wissenschaftliche wissenschaft kategorischen kategor bücher buch freiheiten freiheit",
		"en":  "libraries librari researchers research quickly quick",
		"es":  "canciones cancion rápidamente rapid bibliotecas bibliotec investigadores investig comiéndoselo com niños niñ",
		"fi":  "taloissa talo kirjastojen kirjasto yliopistossa yliopisto edeltäjistään edeltäj juoksevat juoksev",
		"fr":  "bibliothèques bibliothequ continuellement continuel recherches recherch majestueusement majestu nationalité national chevaux cheval",
		"hu":  "házakban ház könyvtárak könyvtár egyetemeken egyetem almáinkat alma szépséges szépséges",
		"id":  "pendidikan pendid perpustakaan perpus buku buku",
		"it":  "biblioteche bibliotec velocemente veloc ricercatori ricerc abbandonandola abbandon libertà libert mangiarono mang",
		"nl":  "bibliotheken bibliothek lichamelijkheden licham onderzoekers onderzoeker huizen huiz mogelijkheid mogelijk katten kat",
		"no":  "bibliotekene bibliotek undersøkelser undersøk havnedistriktene havnedistrikt vennskapelig vennskap løpende løp",
		"pt":  "bibliotecas bibliotec rapidamente rapid pesquisadores pesquis crianças crianc políticos polít cantávamos cant",
		"ro":  "bibliotecile bibliotec cercetătorilor cercet frumuseţea frumuseţ naţionale naţional copiilor cop abrevierile abrevier",
		"ru":  "библиотеками библиотек исследователей исследовател важнейшими важн красивая красив берёзами берез университетов университет бежавший бежа",
		"sv":  "biblioteken bibliotek forskningen forskning jakthundarnas jakthund friheternas frihet flickorna flick",
		"tr":  "kitaplarımızdan kitap üniversitelerinde üniversite evlerinden ev çocukların çocuk okullarda okul",
		"und": "książkami książk książki książk βιβλιοθήκες βιβλιο पुस्तकालय पुस्तक book book",
	}
	if got, want := Languages(), slices.Sorted(maps.Keys(stems)); !slices.Equal(got, want) {
		t.Errorf("languages: got %v, want %v", got, want)
	}
	for code, pairs := range stems {
		a := analyzerOf(t, code)
		for pair := range slices.Chunk(strings.Fields(pairs), 2) {
			if got := names(a, a.Append(nil, pair[0])); got != pair[1] {
				t.Errorf("%s: %s: got %q, want %q", code, pair[0], got, pair[1])
			}
		}
	}
}

func TestStopListsAreFolded(t *testing.T) {
	for _, code := range Languages() {
		a, n := analyzerOf(t, code), 0
		seen := map[string]bool{}
		for w := range stopWords(code) {
			if n++; seen[w] {
				t.Errorf("%s: %q stands there twice", code, w)
			}
			seen[w] = true
			if got := a.Append(nil, w); len(got) != 1 || !got[0].Silent() || a.Name(got[0]) != w {
				t.Errorf("%s: %q is %s", code, w, names(a, got))
			}
		}
		if n < 90 && code != "und" {
			t.Errorf("%s: %d stop words", code, n)
		}
	}
	for range stopWords("en") {
		break
	}
}

func TestStopListsContainPostgreSQLs(t *testing.T) {
	// Words of PostgreSQL's lists that carry meaning.
	sense := map[string]string{
		// Added by PostgreSQL to the Snowball project's list.
		"en": "can just now will",
		// Forms of sentir, to feel, among those of estar, and misspellings of vosotros.
		"es": "vosostros vosostras sintiendo sentido sentida sentidos sentidas siente sentid",
	}
	for code, name := range map[string]string{
		"da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
		"it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian", "sv": "swedish", "tr": "turkish",
	} {
		t.Run(code, func(t *testing.T) {
			a := analyzerOf(t, code)
			var missing []string
			for _, w := range lines(t, testfile.Shared(t, "suites/stopwords/"+name+".stop")) {
				for _, term := range a.Append(nil, w) {
					if !term.Silent() {
						missing = append(missing, w)
						break
					}
				}
			}
			slices.Sort(missing)
			want := strings.Fields(sense[code])
			slices.Sort(want)
			if !slices.Equal(missing, want) {
				t.Errorf("no stop words of ours are %q, want %q", missing, want)
			}
		})
	}
}

func TestLanguageFolding(t *testing.T) {
	for _, tt := range []struct{ code, text, want string }{
		{"de", "Straße STRASSE STRAẞE", "strass strass strass"},
		{"de", "Daten\u00adbank und Daten\u00adban\u00adken", "datenbank (und) datenbank"},
		{"de", "daß dass DASS", "(daß) (dass) (dass)"},
		{"tr", "KIZIL Kızıl kızıl", "kızıl kızıl kızıl"},
		{"tr", "kizil KİZİL", "kizil kizil"},
		{"tr", "İSTANBUL'DA I\u0307stanbul", "istanbul (da) istanbul"},
		{"tr", "leri larında", "leri larında"}, // suffixes without a word
		{"tr", "IIIIIIIIIIIIIIIIIX iiiiiiiiiiiiiiiiix", "ıııııııııııııııııx iiiiiiiiiiiiiiiiix"},
		{"en", "KIZIL kizil İstanbul I\u0307stanbul", "kizil kizil istanbul istanbul"},
		{"ru", "Ёлка елка \u0415\u0308ЛКА её", "елк елк елк (ее)"},
		{"ro", "naționale naţionale NAT\u0326IONALE și şi", "naţional naţional naţional (şi) (şi)"},
		{"fr", "l'eau qu\u2019il aujourd'hui", "(l) eau (qu) (il) (aujourd) (hui)"},
		{"it", "dell'amore", "(dell) amor"},
		{"und", "ΟΔΟΣ οδος οδός", "οδοσ οδοσ οδοσ"},
		{"und", "Μαΐου ΜΑΪΟΥ μαϊου ᾄδω αδω", "μαιου μαιου μαιου αδω αδω"},
		{"und", "Zażółć GĘŚLĄ the", "zażółć gęślą the"},
		{"und", "می\u200cخواهم ميخواهم", "ميخواه ميخواه"},
		{"und", "كِتَابٌ كتـــاب كتاب ﻛﺘﺎﺏ ـ", "كتاب كتاب كتاب كتاب"},
		{"und", "أحمد احمد إسلام آل ٱل مؤمن مومن", "احمد احمد اسلام ال ال مومن مومن"},
		{"und", "مدرسة مدرسه على علي کتابی كتابي خانهٔ خانۀ", "مدرسه مدرسه علي علي كتابي كتابي خانه خانه"},
		{"und", "ﷲ ﷺ", "الله (ﷺ)"}, // the second ligature has spaces
		{"und", "שָׁלוֹם שלום \uFB2A", "שלום שלום (ש)"},
		{"ru", "Росси\u0301я Россия ѝ мой", "росс росс (ѝ) (мой)"},
		{"und", "ѓе\u0301 й", "ѓе (й)"}, // other accents of Cyrillic are part of their letters
		{"und", "п’ять п\u02BCять п'ять", "(п) ять (п) ять (п) ять"},
		{"en", "Ｌｉｎｕｘ classiﬁcation 𝐜𝐢𝐩𝐡𝐞𝐫𝐬 ℌ𝔬𝔲𝔰𝔢 ２０２６ ２０２６７ ﬁﬅ", "linux classif cipher hous 2026 () fist"},
		{"en", "Ⅷ ĳssel ſun 5º nº", "viii ijssel sun 5o (no)"},
		{"tr", "ＩＲＩ ırı", "ır ır"},
		{"no", "ikke bøkene", "(ikke) bøk"},
		{"fi", "100 2000 1999 11", "100 2000 1999 11"}, // the stemmer would remove the last of two like letters
		{"fi", "c++", "c++"},
	} {
		a := analyzerOf(t, tt.code)
		for _, when := range []string{"cold", "warm"} {
			if got := names(a, a.Append(nil, tt.text)); got != tt.want {
				t.Errorf("%s: %q, %s: got %q, want %q", tt.code, tt.text, when, got, tt.want)
			}
		}
	}
}

func TestScriptsWithoutSpacesGivePairs(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"茶", "茶"},
		{"日本", "日本"},
		{"日本語", "日本 本語"},
		{"東京都、東京タワー", "東京 京都 東京 京タ タワ ワー"},
		{"MP3プレーヤー", "mp3 プレ レー ーヤ ヤー"},
		{"2026年11月20日", "2026 年 11 月 20 日"},
		{"한국어 학교에서", "한국 국어 학교 교에 에서"},
		{"\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"}, // syllables taken apart
		{"か\u3099ん はﾟか\u3099", "がん ぱが"},                // voiced sound marks
		{"ｻｰﾊﾞｰ ㇰ ﾅ", "サー ーバ バー ㇰ ナ"},
		{"二〇二六年", "二〇 〇二 二六 六年"},
		{"ㄱㅏ", "\u1100ㅏ"},
		{"กรุงเทพ", "กรุ รุง งเ เท ทพ"}, // marks stay with their letters
		{"ພາສາລາວ ភាសា မြန်မာ", "ພາ າສ ສາ າລ ລາ າວ ភាសា မြန် န်မာ"},
		{"ไทย๒๕", "ไท ทย ๒๕"},
		{"日\u00adx", "日 (x)"},
		{"人々", "人々"},
		{"日\xff本", "日 本"},
		{"𠮷野家", "𠮷野 野家"},
	} {
		for _, code := range []string{"en", "und", "tr"} {
			a := analyzerOf(t, code)
			for _, when := range []string{"cold", "warm"} {
				if got := names(a, a.Append(nil, tt.text)); got != tt.want {
					t.Errorf("%s: %q, %s: got %q, want %q", code, tt.text, when, got, tt.want)
				}
			}
		}
	}
}

func TestAnalyzersAreIndependent(t *testing.T) {
	const s = "Die wissenschaftlichen Bibliotheken der Universitäten"
	results := make(chan string)
	for range 4 {
		go func() {
			a, err := New("de", "")
			if err != nil {
				results <- err.Error()
				return
			}
			got := ""
			for i := range 200 {
				a.Append(nil, fmt.Sprintf("häuser%dlichkeiten", i))
				got = names(a, a.Append(nil, s))
			}
			results <- got
		}()
	}
	for range 4 {
		if got := <-results; got != "(die) wissenschaft bibliothek (der) universitat" {
			t.Error(got)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for i := range languages {
		for _, s := range []string{"kitaplarımızdan KIZIL naționale Straße юности", "東京タワー กรุงเทพ 한국어"} {
			f.Add(uint8(i), s)
		}
	}
	for i, s := range []string{
		"", "Call for Papers: networks!", "don't", "İstanbul ǅungla ΌΣΟΣ", "a\u0308\u0323 \u0344\u1F71", "bad\xffbytes\xc3",
		"\u212Belvin \u2126 \u212A", "語 日本語 ٤٥٦٧٨", "sensibilities hopping éééd", "x\u00ad\u200dy", "ﬁ Ⅷ ℌ \U0001D400",
		strings.Repeat("e\u0301", 40), "\u0958 \uFB2A \U0001D15E", "leri İ I\u0307 ı", "ȘȚ t\u0326", "ẞ ßß", "ｶﾞｷﾞ",
		"\u1112\u1161\u11ab\u1160\u11a8", "ท\u0e47ท\u0e47", "a\u00ad\u200c\u200d\u2060b", "ς", "\uff9e\uff9eカ\u3099\u3099",
		"memetanikan belajar bekerja bé", "yaÿ ÿuy quéü", "日\xff本\u00ad",
		"ـأُ ﷺ\uFE76 \u0670ا", "ῷ ΐ\u0301", "й\u0301\u0306 ѝ", "ｻｰﾊﾞｰ ﾡￂ ㄱㅏ ヿ ໜ", "Ｌｉ ŀl ŉ ｘ",
		"C++ x# .NET 日.NET框 a.NET ..NET C+++", ".NET", "é++ Ｃ# ℂ++ .NÉT .N",
	} {
		f.Add(uint8(i), s)
		f.Add(uint8(i+7), s)
	}
	f.Fuzz(func(t *testing.T, which uint8, s string) {
		l := &languages[int(which)%len(languages)]
		for _, st := range l.stemmers {
			checkTerms(t, l, st, s)
		}
	})
}

// checkTerms checks properties of the terms of any text in any language.
func checkTerms(t *testing.T, l *language, st stemmer, s string) {
	a := newAnalyzer(l, st)
	terms, n := a.Append(nil, s), 0
	for w := range Words(s) {
		term := terms[n]
		n++
		name := a.Name(term)
		if w == "" || !utf8.ValidString(w) || !utf8.ValidString(name) || term != Gap && name == "" {
			t.Fatalf("%s: word %q, term %q", st.name, w, name)
		}
		once := string(l.lower.fold(nil, w))
		if twice := string(l.lower.fold(nil, once)); once != twice {
			t.Fatalf("%s: %q folds to %q, and that to %q", st.name, w, once, twice)
		}
		if len(once) > maxWord || len(w) > maxWord {
			continue
		}
		if again := a.Append(nil, once); len(again) != 1 || again[0] != term {
			t.Fatalf("%s: %q is %q, folded %q it is %q", st.name, w, name, once, names(a, again))
		}
		if stem := st.make()([]byte(once)); !utf8.Valid(stem) || l.code == "en" && len(stem) > len(once) {
			t.Fatalf("%s: the stem of %q is %q", st.name, once, stem)
		}
	}
	if n != len(terms) {
		t.Fatalf("%s: %d words, %d terms", st.name, n, len(terms))
	}
	if again := a.Append(nil, s); !slices.Equal(terms, again) {
		t.Fatalf("%s: %v, then %v", st.name, terms, again)
	}
}
