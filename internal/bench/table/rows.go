package main

// A section of the report is a heading, words, and rows of one kind.
type section struct {
	title, words string
	rows         []row
}

// A row holds one benchmark against another, by name, both with their package, or by
// itself where peer is empty.
type row struct {
	job        string
	ours, peer string
	as         string  // what the peer is called
	unit       string  // of what is better when it is more: pages/s or MB/s
	target     float64 // for the ratio, or for what is measured where there is no peer; 0: none
}

const (
	process  = "internal/bench.BenchmarkProcess/"
	analysis = "internal/bench.BenchmarkAnalysis/"
	memory   = "internal/bench.BenchmarkMemory"
)

// report is what scripts/bench measures.
var report = []section{
	{
		title: "parse",
		words: "Whole processes, pages as `fetch -archive … -all` leaves them in, records with title, meta,\ntext and links out. `parse` finds contexts, paths, languages and fingerprints too, and uses both\nprocessors; with `-j 1` it reads one page at a time, as the others do.",
		rows: []row{
			{"modern", process + "parse/modern/spoor", process + "parse/modern/goquery", "encoding/json and goquery", "pages/s", 5},
			{"modern, `-j 1`", process + "parse/modern/spoor-j1", process + "parse/modern/goquery", "encoding/json and goquery", "pages/s", 0},
			{"modern", process + "parse/modern/spoor", process + "parse/modern/lxml", "json and lxml (Python)", "pages/s", 0},
			{"modern", process + "parse/modern/spoor", process + "parse/modern/cheerio", "cheerio (node)", "pages/s", 0},
			{"WebKB", process + "parse/webkb/spoor", process + "parse/webkb/goquery", "encoding/json and goquery", "pages/s", 5},
			{"WebKB, `-j 1`", process + "parse/webkb/spoor-j1", process + "parse/webkb/goquery", "encoding/json and goquery", "pages/s", 0},
			{"WebKB", process + "parse/webkb/spoor", process + "parse/webkb/lxml", "json and lxml (Python)", "pages/s", 0},
			{"WebKB", process + "parse/webkb/spoor", process + "parse/webkb/cheerio", "cheerio (node)", "pages/s", 0},
		},
	},
	{
		title: "score",
		words: "Whole processes, parsed pages in. `score` weighs the page and the address, anchor and context of\nevery link; the other program analyses the text of the page and nothing else. Words are looked up the\nfirst time and remembered then, so that pages four times over show what a longer run comes to.",
		rows: []row{
			{"modern", process + "score/modern/spoor", process + "score/modern/bleve", "encoding/json and bleve", "pages/s", 7},
			{"modern, `-j 1`", process + "score/modern/spoor-j1", process + "score/modern/bleve", "encoding/json and bleve", "pages/s", 0},
			{"modern, four times over", process + "score/modern4/spoor", process + "score/modern4/bleve", "encoding/json and bleve", "pages/s", 7},
			{"modern, four times over, `-j 1`", process + "score/modern4/spoor-j1", process + "score/modern4/bleve", "encoding/json and bleve", "pages/s", 0},
			{"WebKB", process + "score/webkb/spoor", process + "score/webkb/bleve", "encoding/json and bleve", "pages/s", 7},
			{"WebKB, `-j 1`", process + "score/webkb/spoor-j1", process + "score/webkb/bleve", "encoding/json and bleve", "pages/s", 0},
		},
	},
	{
		title: "In memory, one processor",
		words: "Without processes and records. Bleve's is the analyzer `en`, over the same text.",
		rows: []row{
			{"tokens, with text and links, modern", "internal/page.BenchmarkScanner/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 0},
			{"scan: what a tree would say, without it, modern", "internal/page.BenchmarkScan/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 5},
			{"all that parse makes of a page, modern", "internal/page.BenchmarkExtract/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 0},
			{"the same by way of a tree, modern", "internal/page.BenchmarkTree/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 0.95},
			{"the same with selectors, modern", "internal/page.BenchmarkExtractWithSelectors/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 0},
			{"terms of a text, modern", analysis + "modern/spoor", analysis + "modern/bleve", "bleve", "MB/s", 7},
			{"terms of a text, WebKB", analysis + "webkb/spoor", analysis + "webkb/bleve", "bleve", "MB/s", 7},
			{"scores of a page and its links, modern", "cmd/score.BenchmarkScore/modern/vsm", analysis + "modern/bleve", "bleve, of the text alone", "pages/s", 0},
			{"scores of a page and its links, WebKB", "cmd/score.BenchmarkScore/webkb/vsm", analysis + "webkb/bleve", "bleve, of the text alone", "pages/s", 0},
			{"scores, warm, modern", "cmd/score.BenchmarkScore/modern/vsm", "", "", "pages/s", 5000},
			{"scores, warm, WebKB", "cmd/score.BenchmarkScore/webkb/vsm", "", "", "pages/s", 5000},
		},
	},
	{
		title: "fetch -archive … -all | parse | score",
		words: "Three processes side by side. The modern web has 311 pages only, which are read before all words are\nknown; four times over, as one archive, it shows what a longer run comes to.",
		rows: []row{
			{"modern", process + "pipeline/modern/spoor", "", "", "pages/s", 1000},
			{"modern, four times over", process + "pipeline/modern4/spoor", "", "", "pages/s", 1000},
			{"WebKB", process + "pipeline/webkb/spoor", "", "", "pages/s", 0},
			{"PlanetMath", process + "pipeline/planetmath/spoor", "", "", "pages/s", 0},
		},
	},
	{
		title: "Records",
		words: "Real pages, the same pages parsed, and addresses; one processor.",
		rows: []row{
			{"decode, page", "internal/wire.BenchmarkDecode/page/spoor", "internal/wire.BenchmarkDecode/page/encoding/json", "encoding/json", "MB/s", 6},
			{"decode, parsed", "internal/wire.BenchmarkDecode/parsed/spoor", "internal/wire.BenchmarkDecode/parsed/encoding/json", "encoding/json", "MB/s", 0},
			{"decode, address", "internal/wire.BenchmarkDecode/address/spoor", "internal/wire.BenchmarkDecode/address/encoding/json", "encoding/json", "MB/s", 0},
			{"encode, page", "internal/wire.BenchmarkEncode/page/spoor", "internal/wire.BenchmarkEncode/page/encoding/json", "encoding/json", "MB/s", 6},
			{"encode, parsed", "internal/wire.BenchmarkEncode/parsed/spoor", "internal/wire.BenchmarkEncode/parsed/encoding/json", "encoding/json", "MB/s", 0},
			{"encode, address", "internal/wire.BenchmarkEncode/address/spoor", "internal/wire.BenchmarkEncode/address/encoding/json", "encoding/json", "MB/s", 0},
			{"pass on, page", "internal/wire.BenchmarkPassOn/page/spoor", "internal/wire.BenchmarkPassOn/page/encoding/json", "encoding/json", "MB/s", 50},
			{"pass on, parsed", "internal/wire.BenchmarkPassOn/parsed/spoor", "internal/wire.BenchmarkPassOn/parsed/encoding/json", "encoding/json", "MB/s", 0},
			{"pass on, address", "internal/wire.BenchmarkPassOn/address/spoor", "internal/wire.BenchmarkPassOn/address/encoding/json", "encoding/json", "MB/s", 0},
		},
	},
	{
		title: "Archives",
		words: "One processor.",
		rows: []row{
			{"write a response, modern", "internal/archive.BenchmarkWrite/web=modern/coding=none/member", "internal/archive.BenchmarkWrite/web=modern/coding=none/stdlib", "compress/gzip", "MB/s", 2},
			{"write a whole exchange, modern", "internal/archive.BenchmarkWrite/web=modern/coding=none/ours/zstd=false/goroutines=1", "internal/archive.BenchmarkWrite/web=modern/coding=none/stdlib", "compress/gzip, the response alone", "MB/s", 0},
			{"write a whole exchange, zstd, modern", "internal/archive.BenchmarkWrite/web=modern/coding=none/ours/zstd=true/goroutines=1", "internal/archive.BenchmarkWrite/web=modern/coding=none/stdlib", "compress/gzip, the response alone", "MB/s", 0},
			{"read, modern", "internal/archive.BenchmarkRead/modern/ours", "internal/archive.BenchmarkRead/modern/stdlib", "compress/gzip", "MB/s", 1.2},
			{"read, WebKB", "internal/archive.BenchmarkRead/webkb/ours", "internal/archive.BenchmarkRead/webkb/stdlib", "compress/gzip", "MB/s", 1.2},
			{"read, PlanetMath", "internal/archive.BenchmarkRead/planetmath/ours", "internal/archive.BenchmarkRead/planetmath/stdlib", "compress/gzip", "MB/s", 1.2},
		},
	},
}
