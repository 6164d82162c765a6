/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Headings of the two lists at the end of the contract. All other chapters define ids.
const (
	untestedHeading = "Ids without a test"
	unusedHeading   = "Numbers that are not used"
)

// contract is what docs/behaviour.md says.
type contract struct {
	// defined are the ids, each with the line of the page that it stands in.
	defined map[id]int
	// untested are ids that no test can carry, each with the reason.
	untested map[id]string
	// unused are numbers that the page leaves out on purpose.
	unused map[id]string
	// problems are what is wrong with the page.
	problems []string
}

// parseContract reads the page: rows of tables define ids,
//
//	| W45 | what holds |
//
// and the items of the two lists at the end give reasons:
//
//   - C26, C342-C344: the reason
func parseContract(text string) contract {
	c := contract{defined: map[id]int{}, untested: map[id]string{}, unused: map[id]string{}}
	heading := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			heading = strings.TrimSpace(strings.TrimPrefix(line, "## "))
		case heading == untestedHeading && strings.HasPrefix(line, "- "):
			c.reason(c.untested, i+1, line)
		case heading == unusedHeading && strings.HasPrefix(line, "- "):
			c.reason(c.unused, i+1, line)
		case strings.HasPrefix(line, "|"):
			c.row(i+1, line)
		}
	}
	c.checkReasons()
	c.checkGaps()
	return c
}

func (c *contract) row(number int, line string) {
	cells := strings.SplitN(strings.Trim(line, "|"), "|", 2)
	name := strings.TrimSpace(cells[0])
	if name == "id" || strings.Trim(name, "-: ") == "" {
		return // the head of the table
	}
	if !wholeID(name) {
		c.problem("line %d: %q in the first cell is neither an id nor a range", number, name)
		return
	}
	if len(cells) < 2 || strings.TrimSpace(cells[1]) == "" {
		c.problem("line %d: %s says nothing", number, name)
	}
	for _, defined := range idsIn(name) {
		if first, twice := c.defined[defined]; twice {
			c.problem("line %d: %s stands in line %d already", number, defined, first)
			continue
		}
		c.defined[defined] = number
	}
}

func (c *contract) reason(reasons map[id]string, number int, line string) {
	names, reason, _ := strings.Cut(strings.TrimPrefix(line, "- "), ":")
	reason = strings.TrimSpace(reason)
	ids := idsIn(names)
	if len(ids) == 0 || reason == "" {
		c.problem("line %d: want \"- ids: reason\", got %q", number, line)
		return
	}
	for _, of := range ids {
		if _, twice := reasons[of]; twice {
			c.problem("line %d: %s has a reason already", number, of)
		}
		reasons[of] = reason
	}
}

func (c *contract) checkReasons() {
	for _, of := range sortedKeys(c.untested) {
		if _, ok := c.defined[of]; !ok {
			c.problem("%s has a reason to be without a test, and no line", of)
		}
	}
	for _, of := range sortedKeys(c.unused) {
		if line, ok := c.defined[of]; ok {
			c.problem("line %d: %s is listed as not used", line, of)
		}
	}
}

// checkGaps finds numbers below the highest of their letter that the page forgot.
func (c *contract) checkGaps() {
	for _, letter := range []byte(letters) {
		highest := 0
		for of := range c.defined {
			if of.letter == letter {
				highest = max(highest, of.number)
			}
		}
		var gaps []id
		for number := 1; number < highest; number++ {
			of := id{letter, number}
			_, defined := c.defined[of]
			_, unused := c.unused[of]
			if !defined && !unused {
				gaps = append(gaps, of)
			}
		}
		if len(gaps) > 0 {
			c.problem("no line for %s; if that is meant, list them under %q", compact(gaps), unusedHeading)
		}
	}
}

func (c *contract) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func sortedKeys[V any](of map[id]V) []id {
	return slices.SortedFunc(maps.Keys(of), compareIDs)
}
