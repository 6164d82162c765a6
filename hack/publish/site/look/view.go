/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// view is a window and a mode.
type view struct {
	name          string
	width, height int64
	dark          bool
}

var views = []view{
	{name: "phone-light", width: 390, height: 844},
	{name: "phone-dark", width: 390, height: 844, dark: true},
	{name: "desktop-light", width: 1280, height: 800},
	{name: "desktop-dark", width: 1280, height: 800, dark: true},
}

// look opens a page, keeps a picture of its first screen, or of all of it, and returns what is wrong with all of it.
func look(ctx context.Context, v view, address, picture string, whole bool) ([]string, error) {
	if err := v.open(ctx, address); err != nil {
		return nil, fmt.Errorf("opening the page: %w", err)
	}
	if !whole {
		if err := takePicture(ctx, picture); err != nil {
			return nil, err
		}
	}
	height, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollHeight"))
	if err != nil {
		return nil, fmt.Errorf("asking for the height of the page: %w", err)
	}
	// All of the page in the window: the browser says what is at a point of the window only.
	if err := chromedp.Do(ctx, v.window(max(height, v.height))); err != nil {
		return nil, fmt.Errorf("making the window as high as the page: %w", err)
	}
	if whole {
		if err := takePicture(ctx, picture); err != nil {
			return nil, err
		}
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](measure))
	if err != nil {
		return nil, fmt.Errorf("measuring: %w", err)
	}
	return found, nil
}

func (v view) open(ctx context.Context, address string) error {
	mode := "light"
	if v.dark {
		mode = "dark"
	}
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: mode},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		return err
	}
	return chromedp.Do(ctx, v.window(v.height), chromedp.Navigate(address), chromedp.WaitReady("main"))
}

func takePicture(ctx context.Context, file string) error {
	image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("taking a picture: %w", err)
	}
	if err := os.WriteFile(file, image, 0o644); err != nil {
		return fmt.Errorf("writing a picture: %w", err)
	}
	return nil
}

// window is the view's, of another height.
func (v view) window(height int64) chromedp.Action[chromedp.Void] {
	if v.width < 600 {
		return chromedp.EmulateViewport(v.width, height, chromedp.EmulateMobile)
	}
	return chromedp.EmulateViewport(v.width, height)
}
