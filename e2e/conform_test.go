package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"spoor/internal/testfile"
)

// spoor's own stages, the worked examples in doc/examples and the strategies in doc/guide/stages.md keep the contract of a stage.
func TestStagesConform(t *testing.T) {
	skipShort(t, "no other programs in a short test")
	endpoint := newChat()
	defer endpoint.Close()
	examples := inRoot("doc", "examples")
	c := &crawl{dir: t.TempDir(), env: append(os.Environ(), environment(t)...)}
	c.env = append(c.env, "EXAMPLES="+examples, "CHAT_URL="+endpoint.URL, "CHAT_MODEL=m", "TOPIC=jazz", "CHAT_PATIENCE=0.01", "SPOOR_RUN="+c.dir)
	c.shell(t, `topic -query jazz >topic.json
echo '{"v":1,"url":"http://a.test/1","title":"jazz","text":"jazz and swing"}' >good.ndjson
echo '{"v":1,"url":"http://a.test/2","title":"cars","text":"cars and roads"}' >bad.ndjson`)
	type stage struct{ kind, needs, command string }
	stages := []stage{
		{"parse", "", "parse"},
		{"score", "", "score -topic topic.json"},
		{"score", "", "score -topic topic.json -keep"},
		{"evolve", "", "evolve -strategy bestfirst"},
		{"evolve", "", "evolve -strategy breadthfirst"},
		{"any", "jq", `jq -cR --unbuffered -f "$EXAMPLES/same_site.jq"`},
		{"score", "python3", `python3 "$EXAMPLES/score_chat.py"`},
		{"score", "/usr/bin/python3", `/usr/bin/python3 "$EXAMPLES/score_sklearn.py" good.ndjson bad.ndjson`},
		{"evolve", "python3", `python3 "$EXAMPLES/evolve_directories.py"`},
		{"parse", "node", `node "$EXAMPLES/parse.mjs"`},
	}
	for _, command := range shownStrategies(t, c) {
		program, _, _ := strings.Cut(command, " ")
		stages = append(stages, stage{"evolve", program, command})
	}
	stages = append(stages, stage{"score", "jq", shownIn(t, "cmd/internal/conform/manual.md", `conform -stage score -- (jq [^']*'[^']*')`)})
	stages = append(stages, stage{"score", "jq", shownIn(t, "doc/guide/stages.md", `parse \|\n> +(jq [^']*'[^']*')`)})
	for _, file := range []string{"README.md", "doc/guide/stages.md"} {
		c.shell(t, shownIn(t, file, `(?m)^(?:\$ )?(echo '[^']*' >\w+\.jq)$`))
		stages = append(stages, stage{"any", "jq", shownIn(t, file, `(jq -\w+ \w+\.jq --unbuffered)`)})
	}
	for _, stage := range stages {
		t.Run(stage.command, func(t *testing.T) {
			if stage.needs != "" {
				if _, err := exec.LookPath(stage.needs); err != nil {
					need(t, stage.needs)
				}
			}
			if strings.Contains(stage.command, "sklearn") && exec.Command(stage.needs, "-c", "import sklearn").Run() != nil {
				need(t, "python3-sklearn")
			}
			long := "60MiB"
			if stage.needs != "" {
				long = "5MiB" // it would take half a minute
			}
			c.shell(t, "conform -long "+long+" -stage "+stage.kind+" -- "+stage.command+" >&2")
		})
	}
	if endpoint.refused.Load() == 0 {
		t.Error("the endpoint has refused nothing, so the back-off was not tried")
	}

	t.Run("tokens", func(t *testing.T) {
		cmd := exec.Command("bash", "-c", `printf '{"v":1,"url":"http://a.test/","status_code":200,"text":"never seen"}\n' | CHAT_TOKENS=1 python3 "$EXAMPLES/score_chat.py"`)
		cmd.Dir, cmd.Env = c.dir, c.env
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "tokens are spent; raise CHAT_TOKENS and resume") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// shownStrategies writes the files that doc/guide/stages.md shows, and returns the commands that it runs in
// place of evolve.
func shownStrategies(t *testing.T, c *crawl) (commands []string) {
	text := testfile.Read(t, inRoot("doc", "guide", "stages.md"))
	file, evolve := regexp.MustCompile(`^cat >\w+\.(jq|py) <<'END'\n`), regexp.MustCompile(`^EVOLVE='(.*?)' `)
	for _, s := range sessions("doc/guide/stages.md", string(text)) {
		for _, typed := range s.commands {
			if file.MatchString(typed.text) {
				c.shell(t, typed.text)
			}
			if m := evolve.FindStringSubmatch(typed.text); m != nil {
				commands = append(commands, m[1])
			}
		}
	}
	if len(commands) < 2 {
		t.Fatalf("doc/guide/stages.md has the strategies %q", commands)
	}
	return commands
}

// shownIn returns what the group of a pattern matches in a document, without the prompts of a session.
func shownIn(t *testing.T, file, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindSubmatch(testfile.Read(t, inRoot(strings.Split(file, "/")...)))
	if m == nil {
		t.Fatalf("%s has nothing like %s", file, pattern)
	}
	return strings.ReplaceAll(string(m[1]), "\n> ", "\n")
}

// A chat is an endpoint that rates pages by their length. It refuses every third request.
type chat struct {
	*httptest.Server
	requests, refused atomic.Int64
}

func newChat() *chat {
	c := new(chat)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.requests.Add(1)%3 == 0 {
			c.refused.Add(1)
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		var q struct{ Messages []struct{ Content string } }
		var pages []struct{ Text string }
		b, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(b, &q)
		}
		if err == nil && len(q.Messages) == 2 {
			err = json.Unmarshal([]byte(q.Messages[1].Content), &pages)
		}
		if err != nil || len(pages) == 0 || len(pages) > 8 {
			http.Error(w, "no pages", http.StatusBadRequest)
			return
		}
		scores := make([]float64, len(pages))
		for i, p := range pages {
			scores[i] = float64(len(p.Text)%10) / 9
		}
		text, _ := json.Marshal(scores)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q}}],"usage":{"total_tokens":%d}}`, "Here: "+string(text), 10*len(pages))
	}))
	return c
}
