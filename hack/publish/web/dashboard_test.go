/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package web

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sigs.k8s.io/jobset/hack/publish/browser"
	"sigs.k8s.io/jobset/pkg/dashboard"
)

var pictures = flag.String("pictures", "", "directory for pictures of the page; those of the documentation are in docs/pictures")

// serving opens the page of a scene, and says where it is. The browser's console must stay empty.
func serving(t *testing.T, s *scene, v browser.View) (tab, string) {
	t.Helper()
	server := dashboard.NewServer(s.Board)
	web := httptest.NewServer(server)
	t.Cleanup(web.CloseClientConnections)
	t.Cleanup(func() { go web.Close() }) // which waits for pages that are open
	p := tab{t, browse(t)}
	p.as(v)
	go func() {
		for message := range chromedp.Console(p.ctx) {
			if message.Text != "" && !strings.Contains(message.URL, "favicon.ico") { // the last one says that the page is closed
				t.Errorf("the page wrote to the console: %s", message)
			}
		}
	}()
	address := web.URL + server.Path()
	p.do("opening the page", chromedp.Navigate(address+"#research/train"))
	p.is("loading", `document.getElementById("name").textContent === "research/train"`)
	return p, address
}

func states(text string) string {
	return fmt.Sprintf("document.getElementById('states').innerText.includes(%q)", text)
}

func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

var sizes = []int{2, 20, 5000}

func TestThePageShowsAGroupRestart(t *testing.T) {
	for _, workers := range sizes {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			s := newScene(workers)
			p, _ := serving(t, s, desktop)
			p.is("loading", states(number(workers)+" running"))

			start := time.Now()
			s.fail(workers - 1)
			p.is("the break", states("1 failed"))
			within(t, "a failure", start)
			s.replace(workers - 1)
			for i := range workers * 3 / 5 {
				s.report(i)
			}
			start = time.Now()
			p.is("the reports", states(number(workers*3/5)+" held at the barrier"))
			within(t, "reports", start)
			p.is("the steps", `[...document.querySelectorAll("#steps b")].map((b) => b.textContent).join() === "Failure ✓,Break ✓,Reports,Lift"`)
			for _, v := range []browser.View{desktop, dark, phone} {
				p.as(v)
				looksRight(p, v, fmt.Sprintf("dashboard-%d-%s.png", workers, v.Name))
			}
			for i := workers * 3 / 5; i < workers; i++ {
				s.report(i)
			}
			s.lift()
			start = time.Now()
			p.is("the lift", states(number(workers)+" running"))
			within(t, "the lift", start)
			p.is("the history", `document.querySelectorAll("#history tbody tr").length === 4`)
		})
	}
}

// within fails if a change took more than a second to be seen.
func within(t *testing.T, what string, start time.Time) {
	t.Helper()
	took := time.Since(start)
	t.Logf("%s seen after %d ms", what, took.Milliseconds())
	if took > time.Second {
		t.Errorf("%s seen after %s, which must take less than a second", what, took)
	}
}

// looksRight fails if the page scrolls sideways, covers a text, or writes one with too little contrast.
func looksRight(p tab, v browser.View, picture string) {
	p.t.Helper()
	p.do("scrolling up", chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0)"))
	if *pictures != "" {
		p.picture(*pictures, picture)
	}
	p.do("making the window high", chromedp.EmulateViewport(v.Width, get[int64](p, "document.documentElement.scrollHeight")))
	p.is(v.Name+": the cells are drawn again, no wider than the window", "document.querySelector('#grid canvas').getBoundingClientRect().width <= innerWidth")
	for _, found := range get[[]string](p, browser.Measure) {
		p.t.Errorf("%s: %s", v.Name, found)
	}
}

func TestFiveThousandWorkersRestartWithoutAStutter(t *testing.T) {
	const workers = 5000
	s := newScene(workers)
	p, _ := serving(t, s, desktop)
	p.is("loading", states("5,000 running"))
	p.do("counting frames", chromedp.Evaluate[chromedp.Void](`
		window.frames_ = []; window.tasks_ = [];
		let last = performance.now();
		const tick = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
		new PerformanceObserver((list) => list.getEntries().forEach((e) => tasks_.push(e.duration))).observe({ entryTypes: ["longtask"] });
		undefined`))
	s.fail(0)
	s.replace(0)
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for i := range workers { // all of them in two seconds, as in a fast restart
		if i%50 == 0 {
			<-every.C
		}
		s.report(i)
	}
	s.lift()
	p.is("the lift", states("5,000 running"))
	p.is("how the workers came back", `document.querySelector("#curve svg[aria-label$='to 5000 of 5000'] polyline") !== null`)
	frames, tasks := get[[]float64](p, "frames_"), get[[]float64](p, "tasks_")
	slices.Sort(frames)
	at := func(share float64) float64 { return frames[int(share*float64(len(frames)-1))] }
	t.Logf("%d frames while %d workers restart: median %.1f ms, 95%% %.1f ms, 99%% %.1f ms, longest %.1f ms; tasks above 50 ms: %.0f", len(frames), workers, at(.5), at(.95), at(.99), at(1), tasks)
	if at(.95) > 50 || at(1) > 250 {
		t.Errorf("the page stutters: of 100 frames 95 take at most %.0f ms, want 50, and the longest takes %.0f ms, want at most 250", at(.95), at(1))
	}
}

func TestTheTimeLineSaysWhatTheTimeWentTo(t *testing.T) {
	s := newScene(20)
	p, _ := serving(t, s, desktop)
	line := func(want string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#line span")].map((e) => e.className).join() === %q`, want)
	}
	sofar := "waiting,training,restart,training,hang,restart,training,planned,training"
	p.is("P141: the phases", line(sofar))
	if goodput := get[string](p, `document.querySelector("#spent dd").textContent`); !regexp.MustCompile(`^9[0-9]\.[0-9] %$`).MatchString(goodput) {
		t.Errorf("goodput is %q", goodput)
	}
	last := `parseFloat(document.querySelector("#line span:last-child").style.flexGrow)`
	grown := get[float64](p, last) + 1
	p.is("P141: the phase that lasts grows", fmt.Sprintf("%s > %f", last, grown))
	if width := get[float64](p, `document.querySelector("#line .hang").getBoundingClientRect().width`); width < 2 {
		t.Errorf("a hang of 30 s is %.1f pixels wide", width)
	}
	s.fail(7)
	p.is("P141: a failure", line(sofar+",restart"))
	for i := range 20 {
		s.report(i)
	}
	s.lift()
	p.is("P141: its end", line(sofar+",restart,training"))
	p.is("P142: a planned restart reads as such", `document.getElementById("history").innerText.includes("ReplicatedJob workers from 20 to 24 Pods")`)
	for _, name := range []string{"hang: 30.0s", "planned restart: 12.0s", "restart after a failure: "} {
		if pictures := p.spoken()["image"]; !slices.ContainsFunc(pictures, func(text string) bool { return strings.HasPrefix(text, "From ") && strings.Contains(text, name) }) {
			t.Errorf("a screen reader is not told %q: %q", name, pictures)
		}
	}
}

func TestThePageWorksByKeyboardAndForScreenReaders(t *testing.T) {
	s := newScene(20)
	p, _ := serving(t, s, desktop)
	p.is("loading", states("20 running"))
	focus := `document.activeElement.id === "grid"`
	for range 12 { // the skip link, the list, then the grid
		if get[bool](p, focus) {
			break
		}
		p.do("tabbing", chromedp.KeyEvent(kb.Tab))
	}
	p.is("tabbing to the grid", focus)
	cell := `document.getElementById(document.getElementById("grid").getAttribute("aria-activedescendant")).ariaLabel`
	for _, step := range []struct{ key, want string }{
		{kb.ArrowRight, "workers-0-1: running, epoch 4, on node-0"}, {kb.End, "workers-0-19: running, epoch 4, on node-2"},
		{kb.ArrowLeft, "workers-0-18: running"}, {kb.Home, "workers-0-0: running"}, {kb.ArrowLeft, "workers-0-0: running"},
	} {
		p.do("pressing a key", chromedp.KeyEvent(step.key))
		if got := get[string](p, cell); !strings.HasPrefix(got, step.want) {
			t.Errorf("the cell with the focus is %q, want %q", got, step.want)
		}
	}
	p.do("focusing a link", chromedp.Evaluate[chromedp.Void](`document.querySelector('nav a[href="#research/later"]').focus()`))
	s.fail(7)
	p.is("the break", states("1 failed"))
	if !get[bool](p, `document.activeElement.getAttribute("href") === "#research/later"`) {
		t.Error("a change took the focus away")
	}
	p.do("focusing the grid", chromedp.Focus("#grid"))
	p.do("asking for trouble", chromedp.KeyEvent("n"))
	p.is("the worker that failed", cell+`.startsWith("workers-0-7: failed")`)
	p.is("a change of the state, said", `document.getElementById("said").textContent.includes("assembling")`)

	names := p.spoken()
	if !slices.Contains(names["grid"], "20 workers of research/train") {
		t.Errorf("grids are named %q", names["grid"])
	}
	for _, role := range []string{"link", "button", "table", "grid", "gridcell", "region", "navigation", "list", "heading"} {
		for _, name := range names[role] {
			if name == "" && role != "list" {
				t.Errorf("a %s has no name", role)
			}
		}
		if len(names[role]) == 0 {
			t.Errorf("a screen reader is given no %s", role)
		}
	}
}

func TestThePageFollowsTheModeOfTheDesktop(t *testing.T) {
	p, _ := serving(t, newScene(20), desktop)
	p.is("loading", states("20 running"))
	drawn := `document.querySelector("#grid canvas").toDataURL()`
	colours := func() string {
		return get[string](p, `getComputedStyle(document.body).backgroundColor`)
	}
	light, cells := colours(), get[string](p, drawn)
	p.as(dark)
	p.is("cells in other colours", drawn+" !== "+fmt.Sprintf("%q", cells))
	if night := colours(); night == light {
		t.Errorf("the background is %s in both modes", light)
	}
}

func TestABrowserThatIsOpenedByAFileSeesThePage(t *testing.T) {
	server := dashboard.NewServer(newScene(2).Board)
	web := httptest.NewServer(server)
	t.Cleanup(web.CloseClientConnections)
	t.Cleanup(func() { go web.Close() })
	file := filepath.Join(t.TempDir(), "dashboard.html")
	if err := os.WriteFile(file, []byte(dashboard.Redirect(web.URL+server.OncePath())), 0o600); err != nil {
		t.Fatal(err)
	}
	p := tab{t, browse(t)}
	p.do("opening the file, and waiting for the page to which it leads", chromedp.Navigate("file://"+file), chromedp.WaitVisible("#name"))
	p.is("the page, by its cookie, and what it follows", `document.getElementById("name")?.textContent.startsWith("research/") === true`)
	if at := get[string](p, "location.href"); strings.Contains(at, server.Path()) || strings.Contains(at, server.OncePath()) {
		t.Errorf("the page is at %s, which needs no cookie", at)
	}
	if cookie := get[string](p, "document.cookie"); cookie != "" {
		t.Errorf("scripts can read the cookie %q", cookie)
	}
}

func TestAStrangerSeesNothing(t *testing.T) {
	s := newScene(2)
	_, address := serving(t, s, desktop)
	port := address[:strings.LastIndex(strings.TrimSuffix(address, "/"), "/")]
	for name, change := range map[string]func(*http.Request){
		"without the path":               func(r *http.Request) { r.URL.Path = "/" },
		"with another path":              func(r *http.Request) { r.URL.Path = "/" + strings.Repeat("A", 26) + "/" },
		"for events without the path":    func(r *http.Request) { r.URL.Path = "/events" },
		"from a page whose name is ours": func(r *http.Request) { r.Host = "evil.example" },
		"that would write":               func(r *http.Request) { r.Method = http.MethodPost },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode < 400 || strings.Contains(string(body), "JobSets") {
			t.Errorf("a request %s to %s is answered with %s: %s", name, port, answer.Status, body)
		}
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *pictures != "" {
		if err := os.MkdirAll(filepath.Clean(*pictures), 0o755); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
