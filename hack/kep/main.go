/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command kep keeps the enhancement proposals, keps/*/README.md, true to the repository:
// their table of contents, the tests they name, and what else they refer to.
//
//	kep --write   writes the table of contents between <!-- toc --> and <!-- /toc -->
//	kep --check   fails if it is not up to date, if the test plan names a test that is not there,
//	              or if a make target, a link or a path of the repository leads nowhere
//
// How the test plan names tests is told in testplan.go.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const proposals = "keps/*/README.md"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("kep", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root of the repository")
	write := flags.Bool("write", false, "write the table of contents")
	check := flags.Bool("check", false, "check the proposals")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *write == *check || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "want either --write or --check, and no arguments")
		return 2
	}
	tree := os.DirFS(*root)
	paths, err := find(tree)
	if err == nil && *write {
		err = writeAll(*root, tree, paths, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if *write {
		return 0
	}
	problems, err := checkAll(tree, paths)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	for _, problem := range problems {
		fmt.Fprintln(stdout, problem)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}

// find returns the paths of all proposals.
func find(tree fs.FS) ([]string, error) {
	paths, err := fs.Glob(tree, proposals)
	if err != nil {
		return nil, fmt.Errorf("looking for proposals: %w", err)
	}
	if len(paths) == 0 {
		return nil, errors.New("there is no " + proposals + "; run this in the root of the repository, or say --root")
	}
	return paths, nil
}

func writeAll(root string, tree fs.FS, paths []string, stdout io.Writer) error {
	for _, path := range paths {
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return fmt.Errorf("reading a proposal: %w", err)
		}
		updated, err := withContents(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if updated == string(text) {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(path)), []byte(updated), 0o644); err != nil {
			return fmt.Errorf("writing a proposal: %w", err)
		}
		fmt.Fprintln(stdout, "wrote the table of contents of", path)
	}
	return nil
}

// checkAll returns what is wrong, a line each. An error is a file that cannot be read.
func checkAll(tree fs.FS, paths []string) ([]string, error) {
	repo, err := look(tree)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, path := range paths {
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return nil, fmt.Errorf("reading a proposal: %w", err)
		}
		c := checker{repo: repo, path: path, page: parsePage(string(text))}
		c.contents(string(text))
		c.testPlan()
		c.references()
		problems = append(problems, c.problems...)
	}
	return problems, nil
}

// checker looks at one proposal.
type checker struct {
	repo     *repository
	path     string
	page     page
	problems []string
}

// problem notes what is wrong, and how to mend it, in the line of that index.
func (c *checker) problem(line int, format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: %s", c.path, line+1, fmt.Sprintf(format, args...)))
}
