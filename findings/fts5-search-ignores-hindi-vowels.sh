#!/usr/bin/env bash
# Package:  npm @sqlite.org/sqlite-wasm 3.50.4-build1 (SQLite 3.50.4, FTS5)
# Input:    a table of FTS5 with its default tokenizer, unicode61, and three Hindi words: दिन (day),
#           दान (donation), दीन (poor); a search for दिन
# Guess:    one row: the tokenizer is made for Unicode, and the word is written as in the text.
# Seen:     three rows: vowel signs are no letters to unicode61 (their category is Mark), so that
#           they separate tokens; the index has only the consonants, द and न. All Indic scripts are
#           searched like this.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @sqlite.org/sqlite-wasm@3.50.4-build1 >/dev/null
cat >main.mjs <<'JS'
import init from "@sqlite.org/sqlite-wasm";
const sqlite = await init({ print() {}, printErr() {} });
const db = new sqlite.oo1.DB(":memory:");
db.exec("CREATE VIRTUAL TABLE page USING fts5(text); INSERT INTO page VALUES ('दिन'), ('दान'), ('दीन')");
const found = db.selectValues(`SELECT text FROM page WHERE page MATCH '"दिन"' ORDER BY rowid`);
db.exec("CREATE VIRTUAL TABLE word USING fts5vocab(page, row)");
console.log(sqlite.version.libVersion, "a search for दिन finds:", found.join(" "));
console.log("words of the index:", db.selectValues("SELECT term FROM word").join(" "));
JS
node main.mjs | tee seen
[[ $(cat seen) == *"finds: दिन दान दीन"*"index: द न" ]]
