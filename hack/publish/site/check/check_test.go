/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// page is a whole page that has nothing wrong but what is in body.
func page(body string) string {
	return `<!doctype html><html lang="en"><head><title>T</title><link rel="stylesheet" href="/site.css"></head>` +
		`<body><main><h1 id="top">T</h1>` + body + `</main></body></html>`
}

func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		html string
		want []string
	}{
		"a page whose links all lead somewhere has no findings": {
			html: page(`<a href="/docs/">absolute</a><a href="../docs/#there">relative</a><a href="#top">here</a>
				<a href="https://site.example/docs/#there">whole</a><a href="https://elsewhere.example/x">not asked</a>
				<a href="mailto:a@b.example">mail</a><img src="/picture.svg" alt="a picture">`),
		},
		"a link to a page that is not there is found": {
			html: page(`<a href="/nowhere/">x</a>`),
			want: []string{`link "/nowhere/": there is no such page`},
		},
		"a relative link counts from the directory of the page": {
			html: page(`<a href="docs/">x</a>`),
			want: []string{`link "docs/": there is no such page`},
		},
		"a link without its slash is found, as a server would redirect it": {
			html: page(`<a href="/docs">x</a>`),
			want: []string{`link "/docs": it lacks the slash at its end`},
		},
		"an anchor that is not on the other page is found": {
			html: page(`<a href="/docs/#gone">x</a>`),
			want: []string{`link "/docs/#gone": that page has no section #gone`},
		},
		"an anchor that is not on this page is found": {
			html: page(`<a href="#gone">x</a>`),
			want: []string{`link "#gone": that page has no section #gone`},
		},
		"a file that the repository does not have is found": {
			html: page(`<a href="https://git.example/repo/blob/main/here.go#L1">x</a><a href="https://git.example/repo/tree/main/gone">x</a>
				<a href="https://git.example/repo/blob/old/here.go">x</a><a href="https://git.example/repo/issues">x</a>`),
			want: []string{
				`link "https://git.example/repo/blob/old/here.go": it does not lead to the main branch`,
				`link "https://git.example/repo/tree/main/gone": the repository has no gone`,
			},
		},
		"an image that is not there is found": {
			html: page(`<img src="gone.png" alt="x">`),
			want: []string{`"gone.png": there is no such file`},
		},
		"an image without alt is found": {
			html: page(`<img src="/picture.svg"><img src="/picture.svg" alt=" ">`),
			want: []string{`image "/picture.svg" has no alt`, `image "/picture.svg" has no alt`},
		},
		"a picture without a name is found, its letters are none": {
			html: page(`<svg><text>x</text></svg><svg aria-hidden="true"></svg><svg aria-label="a name"></svg>`),
			want: []string{"a picture has no aria-label"},
		},
		"a link without text is found": {
			html: page(`<a href="/docs/"> </a><a href="/docs/" aria-label="named"></a><a href="/docs/"><img src="/picture.svg" alt="named"></a>`),
			want: []string{`link to "/docs/" has no text`},
		},
		"what is fetched from another host is found": {
			html: page(`<script src="https://cdn.example/x.js"></script>`),
			want: []string{`"https://cdn.example/x.js" is fetched from another host`},
		},
		"an id that is there twice is found": {
			html: page(`<p id="a"></p><p id="a"></p>`),
			want: []string{`id "a" is there 2 times`},
		},
		"a level of headings that is left out is found": {
			html: page(`<h2>a</h2><h4>b</h4><h2>c</h2>`),
			want: []string{"a heading of level 4 follows one of level 2"},
		},
		"a page without title, language, main and heading is found": {
			html: `<html><body><svg aria-label="x"><title>of the picture</title></svg></body></html>`,
			want: []string{
				"the page has no title", "the page names no language: <html lang=...>",
				"the page has 0 main elements, it should have 1", "the page has 0 headings of level 1, it should have 1",
			},
		},
		"two main headings are found": {
			html: page(`<h1>again</h1>`),
			want: []string{"the page has 2 headings of level 1, it should have 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			site := Site{
				Base: "https://site.example/", Repository: "https://git.example/repo",
				InRepository: func(path string) bool { return path == "here.go" },
			}
			if err := read(&site, fstest.MapFS{
				"site.css":        {},
				"picture.svg":     {},
				"docs/index.html": {Data: []byte(page(`<h2 id="there">x</h2>`))},
				"this/index.html": {Data: []byte(tc.html)},
			}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range Check(site) {
				if finding.Page != "this/index.html" {
					t.Errorf("a finding on another page: %v", finding)
				}
				got = append(got, finding.Text)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveBelowAPath(t *testing.T) {
	site := Site{Base: "https://site.example/jobset/", Repository: "https://git.example/repo", Files: map[string]bool{"docs/index.html": true}, Pages: map[string]Page{}}
	for href, want := range map[string]string{
		"/jobset/docs/": "",
		"../docs/":      "",
		"/docs/":        "it leads out of https://site.example/jobset/",
	} {
		if got := site.link("this/index.html", href); got != want {
			t.Errorf("%s: got %q, want %q", href, got, want)
		}
	}
}

func TestRunWithoutPages(t *testing.T) {
	err := run(Site{Base: "https://site.example/"}, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "make site") {
		t.Errorf("an empty directory must be an error that says how to build the site, got %v", err)
	}
}
