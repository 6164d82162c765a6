/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package browser looks at pages in Chromium: those of the site, and that of `kubectl jobset dashboard`.
package browser

import (
	"context"
	_ "embed"
	"errors"
	"os/exec"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Measure is an expression that says in which places a page is too wide, covers a text, or writes one with too little contrast.
//
//go:embed measure.js
var Measure string

// Find is where Chromium is on this machine.
func Find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("looking at a page needs chromium on PATH; on Debian: apt-get install chromium")
}

// Start starts Chromium with one tab, which ends with the context.
func Start(ctx context.Context) (context.Context, context.CancelFunc, error) {
	browser, err := Find()
	if err != nil {
		return nil, nil, err
	}
	// Chromium has no sandbox for root, and sees only pages from this machine.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, closeTab := chromedp.NewContext(ctx)
	return ctx, func() { closeTab(); stop() }, nil
}

// View is a window and a mode.
type View struct {
	Name          string
	Width, Height int64
	Dark          bool
}

// Set makes the mode of the view, and what else a page may ask a medium for.
func (v View) Set(ctx context.Context, more ...*emulation.MediaFeature) error {
	mode := "light"
	if v.Dark {
		mode = "dark"
	}
	features := append(more, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: mode})
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	return err
}

// Window is the view's, of this height.
func (v View) Window(height int64) chromedp.Action[chromedp.Void] {
	if v.Width < 600 {
		return chromedp.EmulateViewport(v.Width, height, chromedp.EmulateMobile)
	}
	return chromedp.EmulateViewport(v.Width, height)
}
