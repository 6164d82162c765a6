/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command check reads a built site and says which links, anchors, images, ids,
// titles and headings are wrong. It asks no other host.
//
//	check -base=https://jobset.example.com/ -repository=https://git.example.com/jobset -root=../../.. ../../../bin/site
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

func main() {
	site := Site{}
	var root string
	flag.StringVar(&site.Base, "base", "https://jobset.example.com/", "address that the site is published at")
	flag.StringVar(&site.Repository, "repository", "https://git.example.com/jobset", "address of the source")
	flag.StringVar(&root, "root", "../../..", "directory of the repository, to look up links to its files")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: check [flags] DIRECTORY")
		flag.PrintDefaults()
		os.Exit(2)
	}
	site.InRepository = func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	}
	if err := run(site, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(site Site, dir string) error {
	if err := read(&site, os.DirFS(dir)); err != nil {
		return fmt.Errorf("reading %s: %w", dir, err)
	}
	if len(site.Pages) == 0 {
		return fmt.Errorf("%s has no HTML files; build it with: make site", dir)
	}
	findings := Check(site)
	for _, finding := range findings {
		fmt.Fprintf(os.Stderr, "%s: %s\n", finding.Page, finding.Text)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%d findings on %d pages; the sources are in site/content/en", len(findings), len(site.Pages))
	}
	links := 0
	for _, page := range site.Pages {
		links += len(page.Links) + len(page.Loads)
	}
	fmt.Fprintf(os.Stdout, "%d pages, %d links: nothing is wrong\n", len(site.Pages), links)
	return nil
}

// read fills in the files of a site.
func read(site *Site, dir fs.FS) error {
	site.Pages, site.Files = map[string]Page{}, map[string]bool{}
	return fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		site.Files[name] = true
		if path.Ext(name) != ".html" {
			return nil
		}
		file, err := dir.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		page, err := Parse(file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		site.Pages[name] = page
		return nil
	})
}
