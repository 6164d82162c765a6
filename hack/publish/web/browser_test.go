/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package web tests the page of `kubectl jobset dashboard` in Chromium, from the module of hack/publish, so that nothing that
// ships depends on the driver of the browser. Run it with: make test-web
package web

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"sigs.k8s.io/jobset/hack/publish/browser"
)

var (
	desktop = browser.View{Name: "desktop", Width: 1280, Height: 800}
	dark    = browser.View{Name: "dark", Width: 1280, Height: 800, Dark: true}
	phone   = browser.View{Name: "phone", Width: 390, Height: 844}
)

// tab is a page in Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// browse starts Chromium, which ends with the test. A machine without it fails: what is not looked at is not tested.
func browse(t *testing.T) context.Context {
	t.Helper()
	ctx, stop, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
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

// as makes the window and the mode of a view.
func (p tab) as(v browser.View) {
	p.t.Helper()
	if err := v.Set(p.ctx); err != nil {
		p.t.Fatal(err)
	}
	p.do("making the window", v.Window(v.Height))
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
