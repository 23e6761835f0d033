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

	// Left to windows-1252:
	{"Été à la forêt, où l'élève a déjà été réveillé; ça et là, noël et maïs.", "windows-1252 iso-8859-15:windows-1252"},
	{"ÄÄKKÖSET ÖLJYÄÄN HÄÄYÖAIE, ÄÄRIÄÄN MYÖTÄ KÄÄPIÖ — Ääliö, älä lyö, ööliä läikkyy!", "windows-1252"},
	{"“It’s the best,” he said. “Isn’t it?” — ‘Yes,’ said I; “that’s what they’re all about…”", "windows-1252"},
	{"Größe, Straße, Übermäßig, ÄRGER, ÖFTER, ÜBER, ÄÖÜ", "windows-1252"},
	{"××××÷÷÷÷ ©©©®®®±±±", "windows-1252"},
}

func TestGuess(t *testing.T) {
	for _, test := range guessTable {
		for charset := range strings.FieldsSeq(test.charsets) {
			charset, want, differs := strings.Cut(charset, ":")
			if !differs {
				want = charset
			}
			enc, _ := lookup(charset)
			body, err := encoding.ReplaceUnsupported(enc.NewEncoder()).String("<p class=a>" + test.text + "</p><p>" + test.text)
			if err != nil {
				t.Fatal(err)
			}
			if _, got := (&Document{Body: []byte(body)}).decode(true); got != want {
				t.Errorf("%.30s… in %s is read as %s", test.text, charset, got)
			}
			if _, got := (&Document{Body: []byte(body[:len(body)-1]), Charset: "utf-8"}).decode(true); got != want {
				t.Errorf("%.30s… in %s, called UTF-8, is read as %s", test.text, charset, got)
			}
		}
	}
}

// TestChardetSuite reads the text of html5lib that declares no charset.
func TestChardetSuite(t *testing.T) {
	body := testfile.Read(t, testfile.Shared(t, "suites/html5lib/encoding/chardet/test_big5.txt"))
	if text, got := (&Document{Body: body}).decode(false); got != "big5" || !strings.Contains(text, "道可道") {
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
			_, name := doc.decode(true)
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
