/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command speccoverage compares the written contract, docs/behaviour.md, with
// the names of the tests: every id of the contract should be carried by a test
// that proves it, or have a reason why none can.
//
//	speccoverage            prints what is carried and what is missing
//	speccoverage --strict   and fails if an id is missing
//	speccoverage --check    prints only what is wrong with the contract itself:
//	                        ids given twice, gaps, and ids of tests that it does not know
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("speccoverage", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root of the repository")
	page := flags.String("contract", "docs/behaviour.md", "the contract, relative to the root")
	strict := flags.Bool("strict", false, "fail if a test is missing")
	check := flags.Bool("check", false, "look at the contract only, and at ids of tests that it does not know")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	written, tests, err := read(*root, *page)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	r := compare(written, tests)
	if *check {
		return printProblems(stdout, append(written.problems, r.unknownProblems()...))
	}
	r.print(stdout)
	if *strict && len(r.missing) > 0 {
		return 1
	}
	return 0
}

func read(root, page string) (contract, carried, error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return contract{}, nil, fmt.Errorf("reading the contract: %w", err)
	}
	tests, err := carriedIn(root)
	if err != nil {
		return contract{}, nil, fmt.Errorf("reading the tests: %w", err)
	}
	return parseContract(string(text)), tests, nil
}

func printProblems(w io.Writer, problems []string) int {
	for _, problem := range problems {
		fmt.Fprintln(w, problem)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}
