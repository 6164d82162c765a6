/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"slices"
	"strings"
)

const (
	testPlanHeading = "Test Plan"
	testPlanLevel   = 3
)

// The test plan names tests in items of lists. An item opens with the directory of a package;
// what it then names in backticks is a test of that package, as are those of items below it:
// a function by its name, a text of ginkgo, or a part of it, in quotes.
//
//	### Test Plan
//	- `pkg/policy`: `TestLift` shows when, `FuzzDecide` that nothing panics.
//	- `test/integration/controller`:
//	  - `"A group restart"`: the two writes of it.
//
// Other words in backticks are prose.
var (
	itemPattern    = regexp.MustCompile(`^( *)- +(.*)$`)
	packagePattern = regexp.MustCompile("^`([^`\" ]+)`:( |$)")
	testPattern    = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z0-9_]\w*$|^".*"$`)
)

// named is a test that the plan names.
type named struct {
	span
	// dir of its package; empty if the plan does not say.
	dir string
}

// testPlan checks that there are tests in the plan, and that each exists.
func (c *checker) testPlan() {
	from, to, ok := c.page.section(testPlanLevel, testPlanHeading)
	if !ok {
		c.problem(0, "there is no heading %q; add it, with the tests in items like - `pkg/policy`: `TestLift`", "### "+testPlanHeading)
		return
	}
	tests, idle := namedTests(&c.page, from, to)
	if len(tests) == 0 {
		c.problem(from-1, "the test plan names no test; name them in items like - `pkg/policy`: `TestLift`")
	}
	for _, test := range tests {
		c.test(test)
	}
	for _, item := range idle {
		c.problem(item.line, "the item of %s names no test; name one, or leave the item out", item.text)
	}
}

func (c *checker) test(test named) {
	if test.dir == "" {
		c.problem(test.line, "nobody knows in which package %s is; name it in an item that opens with the package, like - `pkg/policy`: `TestLift`", test.text)
		return
	}
	tests, err := c.repo.testsIn(test.dir)
	switch {
	case err != nil:
		c.problem(test.line, "%v; name a directory of Go files, from the root of the repository", err)
	case strings.HasPrefix(test.text, `"`):
		if title := strings.Trim(test.text, `"`); !tests.tells(title) {
			c.problem(test.line, "no test of %s is called %s; name (a part of) the text of a Describe, Context, When, It or Entry that is not pending",
				test.dir, test.text)
		}
	case !tests.functions[test.text]:
		c.problem(test.line, "%s has no function %s; name one of its _test.go files", test.dir, test.text)
	}
}

// namedTests returns the tests that a section names, in its order, and the items that
// open with a package and name no test of it.
func namedTests(p *page, from, to int) (tests []named, idle []span) {
	dir, dirIndent := "", 0 // of the last item that opened with a package, and how far in it stands
	for first := from; first < to; {
		indent, itemDir, isItem := item(p.prose[first])
		last := first + 1
		switch {
		case isItem:
			for last < to && continues(p.prose[last], indent) {
				last++
			}
			if itemDir != "" || indent <= dirIndent {
				dir, dirIndent = itemDir, indent
			}
		case strings.TrimSpace(p.prose[first]) != "":
			dir, dirIndent = "", 0
		}
		if itemDir != "" {
			idle = append(idle, span{itemDir, first})
		}
		for _, s := range p.spans(first, last) {
			if testPattern.MatchString(s.text) {
				tests = append(tests, named{s, dir})
				idle = slices.DeleteFunc(idle, func(i span) bool { return i.text == dir })
			}
		}
		first = last
	}
	return tests, idle
}

// item tells whether a line begins an item of a list, how far in, and with which package.
func item(line string) (indent int, dir string, ok bool) {
	found := itemPattern.FindStringSubmatch(line)
	if found == nil {
		return 0, "", false
	}
	if opening := packagePattern.FindStringSubmatch(found[2]); len(opening) > 0 && !testPattern.MatchString(opening[1]) {
		dir = opening[1]
	}
	return len(found[1]), dir, true
}

// continues tells whether a line goes on with the item before it.
func continues(line string, indent int) bool {
	_, _, next := item(line)
	return !next && strings.HasPrefix(line, strings.Repeat(" ", indent+2)) && strings.TrimSpace(line) != ""
}
