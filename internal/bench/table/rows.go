package main

// A section of the report is a heading, words, and rows.
type section struct {
	title, words string
	rows         []row
}

// A row compares one benchmark with another, if peer is not empty. Names begin with the
// package.
type row struct {
	job        string
	ours, peer string
	as         string  // the name of the peer in the report
	unit       string  // pages/s or MB/s: more is better
	target     float64 // for the ratio, or for the figure without a peer; 0: none
}

const (
	process  = "internal/bench.BenchmarkProcess/"
	analysis = "internal/bench.BenchmarkAnalysis/"
	memory   = "internal/bench.BenchmarkMemory"
)

const commandsWords = `*modern* is 311 pages of news sites and shops (184 KB a page), *WebKB* 8,189 pages of universities in 1997
(5 KB), *PlanetMath* 5,254 pages of an encyclopedia (19 KB). Whole processes are compared by elapsed time
and by CPU time, user and system.`

// report are the sections of the report on the commands.
var report = []section{
	{
		title: "parse",
		words: "Whole processes that read pages of `fetch -archive … -all` and write records with title, meta, text and\nlinks. `parse` also finds contexts, paths, languages and fingerprints, and uses both processors; the\nothers use one.",
		rows: []row{
			{"modern", process + "parse/modern/spoor", process + "parse/modern/goquery", "encoding/json and goquery", "pages/s", 5},
			{"modern", process + "parse/modern/spoor", process + "parse/modern/lxml", "json and lxml (Python)", "pages/s", 0},
			{"modern", process + "parse/modern/spoor", process + "parse/modern/cheerio", "cheerio (node)", "pages/s", 0},
			{"WebKB", process + "parse/webkb/spoor", process + "parse/webkb/goquery", "encoding/json and goquery", "pages/s", 5},
			{"WebKB", process + "parse/webkb/spoor", process + "parse/webkb/lxml", "json and lxml (Python)", "pages/s", 0},
			{"WebKB", process + "parse/webkb/spoor", process + "parse/webkb/cheerio", "cheerio (node)", "pages/s", 0},
		},
	},
	{
		title: "score",
		words: "Whole processes that read parsed pages. `score` scores the page and the address, anchor and context of\nevery link; the other program only analyses the text of the page. `score` caches words, so the pages of\n*modern* four times show a longer run.",
		rows: []row{
			{"modern", process + "score/modern/spoor", process + "score/modern/bleve", "encoding/json and bleve", "pages/s", 7},
			{"modern, four times", process + "score/modern4/spoor", process + "score/modern4/bleve", "encoding/json and bleve", "pages/s", 7},
			{"WebKB", process + "score/webkb/spoor", process + "score/webkb/bleve", "encoding/json and bleve", "pages/s", 7},
		},
	},
	{
		title: "In memory, one processor",
		words: "Without processes and records. bleve is its analyzer `en`, on the same text.",
		rows: []row{
			{"read without a tree, modern", "internal/page.BenchmarkScan/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 5},
			{"all fields of parse, modern", "internal/page.BenchmarkExtract/modern", "internal/page.BenchmarkParse/modern", "html.Parse", "MB/s", 0},
			{"terms of a text, modern", analysis + "modern/spoor", analysis + "modern/bleve", "bleve", "MB/s", 7},
			{"terms of a text, WebKB", analysis + "webkb/spoor", analysis + "webkb/bleve", "bleve", "MB/s", 7},
			{"scores, warm, modern", "cmd/score.BenchmarkScore/modern/vsm", "", "", "pages/s", 5000},
			{"scores, warm, WebKB", "cmd/score.BenchmarkScore/webkb/vsm", "", "", "pages/s", 5000},
		},
	},
	{
		title: "fetch -archive … -all | parse | score",
		words: "The pipeline of three processes. *modern* four times, as one archive, shows a longer run.",
		rows: []row{
			{"modern", process + "pipeline/modern/spoor", "", "", "pages/s", 1000},
			{"modern, four times", process + "pipeline/modern4/spoor", "", "", "pages/s", 1000},
			{"WebKB", process + "pipeline/webkb/spoor", "", "", "pages/s", 0},
			{"PlanetMath", process + "pipeline/planetmath/spoor", "", "", "pages/s", 0},
		},
	},
	{
		title: "Records",
		words: "Real pages and the same pages parsed; one processor.",
		rows: []row{
			{"decode, page", "internal/wire.BenchmarkDecode/page/spoor", "internal/wire.BenchmarkDecode/page/encoding/json", "encoding/json", "MB/s", 6},
			{"decode, parsed", "internal/wire.BenchmarkDecode/parsed/spoor", "internal/wire.BenchmarkDecode/parsed/encoding/json", "encoding/json", "MB/s", 0},
			{"encode, page", "internal/wire.BenchmarkEncode/page/spoor", "internal/wire.BenchmarkEncode/page/encoding/json", "encoding/json", "MB/s", 6},
			{"encode, parsed", "internal/wire.BenchmarkEncode/parsed/spoor", "internal/wire.BenchmarkEncode/parsed/encoding/json", "encoding/json", "MB/s", 0},
			{"copy, page", "internal/wire.BenchmarkCopy/page/spoor", "internal/wire.BenchmarkCopy/page/encoding/json", "encoding/json", "MB/s", 50},
			{"copy, parsed", "internal/wire.BenchmarkCopy/parsed/spoor", "internal/wire.BenchmarkCopy/parsed/encoding/json", "encoding/json", "MB/s", 0},
		},
	},
	{
		title: "Archives",
		words: "One processor.",
		rows: []row{
			{"write a response, modern", "internal/archive.BenchmarkWrite/web=modern/coding=none/member", "internal/archive.BenchmarkWrite/web=modern/coding=none/stdlib", "compress/gzip", "MB/s", 2},
			{"write a whole exchange, modern", "internal/archive.BenchmarkWrite/web=modern/coding=none/ours/zstd=false/goroutines=1", "internal/archive.BenchmarkWrite/web=modern/coding=none/stdlib", "compress/gzip, the response alone", "MB/s", 0},
			{"write a whole exchange, zstd, modern", "internal/archive.BenchmarkWrite/web=modern/coding=none/ours/zstd=true/goroutines=1", "internal/archive.BenchmarkWrite/web=modern/coding=none/stdlib", "compress/gzip, the response alone", "MB/s", 0},
			{"read, PlanetMath", "internal/archive.BenchmarkRead/planetmath/ours", "internal/archive.BenchmarkRead/planetmath/stdlib", "compress/gzip", "MB/s", 1.2},
		},
	},
}
