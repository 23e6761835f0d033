package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spoor/internal/archive"
	"spoor/internal/run"
	"spoor/internal/testfile"
)

// A comparison is a directory with an archived web of three hosts, of whose pages some are about
// jazz, and the other files that a plan requires.
type comparison struct{ *crawl }

const plan = `
# Strategies with a fixed topic, with one that is learned, with other stages, and a search.
web    hosts web.warc.gz labels.ndjson   # 120 pages
topic  jazz  hosts jazz query.txt positive.txt negative.txt
seeds  {topic}-{set}.txt easy hard
track  K bestfirst antnet tunnel -size 4
track  K niche -compat -size=4
track  E apprentice -size 4
track  Q symbiosis -size 4 -param mutation-every=2
pages  40
chance 3
reference bestfirst -size 4
`

func newComparison(t *testing.T) comparison {
	t.Helper()
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"FETCH", "PARSE", "SCORE", "EVOLVE", "SEARCH"}, name)
	})
	c := comparison{&crawl{dir: t.TempDir(), env: append(env, environment(t)...)}}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w, err := archive.NewWriter(archive.WriterOptions{Prefix: filepath.Join(c.dir, "web"), Host: "h", Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	capture := func(url, head, body string) {
		head = fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", head, len(body))
		if _, err := w.Write(&archive.Exchange{URL: url, Time: at, Head: []byte(head), Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	const pages = 120
	hosts := []string{"jazz", "blues", "tea"}
	name := func(i int) string { return fmt.Sprintf("http://%s.example/%d", hosts[i%3], i%pages) }
	words := []string{"Jazz saxophone: brass, reed and swing.", "Blues guitar: slide and twelve bars.", "Tea and cake: leaves, kettle and cups."}
	var labels strings.Builder
	for i := range pages {
		about := (i/2 + i/7) % 3
		var body strings.Builder
		fmt.Fprintf(&body, "<title>%s %d</title><p>%s", words[about][:5], i, strings.Repeat(words[about]+" ", 1+i%3))
		for k, link := range []string{
			name(2*i + 1), name(3*i + 2), fmt.Sprintf("http://jazz.example/old/%d", i/10), "http://nowhere.example/",
			// Spelled as no address of the archive is.
			fmt.Sprintf("HTTP://%s.EXAMPLE/./%d#top", hosts[(i+5)%3], (i+5)%pages), fmt.Sprintf("http://www.%s.example/%d", hosts[i%3], (i+9)%pages),
		} {
			fmt.Fprintf(&body, ` <a href="%s">%s</a>`, link, words[(i+k)%3])
		}
		capture(name(i), "200 OK", body.String())
		fmt.Fprintf(&labels, `{"url":"%s","labels":["%s"]}`+"\n", name(i), hosts[about])
	}
	for i := range 8 {
		capture(fmt.Sprintf("http://jazz.example/old/%d", i), "301 Moved\r\nLocation: "+name(4*i), "")
	}
	capture("http://jazz.example/old/8", "404 Not Found", "<p>jazz saxophone, not found")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"labels.ndjson": labels.String(),
		"query.txt":     "jazz saxophone",
		"positive.txt":  name(0) + "\n" + name(1) + "\n" + name(7) + "\n",
		"negative.txt":  name(2) + "\n" + name(4) + "\n" + name(3) + "\n",
		"jazz-easy.txt": name(0) + "\n" + name(1) + "\n",
		"jazz-hard.txt": name(4) + "\nhttp://jazz.example/old/2\n",
		"test.plan":     plan,
	} {
		testfile.Write(t, filepath.Join(c.dir, file), text)
	}
	c.shell(t, "mv web-*.warc.gz web.warc.gz")
	return c
}

// crawlJazz makes the topic, and the command line of a crawl of the archive from its easy seeds.
func (c comparison) crawlJazz(t *testing.T, mode string, flags ...string) {
	t.Helper()
	c.shell(t, `topic -query "$(<query.txt)" >topic.json`)
	c.args = append([]string{inRoot("scripts", "crawl"), "-topic", "topic.json", "-seeds", "jazz-easy.txt", "-archive", "web.warc.gz"}, flags...)
	c.args = append(c.args, "-steady="+strconv.FormatBool(mode == "steady"))
}

// crawlSite makes the topic, and the command line of a crawl of a site of treeOfPages.
func (c comparison) crawlSite(t *testing.T, mode, site string, flags ...string) {
	t.Helper()
	c.shell(t, `topic -query "$(<query.txt)" >topic.json; echo `+site+`/1 >seeds.txt`)
	c.args = append([]string{inRoot("scripts", "crawl"), "-topic", "topic.json", "-seeds", "seeds.txt", "-allow-private", "-delay", "0s", "-traps", "off", "-strategy", "breadthfirst", "-size", "8"}, flags...)
	c.args = append(c.args, "-steady="+strconv.FormatBool(mode == "steady"))
}

// compare is the command compare, with scripts/crawl on the PATH.
func (c comparison) compare(args ...string) *exec.Cmd {
	scripts := inRoot("scripts")
	bin := inRoot("bin")
	cmd := exec.Command(filepath.Join(bin, "compare"), args...)
	cmd.Dir, cmd.Env = c.dir, append(slices.Clone(c.env), "PATH="+strings.Join([]string{bin, scripts, os.Getenv("PATH")}, string(os.PathListSeparator)))
	return cmd
}

// write writes the plan.
func (c comparison) write(t *testing.T, plan string) {
	t.Helper()
	testfile.Write(t, filepath.Join(c.dir, "test.plan"), plan)
}

// read reads a file of the directory.
func (c comparison) read(t *testing.T, name string) string {
	t.Helper()
	b := testfile.Read(t, filepath.Join(c.dir, name))
	return string(b)
}

// A compared crawl fetches what scripts/crawl fetches with the same flags, in the same order
// and with the same scores.
func TestAComparedCrawlFetchesWhatItWouldHaveFetchedAlone(t *testing.T) {
	skipShort(t, "nothing is compared in a short test")
	c := newComparison(t)
	out, err := c.compare("-into", "whole", "test.plan").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	if table := c.read(t, "whole/table.md"); string(out) != table || strings.Count(table, "Track ") != 3 || !strings.Contains(table, "*bestfirst -size 4*") {
		t.Errorf("the table is\n%s\nand what was printed\n%s", table, out)
	}
	if n := strings.Count(c.read(t, "whole/results.ndjson"), `{"v":1,"name":"`); n != 12 {
		t.Errorf("%d results, want 12", n)
	}
	for _, gone := range []string{"work"} {
		if _, err := os.Stat(filepath.Join(c.dir, "whole", gone)); err == nil {
			t.Errorf("%s is left", gone)
		}
	}
	c.shell(t, `topic -query "$(<query.txt)" >topic.json
		for f in positive negative; do fetch -archive web.warc.gz $f.txt | parse >$f.ndjson; done
		topic -query "$(<query.txt)" -positive positive.ndjson -negative negative.ndjson >examples.json
		search -index web.db -archive web.warc.gz -query nothing`)
	for job, flags := range map[string]string{
		"K.bestfirst-size-4.jazz.easy.3":                        "-topic topic.json -strategy bestfirst",
		"K.antnet-size-4.jazz.hard.3":                           "-topic topic.json -strategy antnet",
		"K.tunnel-size-4.jazz.easy.3":                           "-topic topic.json -strategy tunnel",
		"K.niche-compat-size-4.jazz.easy.3":                     "-topic topic.json -strategy niche -compat",
		"E.apprentice-size-4.jazz.hard.3":                       "-topic examples.json -strategy apprentice -fitness classifier",
		"Q.symbiosis-size-4-param-mutation-every=2.jazz.easy.3": "-topic topic.json -strategy symbiosis -param mutation-every=2 -search web.db",
	} {
		t.Run(job, func(t *testing.T) {
			t.Parallel()
			set := strings.Split(job, ".jazz.")[1][:4]
			c.shell(t, fmt.Sprintf("bash $SPOOR/scripts/crawl -run %s -seeds jazz-%s.txt -pages 40 -size 4 -seed 3 -archive web.warc.gz %s", job, set, flags))
			want := c.order(t, job)
			var got []byte
			for _, rec := range decode(t, c.shell(t, "score -keep -topic topic.json whole/jobs/"+job+"/order.ndjson.zst")) {
				got = fmt.Appendf(got, "%d %s%s %s %d %v\n", rec.Generation, rec.URL, rec.Query, rec.Operator, rec.Cost, rec.Score)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("compared, the crawl fetched\n%s\ninstead of\n%s", got, want)
			}
		})
	}
}

// A comparison that is killed, with all its crawls or alone, gives the same results when
// it is started again, however many crawls there are at a time.
func TestAComparisonKilledGivesTheSameResults(t *testing.T) {
	skipShort(t, "nothing is compared in a short test")
	c := newComparison(t)
	head, _, _ := strings.Cut(plan, "track")
	c.write(t, head+"track K tunnel bestfirst\ntrack Q symbiosis -param mutation-every=2\npages 60\n")
	begun := time.Now()
	if out, err := c.compare("-into", "whole", "-j", "2", "test.plan").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := time.Since(begun)
	rng := rand.New(rand.NewPCG(1, 2))
	const most = 9
	for kills := 0; ; kills++ {
		cmd := c.compare("-into", "killed", "-j", fmt.Sprint(1+kills%3), "test.plan")
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var now <-chan time.Time
		if kills < most {
			now = time.After(time.Duration(rng.Int64N(int64(whole) / 4)))
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, said.Bytes())
			}
			t.Logf("%d kills", kills)
		case <-now:
			err, want := error(nil), 137
			switch kills % 3 {
			case 0: // with all its crawls
				crawls := children(cmd.Process.Pid)
				err = cmd.Process.Kill()
				for _, pid := range crawls {
					_ = killGroup(&exec.Cmd{Process: &os.Process{Pid: pid}})
				}
			case 1: // alone
				err = cmd.Process.Kill()
			case 2:
				err, want = cmd.Process.Signal(os.Interrupt), 130
			}
			if err != nil {
				t.Fatal(err)
			}
			got := exitStatus(<-ended)
			if got == want {
				continue
			}
			if got != 0 { // it was quicker
				t.Fatalf("killed, it ended with status %d, want %d\n%s", got, want, said.Bytes())
			}
		}
		break
	}
	for _, file := range []string{"results.ndjson", "table.md"} {
		if got, want := c.read(t, "killed/"+file), c.read(t, "whole/"+file); got != want {
			t.Errorf("killed, %s is\n%s\ninstead of\n%s", file, got, want)
		}
	}
}

// If a plan grows, only its new crawls are run, and the results have the order of the plan. A plan
// that changes the meaning of a name needs another directory.
func TestAPlanMayGrow(t *testing.T) {
	skipShort(t, "nothing is compared in a short test")
	c := newComparison(t)
	c.shell(t, "mkdir warcs && mv web.warc.gz warcs") // a directory will do
	head, _, _ := strings.Cut(strings.Replace(plan, "web.warc.gz", "warcs", 1), "track")
	start := func(want int) string {
		t.Helper()
		out, err := c.compare("-into", "a directory", "-j", "3", "test.plan").CombinedOutput()
		if got := exitStatus(err); got != want {
			t.Fatalf("status %d, want %d\n%s", got, want, out)
		}
		return string(out)
	}
	names := func() (jobs []string) {
		for line := range strings.Lines(c.read(t, "a directory/times.ndjson")) {
			jobs = append(jobs, strings.Split(line, `"`)[3])
		}
		return jobs
	}
	c.write(t, head+"track K random\npages 10\n")
	start(0)
	before := c.read(t, "a directory/times.ndjson")
	c.write(t, head+"track K breadthfirst random\npages 10\nchance 2 1\n")
	said := start(0)
	if strings.Count(said, ": nAUC ") != 6 || strings.Contains(said, "K.random.jazz.easy.1:") {
		t.Errorf("of 8 crawls, 2 of which were done, compare says\n%s", said)
	}
	want := []string{"K.breadthfirst.jazz.easy.2", "K.breadthfirst.jazz.easy.1", "K.breadthfirst.jazz.hard.2", "K.breadthfirst.jazz.hard.1",
		"K.random.jazz.easy.2", "K.random.jazz.easy.1", "K.random.jazz.hard.2", "K.random.jazz.hard.1"}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	for line := range strings.Lines(before) {
		if !strings.Contains(c.read(t, "a directory/times.ndjson"), line) {
			t.Errorf("%s was done again", line)
		}
	}
	c.write(t, head+"track K random\npages 11\n")
	if said := start(2); !strings.Contains(said, "a directory was begun with another number of pages: give") {
		t.Error(said)
	}
	c.write(t, head+"track K random\npages 10\n")
	held, err := run.Dir(filepath.Join(c.dir, "a directory")).Hold()
	if err != nil {
		t.Fatal(err)
	}
	if said := start(1); !strings.Contains(said, "is at work on a directory: wait for it") {
		t.Error(said)
	}
	held.Close()
	start(0)
	c.shell(t, "echo saxophone >query.txt")
	if said := start(2); !strings.Contains(said, "was begun with another query of the topic jazz") {
		t.Error(said)
	}
}

// children returns the children of a process, or none on systems without /proc.
func children(pid int) (pids []int) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, name := range lists {
		b, _ := os.ReadFile(name)
		for word := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(word); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// A strategy or a score by command gives the same results as spoor's own if it does the same, and
// the results name the command. If one fails, only its own crawls fail.
func TestProgramsOfTheUserAreCompared(t *testing.T) {
	skipShort(t, "nothing is compared in a short test")
	c := newComparison(t)
	head, _, _ := strings.Cut(plan, "track")
	const (
		evolve = `evolve -strategy breadthfirst -topic "$SPOOR_TOPIC" -state "$SPOOR_RUN/mine" -generation "$SPOOR_GENERATION" -n "$SPOOR_N" -seed "$SPOOR_SEED" | sed -e 's/ #/&/'`
		score  = `score -topic "$SPOOR_TOPIC" -fitness wordscore`
	)
	c.write(t, head+`
evolve mine `+evolve+`
evolve lost echo no strategy >&2; exit 5
score  ws   `+score+`
track K mine breadthfirst -size 4
track K bestfirst -size 4 -fitness wordscore
track K bestfirst -size 4 -score ws -fitness wordscore
track K lost -size 4
pages 30
reference mine -size 4
`)
	out, err := c.compare("-into", "whole", "-j", "2", "test.plan").CombinedOutput()
	if status := exitStatus(err); status != 1 {
		t.Fatalf("status %d, want 1\n%s", status, out)
	}
	for _, want := range []string{"K.lost-size-4.jazz.easy.1 failed with status", "no strategy", "2 of 10 crawls failed", "| *mine -size 4*"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	type result struct {
		Name, Strategy, Seeds, Stop string
		Evolve                      string `json:"evolve_command"`
		Score                       string `json:"score_command"`
		NAUC, AUC, Harvest, Recall  float64
	}
	results := map[string]result{}
	for _, r := range jsonLines[result](t, c.read(t, "whole/results.ndjson")) {
		results[r.Name+" "+r.Seeds] = r
	}
	if len(results) != 8 {
		t.Errorf("%d results, want 8", len(results))
	}
	for _, set := range []string{"easy", "hard"} {
		want := results["breadthfirst -size 4 "+set]
		want.Name, want.Strategy, want.Evolve = "mine -size 4", "mine", evolve
		if got := results[want.Name+" "+set]; got != want {
			t.Errorf("by command, the strategy gave %+v, want %+v", got, want)
		}
		want = results["bestfirst -size 4 -fitness wordscore "+set]
		want.Name, want.Score = "bestfirst -size 4 -score ws -fitness wordscore", score
		if got := results[want.Name+" "+set]; got != want {
			t.Errorf("by command, the score gave %+v, want %+v", got, want)
		}
	}
	if settings := c.read(t, "whole/jobs/K.mine-size-4.jazz.easy.1/settings"); !strings.Contains(settings, "replaced evolve\n") {
		t.Errorf("the settings are\n%s", settings)
	}
	c.write(t, strings.Replace(c.read(t, "test.plan"), "exit 5", "exit 6", 1))
	if out, err := c.compare("-into", "whole", "test.plan").CombinedOutput(); exitStatus(err) != 2 || !strings.Contains(string(out), "was begun with another command of the strategy lost") {
		t.Errorf("%v\n%s", err, out)
	}
}
