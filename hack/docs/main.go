/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command docs compares docs/behaviour.md, the written contract, and the proposals in keps/ with
// the tests.
//
//	docs --check      fails if the contract or a proposal is wrong, or a page quotes a figure that
//	                  docs/figures.tsv does not have, or a file has a word that docs/style.md bans,
//	                  or pages have more words than hack/docs/budgets.tsv allows; says what and where
//	docs --coverage   counts the ids of the contract and lists those that no test carries;
//	                  with --strict it fails if there are some
//	docs --words      prints how many words pages have, and how many they may have
//	docs --contents   writes the tables of contents of the proposals
//
// A test carries an id if the id stands in its file as a word, outside of comments.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "check the contract and the proposals")
	coverage := flag.Bool("coverage", false, "list the ids that no test carries")
	strict := flag.Bool("strict", false, "with --coverage: fail if an id is missing")
	contents := flag.Bool("contents", false, "write the tables of contents of the proposals")
	words := flag.Bool("words", false, "print the words of pages, and their budgets")
	flag.Parse()
	if *words {
		lines, err := showBudgets(".")
		if err != nil {
			fmt.Fprintln(os.Stderr, "docs:", err)
			os.Exit(2)
		}
		fmt.Fprintln(os.Stdout, strings.Join(lines, "\n"))
		return
	}
	problems, err := run(os.Stdout, *check, *coverage, *contents)
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(2)
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stdout, problem)
	}
	if len(problems) > 0 && (*check || *strict) {
		os.Exit(1)
	}
}

// run returns what is wrong, one line each.
func run(stdout io.Writer, check, coverage, contents bool) ([]string, error) {
	behaviour, err := os.ReadFile("docs/behaviour.md")
	if err != nil {
		return nil, err
	}
	differences, err := os.ReadFile("docs/differences.md")
	if err != nil {
		return nil, err
	}
	tests, err := readTests(".")
	if err != nil {
		return nil, err
	}
	c := parseContract(string(behaviour))
	var problems []string
	if check {
		problems = slices.Concat(c.problems, c.unlisted(string(differences)), c.unknown(tests))
	}
	if coverage {
		problems = append(problems, c.coverage(stdout, tests)...)
	}
	proposals, err := filepath.Glob("keps/*/README.md")
	for _, path := range proposals {
		page, readErr := os.ReadFile(path)
		if readErr != nil {
			return nil, readErr
		}
		fresh := withContents(string(page))
		switch {
		case contents:
			err = os.WriteFile(path, []byte(fresh), 0o644)
		case check && fresh != string(page):
			problems = append(problems, path+": the table of contents is out of date; run: make update-kep")
		}
	}
	if check {
		misquotes, figuresErr := checkFigures(".")
		banned, wordsErr := checkWords(".")
		long, budgetsErr := checkBudgets(".")
		problems, err = slices.Concat(problems, misquotes, banned, long), errors.Join(err, figuresErr, wordsErr, budgetsErr)
		lists, listErr := filepath.Glob("keps/*/tests.md")
		err = errors.Join(err, listErr)
		for _, path := range lists {
			page, readErr := os.ReadFile(path)
			if readErr != nil {
				return nil, readErr
			}
			problems = append(problems, missingTests(path, string(page), tests)...)
		}
	}
	return problems, err
}

var comment = regexp.MustCompile(`(?m)(^|\s)//.*$`)

// readTests reads all files that hold tests, without their comments, by path.
func readTests(root string) (map[string]string, error) {
	tests := map[string]string{}
	return tests, readFiles(root, "testdata", holdsTests, func(path, text string) {
		tests[path] = comment.ReplaceAllString(strings.TrimSpace(text), "")
	})
}

func holdsTests(path string) bool {
	return path != "hack/docs/docs_test.go" && (strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_test.yaml") ||
		strings.HasPrefix(path, "test/") && strings.HasSuffix(path, ".go"))
}

// readFiles passes on the files below root that are wanted, but none in hidden directories, bin, and those of another name.
func readFiles(root, without string, wanted func(path string) bool, pass func(path, text string)) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "bin" || name == without || len(name) > 1 && name[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || !wanted(filepath.ToSlash(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		pass(filepath.ToSlash(path), string(text))
		return err
	})
}
