/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command look opens every page of a built site in Chromium, in a phone's and a desktop's
// window, light and dark. It writes a picture of each and fails if a page scrolls sideways,
// a text covers another, or a text has too little contrast.
//
//	look -out=../../../bin/site-look ../../../bin/site
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/jobset/hack/publish/browser"
)

func main() {
	out := flag.String("out", "../../../bin/site-look", "directory for the pictures")
	only := flag.String("only", "", "only pages whose path contains this")
	whole := flag.Bool("whole", false, "pictures show whole pages, not only the first screen")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: look [flags] DIRECTORY")
		flag.PrintDefaults()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out, *only, *whole); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, out, only string, whole bool) error {
	pages, err := pagesOf(os.DirFS(dir), only)
	if err != nil {
		return fmt.Errorf("reading %s: %w", dir, err)
	}
	if len(pages) == 0 {
		return fmt.Errorf("%s has no pages to look at; build it with: make site", dir)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("making the directory for pictures: %w", err)
	}
	address, stop, err := serve(dir)
	if err != nil {
		return err
	}
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	ctx, closeBrowser, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer closeBrowser()

	problems := 0
	for _, view := range views {
		for _, page := range pages {
			found, err := look(ctx, view, address+"/"+page, filepath.Join(out, pictureName(page, view)), whole)
			if err != nil {
				return fmt.Errorf("looking at %s (%s): %w", page, view.Name, err)
			}
			for _, text := range found {
				fmt.Fprintf(os.Stderr, "/%s (%s): %s\n", page, view.Name, text)
			}
			problems += len(found)
		}
	}
	fmt.Fprintf(os.Stdout, "looked at %d pages in %d views, pictures are in %s\n", len(pages), len(views), out)
	if problems > 0 {
		return fmt.Errorf("%d findings; the style sheet is site/themes/jobset/assets/css/site.css", problems)
	}
	return nil
}

// pagesOf are the addresses of all pages, without a slash at the beginning.
func pagesOf(dir fs.FS, only string) ([]string, error) {
	var pages []string
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		if page := strings.TrimSuffix(name, "index.html"); strings.Contains("/"+page, only) {
			pages = append(pages, page)
		}
		return nil
	})
	return pages, err
}

// pictureName is a file name for a page in a view: docs/tasks/ is docs-tasks.
func pictureName(page string, view browser.View) string {
	name := strings.ReplaceAll(strings.Trim(strings.TrimSuffix(page, ".html"), "/"), "/", "-")
	if name == "" {
		name = "front"
	}
	return name + "-" + view.Name + ".png"
}

func serve(dir string) (string, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("opening a port for the site: %w", err)
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
