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

	"sigs.k8s.io/jobset/hack/publish/browser"
)

var views = []browser.View{
	{Name: "phone-light", Width: 390, Height: 844},
	{Name: "phone-dark", Width: 390, Height: 844, Dark: true},
	{Name: "desktop-light", Width: 1280, Height: 800},
	{Name: "desktop-dark", Width: 1280, Height: 800, Dark: true},
}

// look opens a page, keeps a picture of its first screen, or of all of it, and returns what is wrong with all of it.
func look(ctx context.Context, v browser.View, address, picture string, whole bool) ([]string, error) {
	if err := open(ctx, v, address); err != nil {
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
	if err := chromedp.Do(ctx, v.Window(max(height, v.Height))); err != nil {
		return nil, fmt.Errorf("making the window as high as the page: %w", err)
	}
	if whole {
		if err := takePicture(ctx, picture); err != nil {
			return nil, err
		}
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](browser.Measure))
	if err != nil {
		return nil, fmt.Errorf("measuring: %w", err)
	}
	return found, nil
}

func open(ctx context.Context, v browser.View, address string) error {
	if err := v.Set(ctx, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"}); err != nil {
		return err
	}
	return chromedp.Do(ctx, v.Window(v.Height), chromedp.Navigate(address), chromedp.WaitReady("main"))
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
