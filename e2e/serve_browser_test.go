package e2e

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"spoor/internal/testfile"
)

// TestServeInBrowser watches a crawl in a real browser, from its first page to its last, and stops and continues
// it there. make test-browser sets
//
//	SPOOR_CHROMIUM  the program of the browser
//	SPOOR_AXE       the file axe.min.js of npm's axe-core, which checks the pages for people who use screen
//	                readers or the keyboard
//	SPOOR_SHOTS     a directory for screenshots
func TestServeInBrowser(t *testing.T) {
	program, axe, shots := os.Getenv("SPOOR_CHROMIUM"), os.Getenv("SPOOR_AXE"), os.Getenv("SPOOR_SHOTS")
	if program == "" || axe == "" {
		t.Skip("SPOOR_CHROMIUM and SPOOR_AXE are not set (make test-browser sets them)")
	}
	if shots != "" {
		testfile.Check(t, os.MkdirAll(shots, 0o777))
	}
	checker := string(testfile.Read(t, axe))
	web := httptest.NewServer(http.HandlerFunc(hostilePage))
	defer web.Close()
	dir := t.TempDir()
	testfile.Check(t, os.Mkdir(filepath.Join(dir, "runs"), 0o777))
	env := append(os.Environ(), environment(t)...)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	start := func(command string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", command, "bash"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 20 * time.Second
		return cmd
	}
	// serve starts the server, and returns its link.
	serve := func(addr string) (server *exec.Cmd, link string) {
		server = start(`PATH=$SPOOR/bin:$SPOOR/scripts:$PATH exec serve -addr "$1" -token-file token -control -crawl-flag -allow-private=true -crawl-flag -delay=0s -index pages.db runs`, addr)
		stderr, err := server.StderrPipe()
		testfile.Check(t, err)
		testfile.Check(t, server.Start())
		first, err := bufio.NewReader(stderr).ReadString('\n')
		testfile.Check(t, err)
		return server, strings.TrimPrefix(strings.TrimSpace(first), "serve: open ")
	}
	server, link := serve("127.0.0.1:0")
	defer func() {
		end()
		server.Wait()
	}()
	address, _, _ := strings.Cut(link, "?")

	b := startBrowser(t, program)
	var got struct {
		Done bool
		Text string
	}
	await := func(what, condition string) {
		t.Helper()
		b.await(fmt.Sprintf(`() => ({done: Boolean(document.body && (%s)), text: document.body?.innerText ?? ""})`, condition), time.Minute, &got)
		if !got.Done {
			t.Fatalf("%s: the page is\n%s", what, got.Text)
		}
	}
	quiet := func() {
		t.Helper()
		for _, message := range b.console {
			t.Errorf("message in the browser's console: %s", message)
		}
		b.console = nil
	}
	check := func(name string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 400} {
				b.screen(width, scheme)
				await("the width", fmt.Sprintf(`innerWidth == %d`, width))
				await("wider than the screen", `document.documentElement.scrollWidth <= innerWidth`)
				violations := b.violations(checker)
				for _, v := range violations {
					t.Errorf("%s, %s, %d: %s", name, scheme, width, v)
				}
				if shots != "" {
					b.screenshotPage(shots, fmt.Sprintf("serve-%s-%s-%d", name, scheme, width), width)
				}
			}
		}
		b.screen(1280, "light")
	}

	b.open(link)
	await("the empty list", `location.search == "" && document.querySelector("h1")?.textContent == "Crawls" && document.body.innerText.includes("There is no run")`)
	await("the connection", `document.getElementById("connection").textContent == "live"`)
	check("empty")

	crawl := start(`"$SPOOR/scripts/crawl" -run runs/deer -topic 'deer, moss' -strategy bestfirst -pages 5000 -size 8 -allow-private -delay 0s "$1"`, web.URL+"/1")
	output, err := os.Create(filepath.Join(dir, "crawl.log"))
	testfile.Check(t, err)
	crawl.Stdout, crawl.Stderr = output, output
	testfile.Check(t, crawl.Start())
	await("the crawl appears in the list", `document.querySelector('a[href="/run/deer/"]') && document.querySelector(".state.running")`)
	check("list")
	b.evaluate(`document.querySelector('a[href="/run/deer/"]').click()`)
	const fetched = `Number(document.querySelector("[data-number=fetched]")?.textContent.replaceAll(",", ""))`
	await("the page of the run", `document.querySelector("h1")?.textContent == "deer" && `+fetched+` > 0`)
	b.evaluate(`window.unchanged = ` + fetched)
	await("the numbers change", fetched+` > window.unchanged + 8`)
	await("the tables change", `document.querySelector("#last-title") && document.querySelector("#next-title") && document.querySelector("#found-title")`)
	await("a hostile title is text", `document.body.innerText.includes("<script>window.harmed")`)
	check("running")

	// The keyboard is enough to stop the crawl.
	press := func(element string) {
		t.Helper()
		await("the focus of "+element, fmt.Sprintf(`(e => { e?.focus(); return e && document.activeElement == e })(document.querySelector(%q))`, element))
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}, nil)
		}
	}
	press(`form[action=stop] button`)
	await("the crawl stops", `document.querySelector(".state.ended") && document.body.innerText.includes("It was stopped by its stop file.")`)
	if err := crawl.Wait(); err != nil {
		t.Errorf("the crawl: %v\n%s", err, testfile.Read(t, output.Name()))
	}
	await("it can be continued", `document.querySelector("form[action=continue]")`)
	check("stopped")

	quiet()

	// The page connects again to a server that was restarted.
	testfile.Check(t, server.Process.Signal(os.Interrupt))
	server.Wait() // the status is that of the signal
	await("the server ends", `document.getElementById("connection").textContent == "not connected"`)
	server, _ = serve(strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/"))
	await("it is there again", `document.getElementById("connection").textContent == "live"`)
	b.console = nil // failed connections
	b.evaluate(`window.pages = document.querySelector("input[name=pages]").value = ` + fetched + ` + 40`)
	var more struct {
		Done  bool
		Pages int
	}
	b.await(`() => ({done: true, pages: window.pages})`, time.Minute, &more)
	press(`form[action=continue] button`)
	await("it ends", `document.querySelector(".state.ended") && document.body.innerText.includes("its fetches were spent")`)
	await("it has all pages", fetched+` == `+strconv.Itoa(more.Pages))
	press(`form[action=make] button`)
	await("the report", `document.querySelector("a[href=report]")`)
	check("ended")
	await("no script of a page has run", `!("harmed" in window) && !document.querySelector("#live script, #live img")`)
	b.evaluate(`document.querySelector("a[href=report]").click()`)
	await("the report opens, with its style and its script", `document.getElementById("theme")?.hidden === false && getComputedStyle(document.body).maxWidth == "1160px"`)
	await("it is an origin of its own", `self.origin == "null"`)
	quiet()

	// A crawl is begun by a form.
	b.open(address)
	await("the link to the form", `document.querySelector('a[href="/begin"]')`)
	b.evaluate(`document.querySelector('a[href="/begin"]').click()`)
	await("the form", `document.querySelector("form.fields #seeds")`)
	check("begin")
	fill := func(name, value string) {
		t.Helper()
		b.evaluate(fmt.Sprintf(`document.getElementById(%q).value = %q`, name, value))
	}
	fill("words", "moss <b> 'deer'")
	fill("seeds", "no address\n"+web.URL+"/1")
	fill("pages", "6")
	fill("name", "moss")
	press(`form.fields button`)
	await("a wrong value", `document.querySelector("#seeds[aria-invalid=true]")?.getAttribute("aria-describedby").includes("seeds-error") && document.querySelector("#seeds-error").textContent.startsWith("Line 1 ")`)
	check("begin-wrong")
	b.console = nil // status 400
	fill("seeds", web.URL+"/1")
	press(`form.fields button`)
	await("the command line", `document.querySelector(".command code")?.textContent.endsWith("/moss '-topic=moss <b> '\\''deer'\\''' -strategy forage -pages 6 -allow-private=true -delay=0s `+web.URL+`/1")`)
	check("begin-command")
	b.call("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}}, nil)
	press(`#copy-begin`)
	await("the button says that the command line is copied", `document.querySelector("#copy-begin").textContent.startsWith("Copied")`)
	b.evaluate(`window.copied = null; navigator.clipboard.readText().then(text => { window.copied = text }, e => { window.copied = String(e) })`)
	await("the command line is in the clipboard", `window.copied == document.querySelector(".command code").textContent`)
	fill("pages", "7")
	press(`#words`) // Enter does not begin it
	await("the command line of other values", `document.querySelector(".command code")?.textContent.includes(" -pages 7 ")`)
	fill("pages", "5") // Begin sends what is in the form
	press(`.command button[name=begin]`)
	await("the page of the new run", `document.querySelector("h1")?.textContent == "moss" && location.pathname == "/run/moss/"`)
	await("the new crawl ends", `document.querySelector(".state.ended") && document.body.innerText.includes("its fetches were spent") && document.querySelector("[data-number=of]").textContent.startsWith("of 5,")`)
	name := func(button string) {
		t.Helper()
		b.evaluate(`window.before = true`)
		press(button)
		await("the page is loaded again", `!window.before && document.readyState == "complete"`)
	}
	name(`#last button[value=no]`)
	await("a page is an example", `document.querySelector("#examples tbody tr")?.textContent.startsWith("no") && document.querySelector("#last").innerText.includes("not about it")`)
	check("examples")
	name(`#last button[value=yes]`)
	await("it is one of the other kind", `document.querySelector("#examples tbody tr")?.textContent.startsWith("yes")`)
	name(`#examples button[value=undo]`)
	await("it is none any more", `document.querySelector("#last") && !document.querySelector("#examples")`)
	quiet()

	// What was captured can be searched, as soon as it is in the index, and read.
	for tries := 0; ; tries++ {
		b.open(address + "search?q=moss")
		b.await(`() => ({done: Boolean(document.querySelector(".hits li")), text: document.body?.innerText ?? ""})`, 2*time.Second, &got)
		if got.Done {
			break
		}
		if tries == 30 {
			t.Fatalf("nothing is found: %s", got.Text)
		}
	}
	await("words are marked, and titles are text", `document.querySelector(".hits mark")?.textContent == "moss" && document.querySelector(".hits h3").innerText.includes("<script>window.harmed")`)
	check("search")
	b.evaluate(`document.querySelector("#q").value = "nothingatall"; document.querySelector("form.ask").requestSubmit()`)
	await("another query", `new URLSearchParams(location.search).get("q") == "nothingatall" && document.body.innerText.includes("No page has these words")`)
	check("not-found")
	b.open(address + "search?q=moss")
	await("the first query again", `document.querySelector(".hits a[href^='/cached']")`)
	b.evaluate(`document.querySelector('.hits a[href^="/cached"]').click()`)
	await("the capture is in a frame of another origin", `(f => f && !f.contentDocument)(document.querySelector("iframe"))`)
	await("its script has not run", `!("harmed" in window)`)
	quiet()
	check("capture")
	b.console = nil // axe-core sends the frame messages, which do not arrive

	// A link of another site leads to the page for those who have the cookie, and only for them.
	follow := func() {
		b.open(`data:text/html,<a href="` + address + `run/deer/">a link</a>`)
		await("the other site", `location.protocol == "data:" && document.querySelector("a")`)
		b.evaluate(`document.querySelector("a").click()`)
	}
	follow()
	await("the page, by a link of another site", `document.querySelector("h1")?.textContent == "deer"`)
	b.call("Network.clearBrowserCookies", map[string]any{}, nil)
	for _, open := range []func(){follow, func() { b.open(address + "run/deer/") }} {
		open()
		await("a token is needed", `document.body.innerText.includes("A token is needed")`)
	}
}

// evaluate runs a statement in the page.
func (b *browser) evaluate(statement string) {
	b.t.Helper()
	var answer struct{ ExceptionDetails any }
	b.call("Runtime.evaluate", map[string]any{"expression": statement, "userGesture": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", statement, answer.ExceptionDetails)
	}
}

// violations returns what axe-core finds wrong in the page.
func (b *browser) violations(checker string) []string {
	b.t.Helper()
	b.evaluate(`if (!window.axe) { ` + checker + ` }; window.found = null; axe.run().then(r => { window.found = r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html.slice(0, 200) + " " + n.failureSummary).join("; ")) }, e => { window.found = [String(e)] }); 0`)
	var got struct {
		Done  bool
		Found []string
	}
	b.await(`() => ({done: Boolean(window.found), found: window.found})`, time.Minute, &got)
	if !got.Done {
		b.t.Fatal("axe-core does not end")
	}
	return got.Found
}

// hostilePage answers with a page about deer and moss, slowly. Its title would be a script.
func hostilePage(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	time.Sleep(40 * time.Millisecond)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	words := "houses and streets"
	if n%3 != 0 {
		words = "deer eat moss, and moss grows where deer do not eat it"
	}
	fmt.Fprintf(w, "<!doctype html><title>%s</title><p>%s", html.EscapeString(fmt.Sprintf(`<script>window.harmed = %d</script><img src=x onerror="window.harmed = 1">`, n)), words)
	for i := range 40 { // otherwise the pages would be copies of each other
		fmt.Fprintf(w, " %s", strconv.FormatInt(int64(n*7919+i*i*104729), 36))
	}
	for i := range 6 {
		fmt.Fprintf(w, ` <a href="/%d">page %[1]d</a>`, n*3+i*7)
	}
}
