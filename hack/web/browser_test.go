/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package web

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// look is a window and a mode.
type look struct {
	name          string
	width, height int64
	dark          bool
}

var (
	desktop = look{name: "desktop", width: 1280, height: 800}
	dark    = look{name: "dark", width: 1280, height: 800, dark: true}
	phone   = look{name: "phone", width: 390, height: 844}
)

// tab is a page in Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// browse starts Chromium, which ends with the test. A machine without it fails: what is not looked at is not tested.
func browse(t *testing.T) context.Context {
	t.Helper()
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			browser = found
			break
		}
	}
	if browser == "" {
		t.Fatal("this test needs Chromium on PATH; on Debian: apt-get install chromium")
	}
	// Chromium has no sandbox for root, and sees only pages from this machine.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

func (p tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// is waits until an expression is true in the page, and returns how long that took.
func (p tab) is(what, expression string) time.Duration {
	p.t.Helper()
	start := time.Now()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(10*time.Millisecond))); err != nil {
		p.t.Fatalf("%s: waiting for %s: %v\nthe page: %s", what, expression, err, get[string](p, "document.body.innerText"))
	}
	return time.Since(start)
}

// get returns the value of an expression.
func get[T any](p tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// as makes the window and the mode of a look.
func (p tab) as(l look) {
	p.t.Helper()
	mode := "light"
	if l.dark {
		mode = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatal(err)
	}
	if l.width < 600 {
		p.do("making the window of a phone", chromedp.EmulateViewport(l.width, l.height, chromedp.EmulateMobile))
		return
	}
	p.do("making the window", chromedp.EmulateViewport(l.width, l.height))
}

// picture writes what the window shows, once what has changed is drawn.
func (p tab) picture(directory, name string) {
	p.t.Helper()
	drawn := "new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))"
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](drawn, chromedp.EvalAwaitPromise)); err != nil {
		p.t.Fatal(err)
	}
	image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	small, err := smaller(image)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, name), small, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// spoken is what a screen reader is given: the names of all elements, by their roles.
func (p tab) spoken() map[string][]string {
	p.t.Helper()
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.t.Fatal(err)
	}
	names := map[string][]string{}
	for _, node := range tree.Nodes {
		if !node.Ignored && node.Role != nil {
			role := textOf(node.Role)
			names[role] = append(names[role], textOf(node.Name))
		}
	}
	return names
}

func textOf(v *accessibility.Value) string {
	var text string
	if v != nil {
		_ = json.Unmarshal(v.Value, &text) // a value that is no text names nothing
	}
	return text
}
