/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/hack/publish/browser"
)

func TestPagesOf(t *testing.T) {
	dir := fstest.MapFS{"index.html": {}, "404.html": {}, "docs/index.html": {}, "site.css": {}}
	for only, want := range map[string][]string{
		"":      {"404.html", "docs/", ""},
		"/docs": {"docs/"},
	} {
		got, err := pagesOf(dir, only)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages with %q (-want +got):\n%s", only, diff)
		}
	}
}

func TestPictureName(t *testing.T) {
	for page, want := range map[string]string{
		"": "front-phone-light.png", "docs/tasks/": "docs-tasks-phone-light.png", "404.html": "404-phone-light.png",
	} {
		if got := pictureName(page, views[0]); got != want {
			t.Errorf("picture of %q is %s, want %s", page, got, want)
		}
	}
}

// TestLook shows that the browser finds each kind of mistake.
func TestLook(t *testing.T) {
	if _, err := browser.Find(); err != nil {
		t.Skip(err)
	}
	for name, tc := range map[string]struct{ body, want string }{
		"a page that fits has no findings":   {body: `<p>text</p><div class="scroll"><p style="width: 900px">wide</p></div>`},
		"a page that is too wide is found":   {body: `<p style="width: 900px">wide</p>`, want: "pixels wide in a window of 390"},
		"a text with low contrast is found":  {body: `<p style="color: #aaa">faint</p>`, want: `contrast 2.3 of "faint"`},
		"a text that is covered is found":    {body: `<p>under</p><p style="position: relative; top: -2em">above</p>`, want: `"under" is covered by "above"`},
		"large text may have less contrast":  {body: `<p style="color: #888; font-size: 24px">large</p>`},
		"a text that is hidden is not found": {body: `<p hidden style="color: #aaa">faint</p>`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			html := `<!doctype html><meta name="viewport" content="width=device-width"><style>body { margin: 0; background: #fff } .scroll { overflow: auto }</style>` +
				`<main>` + tc.body + `</main>`
			if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(html), 0o644); err != nil {
				t.Fatal(err)
			}
			address, stopServer, err := serve(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer stopServer()
			ctx, stop, err := browser.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			found, err := look(ctx, views[0], address, filepath.Join(dir, "x.png"), false)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(found, "\n")
			if (tc.want == "") != (text == "") || !strings.Contains(text, tc.want) {
				t.Errorf("found %q, want %q", text, tc.want)
			}
		})
	}
}

func TestWithoutBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := exec.LookPath("chromium"); err == nil {
		t.Fatal("there is still a browser on PATH")
	}
	_, err := browser.Find()
	if err == nil || !strings.Contains(err.Error(), "needs chromium on PATH") {
		t.Errorf("got %v, want an error that says what is missing", err)
	}
}
