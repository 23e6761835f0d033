package page

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"spoor/internal/text"
)

// This file guesses the charset of a page that declares no charset and is not UTF-8. A sample of its
// text is decoded in each charset. The guess is the charset in which it is the most likely to be text in
// one of the languages that are written in that charset: by the frequencies of letters that are not
// ASCII, by the places where capital letters and symbols are, and by function words.
//
// W. Cavnar and J. Trenkle, "N-Gram-Based Text Categorization", SDAIR 1994, also compare a text with
// the ranks of n-grams in languages. Decision 8 compares this method with others.

// A letterModel holds the most common letters of some languages, the most common first: 31 to 120 of
// them. Models of languages in Latin script hold pairs of characters instead. At least one of the two is
// not ASCII, because these languages have few such letters, and their neighbours tell the languages
// apart. In a pair, an underscore stands for what is before or after a word. Chinese, Japanese and Korean
// models contain punctuation, too.
//
// Letters were counted in the translations of Evolution 3.46 and of the help of GNOME 43.
type letterModel struct{ charsets, languages, letters string }

var letterModels = [...]letterModel{
	{"windows-1252", "ca", "ó_ióésà_rà_éçamétàròé_líònènò_tóíní_béàtrèmààgè__àuèüeténúgümèeç_úcòòpxòú_nçuïàmúspçpàèrónàlsócéréaçàcàsàrïucísúúpànvéífríàfàpüèícúlhàmúvímívàtítèísïtcàètiàmòídfíqüïdiïuíèsúteïàuémlèxííelàç_úmòdòrèvèfítpúúbdèpèrçfàï_òbgúbàímúnèdaïpíïnféíxfò"},
	{"windows-1252", "da", "å_påærvæørføælæn_åérsååbøjårøgsønåkærælæådtøråånæsæt_æsæhølåmåhåødåmås_øtéækløjæmørøøløvgægøgåønkøømmæpøtæøsåenøfåhæøbæfævnæbøvékéåliéfæ_égéléøténdøægréædbæjøæbnétådædébåæeétåkpækåméséågæcøeeæpéæ_é_ø_øfcéeøjàà_åvæiéjiøuævååtæm_è_ë_ēdåjåuøví"},
	{"windows-1252", "de", "füürönähköwäänüb_ürüätügöf_öüsrätäücöslöhäße_ämöläünößlüwüäcögnüälfäühröüfmüüteßärtüsäägäuü_nööcülnäöreömääßhöötgüsööpußküwöoßäsbühüßigäß_äföheäädißzöüppädüükaßßlßtzäzüüßämüesütößué_jüßnäidéjàà_äzéjöm_édäféiäkäpürévöölüdüm_è_ë_ēbäböföiöiüäq"},
	{"windows-1252", "es", "ónióá_rátáíamáñaañtóríásánúsnúuéénó_áté_búláiéésámínáglívíeñmépá_áróérñoú_ál_úársólócóólgúcíúndíí_téácídúlúmfíífómvéíoyúáfsíápísúrmúgíiáuívá_éódeíétútuálépútízóícéfélúbaímócáfádópííeímítsúúpsáíxzáóvaúíbmíófnóécdéóxbálúíp_ínárégópóáqósúabépé"},
	{"windows-1252", "fi", "ä_tääääynäsäväänkämäläpäälähätäitöämjääräväkyököäsöpäpiääjösö_önräötlö_ääodäöyöääeööpöökhäeäölyäöhömöinöäaödöoövöjiöädöaörrödéjàà_éj_éhöjösöé__è_ë_ēaögäzüè_ë_ürē_"},
	{"windows-1252", "en fr", "réà_é__à_éérdééstééeséécélêtmééfétédnééppéémlé_êvéâchétâfénêèrièèmtèégètévuémècéiécôèsgélèénrèêmmêîtènècvèônçutêéurçôtaîyééadèoîéqaçègéoçoèlrôôlsècèoùù_éjèdébjàrêxéééeécâeçâbhèsûûrçaîntôpêêcgèéibékéèvlàdûpèû_œunœrâhôuê_œfèlânçœiâtèqzééhaïgâ"},
	{"windows-1252", "is", "ð_iðað_þðarðá_ðiþeðuþú_áþáí_ýnsýrá_íímátætæðtíú_hæðbeðnúyðósútýsmánýöloðállýjó_úíðínsí_ölápóvæóðægðsöðánærþauðjá_ótöónárbæókúnfærúáðríýrþjmíðhsétóvíéríkðgörtæúðbúækögréámðrúvmöúalíúráfétótóþýjþífþjölæröákðfðlðnbóföhónælónáæsðkólópökönþvgævö"},
	{"windows-1252", "it", "è__èà_tàù_ò_iùràuòé_héì_nùiòiàdìsìsédéjàéj_é_ë_ēhèoèròë_ē_"},
	{"windows-1252", "no", "å__åpåørføøksøårånøtlånåtørååpmøønmåhåærgåådølpøvæuøømåmrøåt_ønøøyjøøvåehøødålsåbøøpåkløtåvåkøåsmædæfåø_lænæåfåvøseøfæiøågøfbåtæzüåbøbür"},
	{"windows-1252", "nl", "iëééén_éërë_ëneëeïïné_véóóvóórïmeéëiëlïddéjàà_éj_óféoöëxóför_è_ë_ü_ēaïkézüè_ëtëvïeübürē_"},
	{"windows-1252", "pt", "ãoçãaççõnãá_õeé_ár_éeçsãráçoiçtátãrãçaív_ásíémnçã__àdáícróméópà_ênníídcóérrêbétéê_ál_úáságónxãiãpává_ípçvíuçúlcêsósáó_iánúúduítóáfêsúmeúmáóróshácímúíftêsõmípóésvéânávlérétõúsáuútríátêmjáóxnáégétaímêtííníríttâláàsvêâmódpúfívãmórçíglóuêóguéãs"},
	{"windows-1252", "sv", "örföå_änärväälpå_ätälärå_öånnäsäätägövsåräåtfäkähööksööphåållåön_ålöäkösågtöjäådböåsäsämgägåmågööghäkönåårmöölömödröädmävåäväxfåäpötbädådäåeöjäfäctååmåkbådööcjönöåvö_é_pädékååböfåfoäoöeäåaöejàréà_ä_éj_éfémésãá_ãoénöaür_è_ë_ü_ēaåeåeöióiölálé"},
	{"windows-1250 iso-8859-2", "cs", "í_nípřříé_řeráněávžeůžánožítčínánéváá_řiě_ý_ačžíužímětdávéátvýcí_únýtíů_šížiícářmůúč_čjíštmáěnž_láálměčeýcémísšesíyžástěázžkvěréoščičázímítéáčočkáívdězá_žčkdívíámádvřílčtéhkéčnžáíččaušečžníkašlípírůýmtřúkělořsávšišč_táběšiízrýášbýýtínléížáh"},
	{"windows-1250 iso-8859-2", "hr", "ačžečićeučožžištčničiščuežeđućoščašeašećši_ćđaažčeočšaćiža_žešrž_šđečk_čršužoćađečćaćuš_žnč_ušćnždškđuđišnođaćć_kôôdžošlžučvižšuićšoiđčjšćpćjččlpšž_kšćošcjšnčžmmćdédžgđjàrđuđà_éj_érčé_čc_è_ë_đ_ējžkčlžmčnđè_ë_ćvčoē_švžbžgžj"},
	{"windows-1250 iso-8859-2", "hu", "ésálástáíttévá_éérő_záléátlááró_késáüllónásénémáénzéköéltóájlíépétánókábfá_üékióvéeáég_ádátöüztőzősígémékülőráévözjáörpéölávímcíámöndézóólréövníáhézlöódírgápáhá_úágnüdőákzöyűújrórü_öőltíótzíbáé_éhácmísőmóőkösrőógvőívózázűkyőónű_öb_íkááuősüp"},
	{"windows-1250 iso-8859-2", "pl", "ć_łąącośą_ówięę_aćścożśćłażyużżnżeyśądślórjąyćeśałśwłotęróń_ęctókósłićząępwłzęnąąćiąęddłołląyłeńłueżłóełśngłgósąążjęwóóżdźażłykłł__żękż_ętiśęśmócąańbęwąkżńcońżlżążkiżź_ećób_śnętąółźwaśułłeręłęzłśrócbłgąźćwęąg_łątżdsókęłnś_ótżabóąpjśpóęsęzdż"},
	{"windows-1250 iso-8859-2", "ro", "ă_ţită_îînzăcăaţsăşiră_şărştnţeşişnăăteţânăsiţţăpăcâăţdălămăşaăuaşşegătâcţvăâmfă_șuţâlștuăţemâăpămrţpţţabăârbţâtoşpâăcăzşuîmeîrâcóóprşsâfâlţ_ţzâîloţuşâişolânşşcvâăiăşşăîiăncşăl_țgâhășanâşnţuţâțibâcòdéhâjàà_éjòp_édâxăâţé_îşădş_ţ_șeșf_è_ë_ēmî"},
	{"windows-1250 iso-8859-2", "sk", "ť_ráiťé_náávý_aťnéí_čiá_ný_úžiúčečdáú_ľaštárát_ččíožníúlačhľánámužžeázjúoščamávýsúšerížíčetýeľácpíýckáálsá_žnúváúcsťôžvšítzíímlátíéhyťúbvéočísászáčnširč_štáívšíždežópýmčuírašnčýžžnútmôyžáhď_ínľúiččkčt_áílkókýíceďúťíksíž_téuáušoľň_dňvútúákeň"},
	{"windows-1250 iso-8859-2", "sl", "oččičečaačošžeič_čžišiežčnišžnštščeččuaž_žož_šašškšeč_žašančjšučšlzžčrižžjršešš_užšnuščkčjržčlšozšžbžkbčžlrčvččožgzčdčbškšnžé_šjdéjàlčà_éjčdžo_édžnšréčbčpšuž_žu_è_ë_ēhčlžmčmšè_ë_ē_šg"},
	{"windows-1254", "tr", "ı_gönıörınçilııltıünrıiçönışeçsığiğıırdıaş_ö_İrüağşt_çişçeümeğnüösüzş_şıcıtüü_söşldüiğıygüyıığğlİlızımıcçııkç_şimıeşürşamüsüuşözaçıtçaısğu_şğelüuğükülkızıyüİçpıölüğşmböıdütçu_üoğbıçüküİşşkİmoşyöıçğrüsrşşuşeüşdöüvnʼçogıçöüçrççbçmüyʼığağüʼdög"},
	{"windows-1257", "et", "ärõiõnsõvõää_ümäülpääiväööäenäsüjäünkõlõälühtäõrõtõpähüükätõüstükütöüpädätrüräämönlüsävöõhõsükõumõümläpõnõäsžiänežõehõ_ä_õpüügnüötõlö_hüäoöpörrõäbäpõõiüägölüdürütödübjõõbõmeühäös_ö_šiólásãuüá_ãoävöaökövüašižžaşaţbádõdžfäişižlžménăpôrāsŏtátš"},
	{"windows-1257", "lt", "ą_ų_išaššk_įį_štių_šužčišiėtsąžieškątąždė_mąąrėslėšamėėjnėtėažtųšąšyžyš_dėųsjąįvę_būsųkųšsšįmų_žūrįršončėločdžrėiūūtnįvėržūslįščjųkšnęnąėršvtįiąėkšejūtęnųįsęsšuįjžvgąrąįtačbėšlžokėdąičdųjįlątšėnpėršįklęšmžedįąjėdįdšjlųrįrųuššdšųžbžkbųšryšžš"},
	{"windows-1257", "lv", "ā_vētāītēttīrāārlēšaātkāādēlēsnāāspāējērrīmēūtūsākdīpēājāmjū_štēēšjāmāzērēiņkšībē_šīošēmšķšāešņulāījīmdāāšsādēī_bālīīgsūzīļavāēgācšubūīkšiīšnīšoālļūēcaškļnēsēaņņeānķi_āsīņaģēļugāīsažtņīcaļīdtūūrēģēļšsņoežšēģižāēdīvūdš_ršlūcīžīrūzņāpuļņšiģ_ļ"},
	{"windows-1251 koi8-r koi8-u iso-8859-5 ibm866", "be bg mk ru sr uk", "аеонитрспквдлмузіябчгыцьжшйјфхющўъэњћљєёїђќ"},
	{"windows-1253 iso-8859-7", "el", "αεοτνισρπμηλκςυίγήέάόδθωφχύώξβζψ"},
	{"windows-1255", "he", "יוהתארמלשקבנדחעפסכםגצןטזךףץ"},
	{"windows-1256 iso-8859-6", "ar fa", "الرنیمدتوهيبسشفعقکةحخجزكأگپّصذطإغضٔئآُظثىءچًَِژ"},
	{"windows-874", "th", "าอ่รมน้กเงลัดยวบีิสตหทขปคแืไจูุำใชะ์โถพฟผณ็ึซภญฏฉธศๆษ๊"},
	{"shift_jis euc-jp", "ja", "ーのすをしンまるに。ルッスイでいてア、トクフメリがたはドとかなタプジりウこされダカセきレうあく示表ィバァラュォキらテデコロも定選択んシグマせ用ど信よサ動使だ先一日ワ場合ピ名作パ送っ時開ビオえョム除付ブ"},
	{"gbk", "zh", "的件。，文在用您信中息时：可一选示是邮发以为显要有个务到列备不人任夹将表置使日器如无会地或动复标设图除洲新定和开送能作入名下果系本已址打接法出存此删这加电上正键过联择部保分窗查间格否式忘线机回编其所建"},
	{"big5", "zh", "的件。郵在用「」：示列資作時，工選定錄表料為要顯是有中個洲夾會取使不事已這新設無者備您除法人一行入存訊檔連到將位以式器視送忘通回字動檢名否標刪開日此絡傳加啟目儲寄格預尋期下曆號所編案議移可至擇能輯建或"},
	{"euc-kr", "ko", "다니을이를에로시하지는기일서습정가사스있합수용면보메자할의리한인터어파그으작아나모선고드장프크트제전은설치도동상대록연더오목음우업해키단택입여표소부게바창누화력요추만러라려결때른주내않없램간폴거데위들"},
}

// Logarithms to base 2 of how much more likely something is in a text than in random bytes.
const (
	undecodable   = -16  // bytes that are no character, or a control character
	symbolInside  = -8   // a symbol in a word
	quotation     = 6    // an angle quotation mark or a trade mark before or after a word
	symbolBeside  = -4   // a symbol, not punctuation, before or after a word
	capitalInside = -6   // a capital letter after a small one
	otherScript   = -6   // a letter beside an ASCII letter, in a language without ASCII letters
	unknownLetter = -4   // a letter that the language does not have
	unknownPair   = -1   // a rare pair of letters that the language has
	unknownHan    = -0.5 // a rare character in Chinese, Japanese and Korean
	unknownSymbol = -2   // another character in Chinese, Japanese and Korean
	functionWord  = 2    // a function word of the language
	lead          = 1    // of another charset, over windows-1252, which is the most frequent
	hopeless      = -100 // a text that no further letter makes likely
)

func (m *letterModel) hasPairs() bool { return strings.Contains(m.letters, "_") }
func (m *letterModel) isWide() bool   { return strings.Contains("ja ko zh", m.languages) }

// letterScores holds the scores of the letters or pairs of letters of each model.
var letterScores = sync.OnceValue(func() (scores [len(letterModels)]map[[2]rune]float64) {
	for i := range letterModels {
		m := &letterModels[i]
		letters := []rune(m.letters)
		size, random := 1, 128.0 // number of characters in an element, number of elements that random bytes make
		switch {
		case m.hasPairs():
			size, random = 2, 27*128
		case m.isWide():
			random = 128 * 128 / 2 // half of the characters of a text are in the model
		}
		scores[i] = map[[2]rune]float64{}
		n := len(letters) / size
		for rank := range n {
			// Frequencies decrease as 1/(rank+4), more slowly than by Zipf's law. Sums of rounded scores
			// are the same on all processors.
			score := math.Round(16*math.Log2(random/(float64(rank+4)*math.Log(float64(n)/3.5+1)))) / 16
			var element [2]rune
			copy(element[:], letters[rank*size:][:size])
			scores[i][element] = score
			if size == 2 {
				scores[i][[2]rune{element[0]}], scores[i][[2]rune{element[1]}] = unknownPair, unknownPair
			}
		}
	}
	return scores
})

// guess returns the most likely charset of a body, or "" if it is not text in a language that is
// known. It returns windows-1252 if that makes no difference.
func guess(body []byte) string {
	var words languageCount // function words that are ASCII; they are the same in all charsets
	letters := sample(body)
	for word := range bytes.FieldsSeq(letters) {
		if isASCII(word) {
			words.read(view(word))
		}
	}
	decoded := map[string][]rune{}
	best, most, western := "", 0.0, 0.0
	for i := range letterModels {
		m := &letterModels[i]
		hits := 0
		for language, n := range words.hits {
			if strings.Contains(m.languages, text.FunctionWords[language].Language) {
				hits = max(hits, n)
			}
		}
		for name := range strings.FieldsSeq(m.charsets) {
			if decoded[name] == nil {
				enc, _ := lookup(name)
				s, _ := enc.NewDecoder().Bytes(letters)
				decoded[name] = []rune(" " + string(s) + " ")
			}
			score := m.score(decoded[name], letterScores()[i]) + float64(functionWord*hits)
			if score > most {
				best, most = name, score
			}
			if name == westernName {
				western = max(western, score)
			}
		}
	}
	if western > 0 && most < western+lead || slices.Equal(decoded[best], decoded[westernName]) {
		return westernName
	}
	return best
}

// sample returns text of a page, without markup, scripts and styles, and without most of the text that
// is ASCII.
func sample(body []byte) []byte {
	const (
		maxLen = 1 << 10 // maximum length of the sample in bytes
		before = 100     // maximum number of bytes before the first byte in a text that is not ASCII
	)
	var (
		z      scanner
		text   []byte
		hidden bool
	)
	z.reset(view(body))
	for kind := z.next(); kind != endOfPage && len(text) < maxLen; kind = z.next() {
		if kind == startTag {
			enterRaw(&z)
		} else if kind == textToken && !hidden {
			token := body[z.begin:z.end]
			if ascii := lenASCII(token); ascii < len(token) && mayHaveLetters(token[max(0, ascii-1):]) {
				token = token[max(0, ascii-before):]
				text = append(text, token[:min(len(token), maxLen-len(text))]...)
				text = append(text, ' ')
			}
		}
		hidden = z.state == rawtext || z.state == scriptData
	}
	return text
}

// mayHaveLetters reports whether a text may have letters that are not ASCII: it has a byte from 0xC0, or one from 0x80 beside another or an ASCII letter, apart from
// no-break spaces. Bullets and no-break spaces fill many a page.
func mayHaveLetters(text []byte) bool {
	previous := byte(' ')
	for _, c := range text {
		switch {
		case c == 0xA0:
			c = ' '
		case c >= 0xC0,
			c >= utf8.RuneSelf && (previous >= utf8.RuneSelf || isLetter(previous)),
			previous >= utf8.RuneSelf && isLetter(c):
			return true
		}
		previous = c
	}
	return false
}

// score returns the logarithm of how much more likely a text is by the model than random bytes. The
// text has a space at its beginning and its end.
func (m *letterModel) score(text []rune, scores map[[2]rune]float64) float64 {
	sum := 0.0
	pairs, wide := m.hasPairs(), m.isWide()
	for i, r := range text {
		if r < utf8.RuneSelf {
			continue
		}
		if sum < hopeless {
			break
		}
		previous, next := text[i-1], text[i+1]
		switch score, known := scores[[2]rune{unicode.ToLower(r)}]; {
		case r == utf8.RuneError, unicode.IsControl(r):
			sum += undecodable
		case wide && known:
			sum += score
		case wide && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana):
			sum += unknownHan
		case wide:
			sum += unknownSymbol
		case !isWordLetter(r):
			sum += symbolScore(previous, r, next)
		case !isWordLetter(previous) && !isWordLetter(next): // a symbol may be a letter in another charset
		case pairs:
			sum += (pairScore(scores, previous, r) + pairScore(scores, r, next)) / 2
		case known:
			sum += score
		default:
			sum += unknownLetter
		}
		switch {
		case !wide && unicode.IsUpper(r) && unicode.IsLower(previous):
			sum += capitalInside
		case !pairs && (wide || isWordLetter(r)) && (isASCIILetter(previous) || isASCIILetter(next)):
			sum += otherScript
		}
	}
	return sum
}

// isWordLetter reports whether a character is a letter or a part of one. It is false for ordinal
// indicators, which stand after numbers.
func isWordLetter(r rune) bool {
	return r != 'ª' && r != 'º' && (unicode.IsLetter(r) || unicode.IsMark(r))
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && isLetter(byte(r)) }

// symbolScore returns the score of a character that is not a letter.
func symbolScore(previous, r, next rune) float64 {
	switch before, after := isWordLetter(previous), isWordLetter(next); {
	case before != after && strings.ContainsRune("«»®™", r):
		return quotation
	case before && after && !strings.ContainsRune("’·\u00A0\u00AD", r):
		return symbolInside
	case (before || after) && !unicode.IsPunct(r) && !unicode.IsSpace(r):
		return symbolBeside
	}
	return 0
}

// pairScore returns the score of a pair of characters.
func pairScore(scores map[[2]rune]float64, first, second rune) float64 {
	pair := [2]rune{pairLetter(first), pairLetter(second)}
	if score, known := scores[pair]; known {
		return score
	}
	if pair[0] >= utf8.RuneSelf && pair[1] >= utf8.RuneSelf {
		return unknownLetter // the model has all common pairs of two such letters
	}
	if _, known := scores[[2]rune{max(pair[0], pair[1])}]; known {
		return unknownPair
	}
	return unknownLetter
}

// pairLetter returns a letter in lower case, or an underscore for another character.
func pairLetter(r rune) rune {
	if isWordLetter(r) {
		return unicode.ToLower(r)
	}
	return '_'
}
