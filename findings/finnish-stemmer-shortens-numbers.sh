#!/usr/bin/env bash
# Package:  Go module github.com/blevesearch/snowballstem v0.9.0 (finnish); npm package
#           snowball-stemmers 0.6.0
# Input:    the numbers 1999, 2000, 2200 and 9001, as words of a Finnish text
# Guess:    they stay, because a number has no suffix, as with the stemmers of other languages.
# Seen:     1999 becomes 199, 2000 200 and 2200 220, and 9001 stays, in both: the algorithm shortens a word that ends
#           in a double consonant, and takes every character that is not a vowel for a consonant. So
#           a search for the year 2000 finds the number 200.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/swedish"
)

func main() {
	for _, word := range []string{"1999", "2000", "2200", "9001"} {
		fi, sv := snowballstem.NewEnv(word), snowballstem.NewEnv(word)
		finnish.Stem(fi)
		swedish.Stem(sv)
		fmt.Println(word, fi.Current(), sv.Current())
	}
}
GO
go mod init example >/dev/null 2>&1
go get github.com/blevesearch/snowballstem@v0.9.0 >/dev/null 2>&1
go run . | tee seen
npm install --silent --no-audit --no-fund snowball-stemmers@0.6.0 >/dev/null
node -e '
const stem = require("snowball-stemmers").newStemmer("finnish");
for (const word of ["1999", "2000", "2200", "9001"]) console.log(word, stem.stem(word));' | tee other
[[ $(cut -d ' ' -f 2 seen | xargs) == '199 200 220 9001' && $(cut -d ' ' -f 3 seen | xargs) == '1999 2000 2200 9001' ]]
[[ $(cut -d ' ' -f 2 other | xargs) == '199 200 220 9001' ]]
