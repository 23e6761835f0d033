package conformance

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each bad stage fails in the cases that are meant for it, and in no other.
func TestStages(t *testing.T) {
	for _, program := range []string{"bash", "sed", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	const (
		each, empty, unknown, failed = "each record comes back, in order", "the exit status is 0, and empty input has no output", "unknown fields are kept", "failed pages come back"
		badLine, newline, odd, mark  = "a line that is not a record is skipped, and nothing else", "the last line may lack its newline", "odd characters survive", "a mark comes back at once, after the records before it"
		closed, long, same           = "it ends when its output is closed", "a long line comes back", "the same input gives the same output"
		scored, parsed, evolved      = "pages have score and relevant (true or false); failed pages are not relevant", "pages have title, text and links, and no body", "the pages come first, then addresses"
	)
	for name, test := range map[string]struct {
		stage Stage
		shell string
		fails []string
	}{
		"good":                {Any, "exec sed -un '/^{/p'", nil},
		"loses records":       {Any, `exec sed -un '/^{/{/page\/77"/!p}'`, []string{each}},
		"loses failures":      {Any, `exec sed -un '/^{/{/"error"/!p}'`, []string{failed}},
		"doubles records":     {Any, `exec sed -un '/^{/{p;/"mark"/!p}'`, []string{each, unknown, failed, badLine, newline, odd, mark, long}},
		"changes the order":   {Any, `while IFS= read -r a || [[ $a ]]; do case $a in *'"mark"'*) [[ ! $k ]] || printf '%s\n' "$k"; k=; printf '%s\n' "$a" ;; {*) if [[ $k ]]; then printf '%s\n%s\n' "$a" "$k" || exit 0; k=; else k=$a; fi ;; esac; done; [[ ! $k ]] || printf '%s\n' "$k"`, []string{each, failed, badLine, newline, mark, long}},
		"changes addresses":   {Any, `exec sed -un '/^{/{s/site.test/SITE.test/;p}'`, []string{each, unknown, failed, badLine, newline, odd, mark, long}},
		"buffers":             {Any, `grep '^{' || true`, []string{mark}},
		"swallows marks":      {Any, `exec sed -un '/^{/{/"mark"/!p}'`, []string{mark}},
		"changes marks":       {Any, `exec jq -cR --unbuffered 'fromjson? | if .url then . else del(.x_own) end'`, []string{mark}},
		"loses fields":        {Any, `exec jq -cR --unbuffered 'fromjson? | del(.x_own, .y_own)'`, []string{unknown, odd, mark, long}},
		"talks":               {Any, `echo ready; exec sed -un '/^{/p'`, []string{each, empty, unknown, failed, badLine, newline, odd, mark, long, same}},
		"status 1":            {Any, `sed -un '/^{/p'; exit 1`, []string{each, empty, unknown, failed, badLine, newline, odd, mark, long, same}},
		"dies at bad lines":   {Any, `exec jq -c --unbuffered .`, []string{badLine}},
		"passes bad lines":    {Any, `exec cat`, []string{badLine}},
		"needs a newline":     {Any, `while IFS= read -r line; do case $line in {*) printf '%s\n' "$line" || exit 0 ;; esac; done`, []string{newline}},
		"never ends":          {Any, `sed -un '/^{/p'; sleep 60`, []string{each, empty, unknown, failed, badLine, newline, odd, mark, closed, long, same}},
		"differs":             {Any, `exec sed -un "/^{/{s/^{/{\"id\":$$,/;p}"`, []string{same}},
		"score":               {Score, `exec jq -cR --unbuffered 'fromjson? | if .text then .score = 0.5 | .relevant = true else . end'`, nil},
		"score of failures":   {Score, `exec jq -cR --unbuffered 'fromjson? | .score = 0.5 | .relevant = true'`, []string{scored}},
		"score without words": {Score, `exec sed -un '/^{/p'`, []string{scored}},
		"score as text":       {Score, `exec jq -cR --unbuffered 'fromjson? | if .text then .score = "0.5" | .relevant = true else . end'`, []string{scored}},
		"parse":               {Parse, `exec jq -cR --unbuffered 'fromjson? | if .body then (.body | capture("<title>(?<t>[^<]*)")) as $x | .title = $x.t | .text = (.body | gsub("<[^>]*>"; " ")) | .links = [.body | scan("href=\"([^\"]*)") | {url: ("http://site.test" + .[0])}] | del(.body) else . end'`, nil},
		"parse keeps bodies":  {Parse, `exec jq -cR --unbuffered 'fromjson? | if .body then .title = "Page 7" | .text = "Words of page 7 about jazz." | .links = [{url: "http://site.test/page/8"}] else . end'`, []string{parsed}},
		"evolve":              {Evolve, `exec jq -csR '[split("\n")[] | fromjson?] | (.[] | del(.text, .links)), (.[].links[]? | {v: 1, url})'`, nil},
		"evolve mixes":        {Evolve, `exec jq -cR 'fromjson? | del(.text, .links), (.links[]? | {v: 1, url})'`, []string{evolved}},
		"evolve a query":      {Evolve, `exec jq -csR '[split("\n")[] | fromjson?] | (.[] | del(.text, .links)), (.[].links[]? | {v: 1, query: "jazz", priority: 1})'`, nil},
		"evolve not http":     {Evolve, `exec jq -csR '[split("\n")[] | fromjson?] | (.[] | del(.text, .links)), (.[].links[]? | {v: 1, url: "/page"})'`, []string{evolved}},
		"state":               {Any, `[[ -d $SPOOR_RUN && ! -e $SPOOR_RUN/state-$SPOOR_GENERATION && $SPOOR_N -gt 0 && $SPOOR_SEED = 1 ]] && grep -q jazz "$SPOOR_TOPIC" || exit 9; exec sed -un '/^{/p'`, nil},
		"state of a case":     {Any, `[[ ! -e $SPOOR_RUN/state ]] || exit 9; >"$SPOOR_RUN/state"; exec sed -un '/^{/p'`, []string{same}},
		"evolve rests":        {Evolve, `exec sed -un '/^{/p'`, []string{evolved}},
	} {
		if name == "never ends" && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 20 * time.Second
			if slices.Contains(test.fails, mark) || slices.Contains(test.fails, each) { // they are waited for
				limit = 3 * time.Second
			}
			tester := Tester{Stage: test.stage, Command: []string{"bash", "-c", test.shell}, Time: limit, Long: 100_000}
			var fails []string
			tester.Run(t.Context(), func(string) {}, func(r Result) {
				if r.Err != nil {
					fails = append(fails, r.Name)
				}
			})
			if !slices.Equal(sorted(fails), sorted(test.fails)) {
				t.Errorf("failed:\n%s\nwant\n%s", strings.Join(fails, "\n"), strings.Join(test.fails, "\n"))
			}
		})
	}
}

// Messages end with one line that says what to do.
func TestHints(t *testing.T) {
	for _, program := range []string{"grep", "jq", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	for _, test := range []struct {
		stage                 Stage
		command, failed, want string
	}{
		{Score, `exec jq -cR --unbuffered 'fromjson? | .score = 1'`, "pages have score and relevant (true or false); failed pages are not relevant",
			"relevant is <nil>\nhint: true or false; or put `score -keep` after it, as crawl does"},
		{Score, `exec jq -cR --unbuffered 'fromjson? | .score = 1 | .relevant = "no"'`, "pages have score and relevant (true or false); failed pages are not relevant",
			"relevant is no\nhint: true or false"},
		{Any, `grep '^{' || true`, "a mark comes back at once, after the records before it",
			"2 records and a mark (a line without url) were sent; 0 records and no mark came back: it has not answered within 200ms\n" +
				"hint: write the mark after all records before it, and flush, as jq --unbuffered, python3 -u and mawk -W interactive do"},
		{Any, `sed -un '/^{/p'; echo '{"x":1}'`, "a mark comes back at once, after the records before it",
			"it wrote a record after the last mark: map[x:1]\nhint: write the mark last, when all records before it are written"},
		{Any, `sleep 5`, "a line that is not a record is skipped, and nothing else",
			"it has not answered within 200ms\nhint: skip the line, with a message on stderr; jq -R 'fromjson? | …'"},
		{Evolve, `exec jq -csR '[split("\n")[] | fromjson?] | .[], {url: "not a url", priority: "high"}'`, "the pages come first, then addresses",
			`it proposed "{\"priority\":\"high\",\"url\":\"not a url\"}", which is no record: priority: a string at byte 13 where a number is expected`},
		{Evolve, `exec jq -csR '[split("\n")[] | fromjson?] | .[], {url: "not a url"}'`, "the pages come first, then addresses",
			`it proposed "not a url", which is not an absolute http or https address: no scheme; hint: an address begins with http:// or https://`},
	} {
		t.Run(test.command, func(t *testing.T) {
			t.Parallel()
			tester := Tester{Stage: test.stage, Command: []string{"bash", "-c", test.command}, Time: 200 * time.Millisecond}
			if !strings.Contains(test.want, "200ms") {
				tester.Time = 20 * time.Second
			}
			got := ""
			tester.Run(t.Context(), func(string) {}, func(r Result) {
				if r.Name == test.failed && r.Err != nil {
					got = r.Err.Error()
				}
			})
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func TestAnEndlessLineIsAnError(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	tester := Tester{Command: []string{"sh", "-c", "exec cat /dev/zero"}, Stage: Any, Time: time.Minute, Long: 1000}
	n, begun := 0, ""
	tester.Run(t.Context(), func(name string) { begun = name }, func(r Result) {
		if r.Name != begun {
			t.Errorf("the result of %q comes after the beginning of %q", r.Name, begun)
		}
		if r.Err != nil && strings.Contains(r.Err.Error(), "a line of more than") {
			n++
		}
	})
	if n == 0 {
		t.Error("no case fails because of the line")
	}
}
