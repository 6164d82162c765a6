/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// contract is what docs/behaviour.md says: rows of tables define ids, and the items of the two
// lists at its end give the reason why an id has no test, or why a number has no row.
type contract struct {
	defined, untested, unused map[string]bool
	// differs are ids whose row points to docs/differences.md.
	differs  []string
	problems []string
}

const (
	// differsMark ends rows whose behaviour is not that of JobSet v0.12; they may name docs/differences.md after it.
	differsMark = "(differs"
	// rowWords is the most words that a row may have: what holds, not why.
	rowWords = 60
)

// idPattern finds an id, or a range of them: W45, C345-C350, W59..W63. What follows a dot, such as
// elliptic.P256, is none. A letter behind the number, as in P45b, names a rule beside that of the number.
var idPattern = regexp.MustCompile(`(?:^|[^.\w])([SWCOP])([0-9]{1,3}[a-e]?)(?:\s*(?:-|–|\.\.\.?|to)\s*([SWCOP])([0-9]{1,3}))?\b`)

// idsIn returns the ids that stand in a text as words, ranges written out.
func idsIn(text string) []string {
	var ids []string
	for _, match := range idPattern.FindAllStringSubmatch(text, -1) {
		first, lettered := strconv.Atoi(match[2])
		last, err := strconv.Atoi(match[4])
		if err != nil || lettered != nil || match[3] != match[1] || last < first { // no range
			ids = append(ids, match[1]+match[2])
			if err == nil {
				ids = append(ids, match[3]+match[4])
			}
			continue
		}
		for number := first; number <= last; number++ {
			ids = append(ids, match[1]+strconv.Itoa(number))
		}
	}
	return ids
}

func parseContract(page string) contract {
	c := contract{defined: map[string]bool{}, untested: map[string]bool{}, unused: map[string]bool{}}
	lists := map[string]map[string]bool{"Ids without a test": c.untested, "Numbers that are not used": c.unused}
	heading := ""
	for i, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			heading = line[3:]
		case strings.HasPrefix(line, "- ") && lists[heading] != nil:
			ids, reason, _ := strings.Cut(line[2:], ":")
			c.add(lists[heading], i+1, ids, reason)
		case strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| id |") && !strings.HasPrefix(line, "|---"):
			id, holds, _ := strings.Cut(line[1:], "|")
			c.add(c.defined, i+1, id, strings.Trim(holds, "|"))
			if words := len(strings.Fields(strings.Trim(holds, "| "))); words > rowWords {
				c.problems = append(c.problems, fmt.Sprintf("docs/behaviour.md:%d: %s has %d words, of at most %d: say what holds, not why",
					i+1, strings.TrimSpace(id), words, rowWords))
			}
			if strings.Contains(line, differsMark) {
				c.differs = append(c.differs, idsIn(id)...)
			}
		}
	}
	c.problems = append(c.problems, c.misplaced()...)
	return c
}

// add notes the ids of a line, and what is wrong with it.
func (c *contract) add(to map[string]bool, line int, names, text string) {
	ids := idsIn(names)
	if len(ids) == 0 || strings.TrimSpace(text) == "" {
		c.problems = append(c.problems, fmt.Sprintf("docs/behaviour.md:%d: want an id and a text, got %q and %q", line, names, text))
	}
	for _, id := range ids {
		if to[id] {
			c.problems = append(c.problems, fmt.Sprintf("docs/behaviour.md:%d: %s is given twice", line, id))
		}
		to[id] = true
	}
}

// misplaced returns the numbers that are neither defined nor listed as not used, and the entries
// of the two lists that contradict the tables.
func (c contract) misplaced() []string {
	var problems []string
	for id := range c.untested {
		if !c.defined[id] {
			problems = append(problems, fmt.Sprintf("docs/behaviour.md: %s has a reason to be without a test, and no row", id))
		}
	}
	for _, letter := range "SWCOP" {
		last := 0
		for id := range c.defined {
			if number, _ := strconv.Atoi(id[1:]); id[0] == byte(letter) {
				last = max(last, number)
			}
		}
		for number := 1; number <= last; number++ {
			if id := string(letter) + strconv.Itoa(number); c.defined[id] == c.unused[id] {
				problems = append(problems, fmt.Sprintf("docs/behaviour.md: %s needs either a row or a place under \"Numbers that are not used\"", id))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// unlisted returns the ids whose row points to docs/differences.md, which does not list them.
func (c contract) unlisted(differences string) []string {
	listed := map[string]bool{}
	for line := range strings.Lines(differences) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, id := range idsIn(cells[1]) {
				listed[id] = true
			}
		}
	}
	var problems []string
	for _, id := range c.differs {
		if !listed[id] {
			problems = append(problems, fmt.Sprintf("docs/behaviour.md: %s points to docs/differences.md, which has no row for it", id))
		}
	}
	return problems
}

// unknown returns the ids of tests that the contract neither defines nor lists as not used.
func (c contract) unknown(tests map[string]string) []string {
	var problems []string
	for _, path := range slices.Sorted(maps.Keys(tests)) {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(idsIn(tests[path])))) {
			if !c.defined[id] && !c.unused[id] {
				problems = append(problems, fmt.Sprintf("%s: %s is no id of docs/behaviour.md", path, id))
			}
		}
	}
	return problems
}

// coverage prints how many ids tests carry, and returns those that are missing.
func (c contract) coverage(w io.Writer, tests map[string]string) []string {
	carried := map[string]bool{}
	for _, text := range tests {
		for _, id := range idsIn(text) {
			carried[id] = true
		}
	}
	var missing []string
	with, reasons := 0, 0
	for _, id := range slices.Sorted(maps.Keys(c.defined)) {
		switch {
		case carried[id]:
			with++
		case c.untested[id]:
			reasons++
		default:
			missing = append(missing, id+" is carried by no test and has no reason to be without one")
		}
	}
	fmt.Fprintf(w, "%d ids: %d are carried by tests, %d have a reason to be without one, %d are missing\n",
		len(c.defined), with, reasons, len(missing))
	return missing
}
