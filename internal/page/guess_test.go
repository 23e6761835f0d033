package page

import (
	"strings"
	"testing"

	"spoor/internal/testfile"

	"golang.org/x/text/encoding"
)

// guessTable holds texts, and the charsets in which they are recognized.
var guessTable = []struct{ text, charsets string }{
	{"これは学校で友達と読んだ本です。とても面白かったので、もう一度読みたいと思います。コンピュータの本も読みました。", "shift_jis euc-jp"},
	{"이것은 학교에서 친구들과 읽은 책입니다. 아주 재미있어서 다시 한 번 읽고 싶습니다. 다른 책도 많이 있습니다.", "euc-kr"},
	{"这是我和朋友们在学校里读的书，非常有意思，所以我想再读一遍。图书馆里还有很多别的书，我们明天去看看。", "gbk gb18030:gbk"},
	{"這是我和朋友們在學校裡讀的書，非常有意思，所以我想再讀一遍。圖書館裡還有很多別的書，我們明天去看看。", "big5"},
	{"Это книга, которую я читал в школе с друзьями, и она была одной из лучших, но я не помню, как её зовут.", "windows-1251 koi8-r iso-8859-5 ibm866"},
	{"Це книга, яку я читав у школі з друзями, і вона була однією з найкращих, але я не знаю, як її звати та де вона.", "windows-1251 iso-8859-5 koi8-u"},
	{"Это короткое предложение.", "windows-1251 koi8-r iso-8859-5 ibm866"},
	{"ОБЪЯВЛЕНИЕ О ПРОДАЖЕ ДОМА", "windows-1251 koi8-r iso-8859-5 ibm866"},
	{"Това е книгата, която прочетох в училище с приятели.", "windows-1251 iso-8859-5"},
	{"Ово је књига коју сам читао у школи са пријатељима.", "windows-1251 iso-8859-5"},
	{"Άλλο ένα βιβλίο που διάβασα στο σχολείο με τους φίλους μου.", "windows-1253 iso-8859-7"},
	{"זה הספר שקראתי בבית הספר עם החברים שלי.", "windows-1255"},
	{"هذا هو الكتاب الذي قرأته في المدرسة مع أصدقائي.", "windows-1256"},
	{"นี่คือหนังสือที่ผมอ่านกับเพื่อนที่โรงเรียน", "windows-874"},
	{"Tuto knihu jsem četl ve škole s přáteli a líbila se mi, protože je dobře napsaná.", "windows-1250 iso-8859-2"},
	{"Túto knihu som čítal v škole s priateľmi a veľmi sa mi páčila, lebo je dobre napísaná.", "windows-1250 iso-8859-2"},
	{"Tę książkę czytałem w szkole z kolegami i bardzo mi się podobała, bo jest świetna.", "windows-1250 iso-8859-2"},
	{"Ezt a könyvet az iskolában olvastam a barátaimmal, és nagyon tetszett, mert jól írták. Ő is szerette, sőt.", "windows-1250 iso-8859-2:windows-1250"},
	{"To knjigo sem bral v šoli s prijatelji in mi je bila všeč, ker je človek v njej živ.", "windows-1250 iso-8859-2"},
	{"Această carte am citit-o la şcoală cu prietenii şi mi-a plăcut mult, pentru că este bine scrisă.", "windows-1250 iso-8859-2:windows-1250"},
	{"Bu kitabı okulda arkadaşlarımla okudum ve çok beğendim, çünkü iyi yazılmış.", "windows-1254"},
	{"Šią knygą skaičiau mokykloje su draugais ir man ji labai patiko, nes ji gerai parašyta.", "windows-1257"},
	{"Šo grāmatu es lasīju skolā ar draugiem, un man tā ļoti patika, jo tā ir labi uzrakstīta.", "windows-1257"},

	{"Été à la forêt, où l'élève a déjà été réveillé; ça et là, noël et maïs.", "windows-1252 iso-8859-15:windows-1252"},
	{"ÄÄKKÖSET ÖLJYÄÄN HÄÄYÖAIE, ÄÄRIÄÄN MYÖTÄ KÄÄPIÖ — Ääliö, älä lyö, ööliä läikkyy!", "windows-1252"},
	{"Þetta er bókin sem ég las í skólanum með vinum mínum, og mér þótti hún góð.", "windows-1252"},
	{"Este é o livro que li na escola com os meus amigos, e não o esqueci até à data.", "windows-1252"},
	{"This is the résumé of Mr. Müller, who is naïve: the “Product®” of «Firm»™ costs £5.", "windows-1252"},
	{"Á ", "windows-1252"},
	{"“It’s the best,” he said. “Isn’t it?” — ‘Yes,’ said I; “that’s what they’re all about…”", "windows-1252"},
	{"Größe, Straße, Übermäßig, ÄRGER, ÖFTER, ÜBER, ÄÖÜ", "windows-1252"},
	{"3 × 4 ÷ 2 = 6 ± 1 © ® 20 °C §", "windows-1252"},
}

func TestGuess(t *testing.T) {
	for _, test := range guessTable {
		for charset := range strings.FieldsSeq(test.charsets) {
			charset, want, differs := strings.Cut(charset, ":")
			if !differs {
				want = charset
			}
			enc, _ := lookup(charset)
			body, err := encoding.ReplaceUnsupported(enc.NewEncoder()).String("<script>déjà vu</script><p class=a>" + test.text + "</p><p>" + test.text + " ")
			if err != nil {
				t.Fatal(err)
			}
			if _, got, _ := (&Document{Body: []byte(body)}).decode(true); got != want {
				t.Errorf("%.30s… in %s is read as %s", test.text, charset, got)
			}
			if _, got, _ := (&Document{Body: []byte(body[:len(body)-1]), Charset: "utf-8"}).decode(true); got != want {
				t.Errorf("%.30s… in %s, called UTF-8, is read as %s", test.text, charset, got)
			}
		}
	}
}

func TestCharsetGuessed(t *testing.T) {
	for _, test := range []struct {
		name, declared, body string
		want                 bool
	}{
		{"the header", "windows-1252", "caf\xE9", false},
		{"the page", "", "<meta charset=windows-1252>caf\xE9", false},
		{"a byte order mark", "", "\xFE\xFF\x00a", false},
		{"ASCII", "", "a", false},
		{"UTF-8", "", "é", false},
		{"UTF-8 with a stray byte", "", "éééééééééé\xFF", false},
		{"a declaration that is not true", "utf-8", "caf\xE9", true},
		{"an unknown declaration", "klingon", "caf\xE9", true},
		{"letters", "", "caf\xE9", true},
		{"the default", "", "\xA9", true},
		{"escape sequences", "", "\x1b$BF|K\\\x1b(B", true},
	} {
		c := NewExtractor().Extract(Document{ContentType: "text/html", Charset: test.declared, Body: []byte(test.body)})
		if c.CharsetGuessed != test.want {
			t.Errorf("by %s: guessed is %t, want %t", test.name, c.CharsetGuessed, test.want)
		}
	}
}

// TestChardetSuite reads the text of html5lib that declares no charset.
func TestChardetSuite(t *testing.T) {
	body := testfile.Read(t, testfile.Shared(t, "suites/html5lib/encoding/chardet/test_big5.txt"))
	if text, got, _ := (&Document{Body: body}).decode(false); got != "big5" || !strings.Contains(text, "道可道") {
		t.Errorf("read as %s: %.100q", got, text)
	}
}

// TestGuessAgreesWithDeclarations guesses the charset of real pages.
func TestGuessAgreesWithDeclarations(t *testing.T) {
	slow(t)
	for _, web := range []string{"modern", "webkb", "planetmath"} {
		pages, high := 0, 0
		archived(t, testfile.Shared(t, "webs/"+web+".warc.gz"), func(doc Document) {
			pages++
			_, name, _ := doc.decode(true)
			if name == utf8Name || isASCII(doc.Body) {
				return
			}
			high++
			if got := guess(doc.Body); got != "" && got != name {
				t.Errorf("%s in %s looks like %s", doc.URL, name, got)
			} else if got != "" {
				t.Logf("%s in %s looks like it", doc.URL, got)
			}
		})
		t.Logf("%s: of %d pages %d are neither ASCII nor UTF-8", web, pages, high)
	}
}
