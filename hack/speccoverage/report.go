/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// report is what a contract and the tests make of each other.
type report struct {
	contract contract
	tests    carried
	// missing are ids without a test and without a reason.
	missing []id
	// outdated are ids with a reason that a test carries after all.
	outdated []id
	// unknown are ids of tests that the contract neither defines nor lists as not used.
	unknown []id
}

func compare(written contract, tests carried) report {
	r := report{contract: written, tests: tests}
	for _, of := range sortedKeys(written.defined) {
		_, hasReason := written.untested[of]
		_, hasTest := tests[of]
		switch {
		case hasTest && hasReason:
			r.outdated = append(r.outdated, of)
		case !hasTest && !hasReason:
			r.missing = append(r.missing, of)
		}
	}
	for _, of := range sortedKeys(tests) {
		_, defined := written.defined[of]
		_, unused := written.unused[of]
		if !defined && !unused {
			r.unknown = append(r.unknown, of)
		}
	}
	return r
}

func (r report) print(w io.Writer) {
	fmt.Fprintln(w, "      ids  carried  with a reason  missing")
	for _, letter := range []byte(letters) {
		r.printRow(w, string(letter), func(of id) bool { return of.letter == letter })
	}
	r.printRow(w, "all", func(id) bool { return true })

	printByLetter(w, "not carried by any test, and without a reason", r.missing)
	printByLetter(w, "with a reason to have no test, and carried after all", r.outdated)
	if len(r.unknown) > 0 {
		fmt.Fprintln(w, "\ncarried by tests, and unknown to the contract:")
		for _, problem := range r.unknownProblems() {
			fmt.Fprintln(w, " ", problem)
		}
	}
	if len(r.contract.problems) > 0 {
		fmt.Fprintln(w, "\nwrong in the contract:")
		for _, problem := range r.contract.problems {
			fmt.Fprintln(w, " ", problem)
		}
	}
}

func (r report) printRow(w io.Writer, name string, in func(id) bool) {
	var ids, carried, reasons int
	for of := range r.contract.defined {
		if !in(of) {
			continue
		}
		ids++
		if _, hasTest := r.tests[of]; hasTest {
			carried++
		} else if _, hasReason := r.contract.untested[of]; hasReason {
			reasons++
		}
	}
	fmt.Fprintf(w, "%-4s %4d  %7d  %13d  %7d\n", name, ids, carried, reasons, ids-carried-reasons)
}

func (r report) unknownProblems() []string {
	var problems []string
	for _, of := range r.unknown {
		places := slices.Compact(slices.Sorted(slices.Values(r.tests[of])))
		problems = append(problems, fmt.Sprintf("%s in the name of a test is no id of the contract: %s", of, strings.Join(places, ", ")))
	}
	return problems
}

func printByLetter(w io.Writer, title string, ids []id) {
	if len(ids) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s (%d):\n", title, len(ids))
	for _, letter := range []byte(letters) {
		of := slices.DeleteFunc(slices.Clone(ids), func(i id) bool { return i.letter != letter })
		if len(of) > 0 {
			fmt.Fprintln(w, " ", compact(of))
		}
	}
}
