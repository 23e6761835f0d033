package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spoor/internal/report"
	"spoor/internal/testfile"
)

// TestReportInBrowser tests reports in a real browser, on wide and narrow screens, with light and
// dark colours. make test-browser sets
//
//	SPOOR_CHROMIUM  the program of the browser
//	SPOOR_SHOTS     a directory for screenshots
func TestReportInBrowser(t *testing.T) {
	program := os.Getenv("SPOOR_CHROMIUM")
	if program == "" {
		t.Skip("SPOOR_CHROMIUM is not set (make test-browser sets it)")
	}
	shots := os.Getenv("SPOOR_SHOTS")
	if shots != "" {
		testfile.Check(t, os.MkdirAll(shots, 0o777))
	}
	dir := t.TempDir()
	pages := makeReports(t, dir)
	b := startBrowser(t, program)
	for _, page := range pages {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 400} {
				name := fmt.Sprintf("%s-%s-%d", page.name, scheme, width)
				t.Run(name, func(t *testing.T) {
					b.t = t
					b.screen(width, scheme)
					b.open("file://" + filepath.Join(dir, page.name+".html"))
					b.look(page, scheme, width)
					if shots != "" {
						b.screenshotPage(shots, name, width)
					}
					b.use(page, scheme)
					for _, message := range b.console {
						t.Errorf("message in the browser's console: %s", message)
					}
					b.console = nil
				})
			}
		}
	}
}

// A reported page is a report, with its expected content.
type reported struct {
	name     string
	pictures int    // minimum number
	sorted   string // the header of a column of numbers to sort by
	lineage  bool   // whether it shows lineages
	words    string // part of its text
}

// screen sets the width of the window, and the colour scheme of the system.
func (b *browser) screen(width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 700}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// ask is await with a timeout of five seconds.
func (b *browser) ask(function string, result any) {
	b.t.Helper()
	b.await(function, 5*time.Second, result)
}

// look checks the page before any interaction.
func (b *browser) look(page reported, scheme string, width int) {
	b.t.Helper()
	var seen struct {
		Done            bool
		Text            string
		Width           int
		Pictures, Empty int
		Curves          int
		Beyond, Pale    []string
		Requests        int
		Ground          string
	}
	b.ask(`() => {
		if (document.readyState != "complete" || document.querySelector("#theme")?.hidden !== false) return {done: false};
		const visible = e => e.checkVisibility() && e.getClientRects().length > 0;
		const out = {done: true,
			text: document.body.innerText, width: document.documentElement.scrollWidth, pictures: 0, empty: 0, curves: 0, beyond: [], pale: [],
			requests: performance.getEntriesByType("resource").filter(r => !r.name.startsWith("data:")).length,
			ground: getComputedStyle(document.documentElement).backgroundColor};
		for (const svg of document.querySelectorAll("svg.chart")) {
			if (!visible(svg)) continue;
			out.pictures++;
			const box = svg.getBoundingClientRect();
			if (box.width < 80 || box.height < 20 || svg.querySelectorAll("path, rect, circle").length == 0) out.empty++;
			for (const path of svg.querySelectorAll("path.line.s1")) if (path.getTotalLength() > 20) out.curves++;
			for (const text of svg.querySelectorAll("text")) {
				const edge = text.getBoundingClientRect();
				if (edge.right > innerWidth + 1 || edge.left < -1) out.beyond.push(text.textContent);
			}
		}
		// The contrast ratio of WCAG 2.2, of all visible text.
		const channel = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
		const parse = c => {
			const n = c.match(/[\d.]+/g).map(Number);
			const rgb = c.startsWith("color(") ? n.slice(0, 3) : n.slice(0, 3).map(v => v / 255);
			return {rgb, alpha: n[3] ?? 1};
		};
		const luminance = rgb => .2126 * channel(rgb[0]) + .7152 * channel(rgb[1]) + .0722 * channel(rgb[2]);
		const ground = e => {
			for (; e; e = e.parentElement) {
				const c = parse(getComputedStyle(e).backgroundColor);
				if (c.alpha > .99) return c.rgb;
			}
			return [1, 1, 1];
		};
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let n = walk.nextNode(); n; n = walk.nextNode()) {
			const e = n.parentElement;
			if (!n.data.trim() || ["SCRIPT", "STYLE", "title", "desc"].includes(e.nodeName) || !visible(e) || e.closest(".hidden, .skip, .tip")) continue;
			const style = getComputedStyle(e), front = parse(e.closest("svg") ? style.fill : style.color);
			const a = luminance(front.rgb) + .05, b = luminance(ground(e)) + .05;
			if (Math.max(a / b, b / a) < 4.5 || front.alpha < 1) out.pale.push(n.data.trim());
		}
		return out;
	}`, &seen)
	switch {
	case !seen.Done:
		b.t.Fatalf("the page is not ready")
	case seen.Width > width:
		b.t.Errorf("the page is %d wide on a screen of %d", seen.Width, width)
	case seen.Pictures < page.pictures || seen.Empty > 0:
		b.t.Errorf("%d pictures, %d of them empty; want %d", seen.Pictures, seen.Empty, page.pictures)
	case seen.Curves < 1 && page.name != "comparison":
		b.t.Error("there is no curve")
	case seen.Requests > 0:
		b.t.Errorf("the page made %d requests", seen.Requests)
	case !strings.Contains(seen.Text, page.words):
		b.t.Errorf("the page does not contain %q", page.words)
	}
	if len(seen.Beyond) > 0 {
		b.t.Errorf("text beyond the edge of the window: %q", seen.Beyond)
	}
	if len(seen.Pale) > 0 {
		b.t.Errorf("%s: text with too little contrast: %q", scheme, slices.Compact(seen.Pale))
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	b.call("Accessibility.getFullAXTree", map[string]any{}, &tree)
	images := 0
	for _, n := range tree.Nodes {
		if role := n.Role.Value; !n.Ignored && (role == "image" || role == "img") {
			images++
			if n.Name.Value == "" || n.Name.Value == nil {
				b.t.Error("a picture has no name for screen readers")
			}
		}
	}
	if images != seen.Pictures {
		b.t.Errorf("screen readers find %d of %d pictures", images, seen.Pictures)
	}
	if dark := !strings.HasPrefix(seen.Ground, "rgb(2"); dark != (scheme == "dark") {
		b.t.Errorf("%s: the background is %s", scheme, seen.Ground)
	}
}

// use checks the interactive parts of the page: tooltips with the mouse, all others with the
// keyboard.
func (b *browser) use(page reported, scheme string) {
	b.t.Helper()
	var got struct {
		Done         bool
		Order, Value string
		After        []float64
		Height       float64
	}
	press := func() {
		b.t.Helper()
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}, nil)
		}
	}
	focus := func(element string) {
		b.t.Helper()
		b.ask(fmt.Sprintf(`() => {
			const e = %s;
			e?.focus();
			return {done: Boolean(e) && document.activeElement == e};
		}`, element), &got)
		if !got.Done {
			b.t.Fatalf("%s cannot be focused", element)
		}
	}

	if page.sorted != "" {
		button := fmt.Sprintf(`[...document.querySelectorAll("th button")].find(b => b.textContent == %q && b.checkVisibility())`, page.sorted)
		values := `(head => [...head.closest("table").tBodies[0].rows].map(r => r.cells[head.cellIndex]).map(c => parseFloat((c.dataset.v ?? c.textContent).replaceAll(",", "").replace("−", "-"))))(th)`
		before := ""
		for range 2 {
			focus(button)
			press()
			b.ask(fmt.Sprintf(`() => {
				const th = (%s).closest("th");
				return {done: Boolean(th.ariaSort) && th.ariaSort != %q, order: th.ariaSort ?? "", after: %s.filter(v => !Number.isNaN(v))};
			}`, button, before, values), &got)
			if !got.Done || len(got.After) < 2 {
				b.t.Errorf("sorted by %s: %q after %q, %d rows", page.sorted, got.Order, before, len(got.After))
			}
			before = got.Order
			known := slices.Sorted(slices.Values(got.After))
			if got.Order == "descending" {
				slices.Reverse(known)
			}
			if !slices.Equal(known, got.After) {
				b.t.Errorf("sorted by %s, %s: %v", page.sorted, got.Order, got.After)
			}
		}
	}

	if page.lineage {
		const first = `document.querySelector(".pages tbody tr:not([hidden]) summary")`
		focus(first)
		press()
		b.ask(fmt.Sprintf(`() => {
			const details = (%s).parentElement, list = details.querySelector(".lineage");
			return {done: details.open && list.getBoundingClientRect().height > 20, height: list.getBoundingClientRect().height, value: list.innerText};
		}`, first), &got)
		if !got.Done || !strings.Contains(got.Value, "in generation") {
			b.t.Errorf("the lineage does not unfold: %q", got.Value)
		}
	}

	// Pointing at a mark shows its tooltip.
	var mark struct {
		Done bool
		X, Y float64
		Tip  string
	}
	b.ask(`() => {
		const e = [...document.querySelectorAll("svg.chart [data-tip]")].find(e => e.checkVisibility());
		if (!e) return {done: false};
		if (!window.settled) { // scrolling hides the tooltip of another mark
			e.scrollIntoView({block: "center", behavior: "instant"});
			requestAnimationFrame(() => requestAnimationFrame(() => { window.settled = true }));
			return {done: false};
		}
		const box = e.getBoundingClientRect();
		return {done: true, x: box.x + box.width / 2, y: box.y + box.height / 2, tip: e.dataset.tip};
	}`, &mark)
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": mark.X, "y": mark.Y}, nil)
	b.ask(fmt.Sprintf(`() => {
		const tip = document.querySelector(".tip"), box = tip.getBoundingClientRect();
		return {done: tip.classList.contains("on") && tip.textContent == %q && box.left >= 0 && box.right <= innerWidth && box.top >= 0, value: tip.textContent};
	}`, mark.Tip), &got)
	if !mark.Done || !got.Done {
		b.t.Errorf("the tooltip is %q, want %q", got.Value, mark.Tip)
	}

	// The button switches between light and dark, and back.
	for _, want := range []string{map[string]string{"light": "dark", "dark": "light"}[scheme], scheme} {
		focus(`document.getElementById("theme")`)
		press()
		b.ask(fmt.Sprintf(`() => {
			const now = getComputedStyle(document.documentElement);
			return {done: now.colorScheme == %q, value: now.colorScheme};
		}`, want), &got)
		if !got.Done {
			b.t.Errorf("the button switches to %q, want %s", got.Value, want)
		}
	}
	b.ask(`() => { try { localStorage.clear() } catch {} return {done: true} }`, &got)
}

// screenshotPage writes a screenshot of the whole page to a file in dir.
func (b *browser) screenshotPage(dir, name string, width int) {
	b.t.Helper()
	var page struct {
		Done   bool
		Height int
	}
	b.ask(`() => ({done: true, height: document.documentElement.scrollHeight})`, &page)
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": map[string]any{"x": 0, "y": 0, "width": width, "height": min(page.Height, 12000), "scale": 1}}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// makeReports crawls, judges and compares, and writes the reports to dir.
func makeReports(t *testing.T, dir string) []reported {
	t.Helper()
	env := append(os.Environ(), environment(t)...)
	run := func(command string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command("bash", append([]string{"-euo", "pipefail", "-c", command, "bash"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, stderr.String())
		}
		return out
	}

	site := goDocs(t)
	web := httptest.NewServer(site)
	defer web.Close()
	run(`topic -query 'cryptography: ciphers, hashes, certificates, TLS' >topic.json
		echo "$1" >seeds.txt
		"$SPOOR/scripts/crawl" -run demo -topic topic.json -seeds seeds.txt -strategy niche -param lazy=true -pages 240 -size 40 -allow-private -delay 0s
		report -o demo.html demo
		cp -r demo judged
		gosite -labels -base "$1" >labels.ndjson
		judge -archive demo/warc -labels labels.ndjson -label crypto -t 240 -summary judged/judge.json -brief -tee judged/verdicts.ndjson.zst judged >/dev/null
		report -o judged.html judged`, web.URL)
	pages := []reported{
		{name: "demo", pictures: 4, sorted: "Score", lineage: true, words: "There are no labels to check it."},
		{name: "judged", pictures: 5, sorted: "Score", lineage: true, words: "a random crawl of the same web has"},
	}
	if data := shared(); data == "" {
		t.Log("no report of a crawl of WebKB, because SPOOR_SHARED is not set")
	} else {
		run(`mkdir web && ln -s "$1/webs/webkb.warc.gz" web/
			topic -query "$(cat "$1/webs/webkb-course/query.txt")" >webkb.json
			"$SPOOR/scripts/crawl" -run webkb -topic webkb.json -seeds "$1/webs/webkb-course/seeds-easy-1.txt" -strategy niche -pages 400 -archive web/webkb.warc.gz
			judge -archive web/webkb.warc.gz -labels "$1/webs/webkb.labels.ndjson" -label course -summary webkb/judge.json -brief -tee webkb/verdicts.ndjson.zst webkb >/dev/null
			report -o webkb.html webkb
			report -o several.html webkb demo`, data)
		pages = append(pages,
			reported{name: "webkb", pictures: 6, sorted: "Fetched", lineage: true, words: "clairvoyant"},
			reported{name: "several", pictures: 8, sorted: "Fetched", lineage: true, words: "Side by side"})
	}
	testfile.Write(t, filepath.Join(dir, "results.ndjson"), someResults(t))
	run(`report -o comparison.html -results results.ndjson -reference bestfirst`)
	var b bytes.Buffer
	if err := report.Write(&b, &report.Page{Runs: []*report.Run{hostileRun()}}); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "hostile.html"), b.Bytes())
	pages = append(pages, reported{name: "hostile", pictures: 4, sorted: "Score", lineage: true, words: "<script>alert(1)</script>"})
	return append(pages, reported{name: "comparison", pictures: 8, sorted: "Mean", words: "strategies compared"})
}

// hostileRun returns a run whose texts would break a page that does not escape or shorten them.
func hostileRun() *report.Run {
	word := "<script>alert(1)</script>" + strings.Repeat("x", 35)
	long := "https://host.example/" + strings.Repeat("y", 270)
	yields := []report.Yield{{Name: word, Fetched: 30, Relevant: 20}, {Name: "\u202e" + word, Fetched: 20, Relevant: 1}, {Name: "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", Fetched: 10, Relevant: 10}}
	r := &report.Run{
		Name: strings.Repeat("n", 60), Topic: strings.Repeat("t", 200), Strategy: word, StopReason: word, Settings: []report.Setting{{Name: word, Value: strings.Repeat("v", 200)}},
		Fetched: 60, Relevant: 31, SelfRelevant: 31, HostsTotal: 2, Hosts: []report.Host{{Name: word, Fetched: 40}, {Name: strings.Repeat("h", 60), Fetched: 20}},
		Curves:    report.Curves{Cost: []int{1, 30, 60}, Run: []float64{1, 20, 31}},
		Operators: yields, Niches: yields,
		Generations: []report.Generation{{First: 1, Last: 1, Fetched: 60, Relevant: 31, Operators: yields, Niches: yields}},
		Errors:      []report.Count{{Name: word, N: 1}},
		Fitness:     report.Histogram{Measure: word, Threshold: .5, Bins: []report.Bin{{From: 0, To: .5, Unlabelled: 29}, {From: .5, To: 1, Unlabelled: 31}}},
		PagesTotal:  2,
	}
	for i := range 2 {
		p := report.Found{Title: strings.Repeat(word, 3), URL: long, Href: "javascript:alert(1)", Score: .9 - float64(i)/10, Operator: word, Niche: word}
		p.Lineage = []report.Step{{Known: true, Title: word, URL: long, Operator: word, Parents: []string{long, long}}, {Known: true, URL: long, Query: word, Reasons: []report.Reason{{Name: word, Value: 1}}}}
		r.Pages = append(r.Pages, p)
	}
	return r
}

// someResults returns invented results in the form of scripts/compare.
func someResults(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	for s, name := range []string{"linearq", "niche", "tunnel", "bestfirst", "symbiosis", "breadthfirst", "random"} {
		for u := range 12 {
			v := .6 - .09*float64(s) + .05*math.Sin(float64(7*s+3*u))
			at := map[string]float64{}
			for i, cost := range []string{"100", "200", "500", "1000"} {
				at[cost] = math.Round(1e6*max(0, v*(1.1-.2*float64(i)))) / 1e6
			}
			if err := json.NewEncoder(&b).Encode(map[string]any{
				"v": 1, "name": name, "strategy": name, "track": "K", "web": "webkb", "topic": []string{"webkb-course", "webkb-project", "planetmath-20"}[u%3],
				"seeds": fmt.Sprintf("easy-%d", u/3), "seed": 1, "stop": "pages", "T": 1000, "R": 300, "fetched": 1000, "cost": 1000,
				"harvest": at["1000"], "recall": max(0, v), "nauc": v, "harvest_at": at, "recall_at": at,
				"seeing": map[string]float64{"nauc": .8}, "seeing_children": map[string]float64{"nauc": .86},
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Bytes()
}
