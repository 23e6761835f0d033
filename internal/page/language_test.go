package page

import (
	"strings"
	"testing"

	"spoor/internal/testfile"
)

var languageTable = []struct{ want, text string }{
	{"af", "Die hond is nie in die huis nie, maar hy wil daar wees omdat dit buite koud is en ons hom nie kan sien nie."},
	{"ar", "هذا هو الكتاب الذي قرأته في المدرسة مع أصدقائي و كان من أجمل الكتب على الإطلاق"},
	{"bg", "Това е книгата, която четох в училище, и тя беше една от най-добрите, но не помня как се казва."},
	{"ca", "Aquest és el llibre que vaig llegir amb els meus amics a l'escola i és un dels millors per als nens."},
	{"cs", "To je kniha, kterou jsem četl ve škole se svými přáteli, a byla to jedna z nejlepších, které byly na světě."},
	{"da", "Det er den bog, som jeg læste i skolen, og den var en af de bedste, der kan være, men jeg ved ikke hvor den blev af."},
	{"de", "Das ist das Buch, das ich mit meinen Freunden in der Schule gelesen habe, und es war eines der besten."},
	{"el", "Αυτό είναι το βιβλίο που διάβασα στο σχολείο."},
	{"en", "This is the book that I read at school with my friends, and it was one of the best of all."},
	{"es", "Este es el libro que leí en la escuela con mis amigos, y fue uno de los mejores que hay para los niños."},
	{"fa", "این کتابی است که من در مدرسه با دوستانم خواندم و یکی از بهترین کتاب های آن سال بود"},
	{"fi", "Se on kirja, jonka luin koulussa ystävieni kanssa, ja se oli yksi parhaista, mutta en muista sen nimeä."},
	{"fr", "C'est le livre que j'ai lu à l'école avec mes amis, et il est un des meilleurs pour les enfants."},
	{"he", "זה הספר שקראתי בבית הספר עם החברים שלי"},
	{"hi", "यह वह किताब है जो मैं ने स्कूल में अपने दोस्तों के साथ पढ़ी थी और यह सब से अच्छी है"},
	{"hu", "Ez az a könyv, amit az iskolában olvastam a barátaimmal, és ez volt az egyik legjobb, de nem tudom, hogy hol van."},
	{"id", "Ini adalah buku yang saya baca di sekolah dengan teman-teman dan itu tidak akan kami lupakan karena bagus."},
	{"it", "Questo è il libro che ho letto a scuola con i miei amici ed è uno dei più belli per i bambini della città."},
	{"ja", "これは学校で友達と読んだ本です。"},
	{"ko", "이것은 학교에서 친구들과 읽은 책입니다."},
	{"la", "Lorem ipsum dolor sit amet, consectetur adipisicing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat."},
	{"nl", "Dit is het boek dat ik op school met mijn vrienden las, en het was een van de beste die er zijn."},
	{"no", "Det er boken som jeg leste på skolen, og den var en av de beste jeg har sett, men jeg vet ikke hva den heter nå."},
	{"pl", "To jest książka, która była w szkole i którą czytałem z przyjaciółmi, ale nie wiem, jak się ona nazywa."},
	{"pt", "Este é o livro que eu li na escola com os meus amigos e não foi um dos melhores para as crianças da cidade."},
	{"ro", "Aceasta este cartea pe care am citit-o la școală cu prietenii mei și este una din cele mai bune pentru copii."},
	{"ru", "Это книга, которую я читал в школе с друзьями, и она была одной из лучших, но я не помню, как её зовут."},
	{"sr", "Ово је књига коју сам читао у школи са пријатељима и она је била једна од најбољих, али не знам како се зове."},
	{"sv", "Det är boken som jag läste i skolan, och den var en av de bästa jag har sett, men jag vet inte var den är."},
	{"th", "นี่คือหนังสือที่ฉันอ่านที่โรงเรียน"},
	{"tr", "Bu, okulda çok sevdiğim bir kitap ve en iyi kitaplar için ne kadar güzel olduğu daha sonra belli oldu."},
	{"uk", "Це книга, яку я читав у школі з друзями, і вона була однією з найкращих, але я не знаю, як її звати та де вона."},
	{"vi", "Đây là cuốn sách mà tôi đã đọc ở trường với các bạn của tôi và nó là một trong những cuốn hay."},
	{"zh", "这是我和朋友们在学校里读的书。"},
	{"zh", "Windows 10 的安裝說明：請先下載檔案，然後按照以下步驟進行。"},

	{"", ""},
	{"", "Home | News | Contact | Login"},
	{"", "the"},
	{"", "a x a b, k i a, o a s v, e o i, u a w, z a k, a i v, s k o, u v z"},
	{"", "0 1 2 3 4 5 6 7 8 9 + - * / = ( )"},
	{"", "dolor amet elit tempor magna aliqua veniam nostrud ullamco commodo"},
	{"", "The cat is on the table and it was not for you. Die Katze ist auf dem Tisch und sie war nicht für dich."},
	{"", "я 是 α"},
}

func TestDetectLanguage(t *testing.T) {
	for _, test := range languageTable {
		for _, text := range []string{test.text, strings.ToUpper(test.text), strings.Repeat(test.text+"\n", 100)} {
			if text != test.text && (test.want == "tr" || test.want == "") {
				continue // Turkish has its own capitals, and a hundred words say more than one
			}
			if got := detectLanguage(text); got != test.want {
				t.Errorf("%.60q… of %d bytes is %q, want %q", text, len(text), got, test.want)
			}
		}
	}
}

func TestUndeclaredLanguage(t *testing.T) {
	const text = "<p>This is the book that I read at school with my friends, and it was one of the best of all."
	for _, test := range []struct{ html, header, want string }{
		{text, "", "en"},
		{text, "de", "de"},
		{"<html lang=fr>" + text, "de", "fr"},
		{"<html lang=und>" + text, "", "en"},
		{"<html lang=english>" + text, "", "en"},
		{"<html lang='{{ lang }}'>" + text, "", "en"},
		{"<html lang=''>" + text, "it, de", "it"},
		{"<p>???", "", ""},
	} {
		c := NewExtractor().Extract(Document{URL: here, ContentType: "text/html", Language: test.header, Body: []byte(test.html)})
		if c.Lang != test.want {
			t.Errorf("%.20q with Content-Language %q is in %q, want %q", test.html, test.header, c.Lang, test.want)
		}
	}
}

func TestLanguageTags(t *testing.T) {
	for s, want := range map[string]string{
		"en": "en", " de-CH-1996 ": "de-CH-1996", "pt_BR": "pt-BR", "fr, en": "fr", "x-default": "x-default", "haw": "haw", "i-klingon": "i-klingon",
		"": "", "e": "", "english": "", "und": "", "UND-Latn": "", "a-b": "", "x": "", "12": "", "-en": "", "en;q=0.8": "", "no way!": "", "de" + strings.Repeat("-x", 20): "",
	} {
		if got := language(s); got != want {
			t.Errorf("language(%q) = %q, want %q", s, got, want)
		}
	}
}

// TestDetectLanguageAgreesWithDeclarations compares with the declarations of real pages, which
// are not always true.
func TestDetectLanguageAgreesWithDeclarations(t *testing.T) {
	slow(t)
	pages, same, none := 0, 0, 0
	x := NewExtractor()
	archived(t, testfile.Shared(t, "webs/modern.warc.gz"), func(doc Document) {
		c := x.Extract(doc)
		declared := language(x.collector.lang)
		if declared == "" {
			return
		}
		pages++
		switch got := detectLanguage(c.Text); got {
		case "":
			none++
		case strings.ToLower(declared[:2]):
			same++
		case "la": // Lorem ipsum
			pages--
		default:
			t.Logf("%s declares %s and looks %s: %.80q", doc.URL, declared, got, c.Text)
		}
	})
	t.Logf("%d pages declare a language: %d look it, %d nothing", pages, same, none)
	if same*100 < pages*94 || (pages-same-none)*100 > pages*3 {
		t.Errorf("of %d pages that declare a language %d look it and %d nothing", pages, same, none)
	}
}
