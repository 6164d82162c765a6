/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// letters are the chapters that ids come from. Other letters in test names mean something else.
const letters = "SWCOP"

// longestRange keeps a typo in a range from meaning thousands of ids.
const longestRange = 999

// id is the number of a line of the contract, such as W45.
type id struct {
	letter byte
	number int
}

func (i id) String() string {
	return fmt.Sprintf("%c%d", i.letter, i.number)
}

func compareIDs(a, b id) int {
	return cmp.Or(
		cmp.Compare(strings.IndexByte(letters, a.letter), strings.IndexByte(letters, b.letter)),
		cmp.Compare(a.number, b.number))
}

// idPattern finds an id, or a range of them: W45, C345-C350, W59..W63.
var idPattern = regexp.MustCompile(`\b([` + letters + `])([0-9]{1,3})(?:\s*(?:-|–|\.\.\.?)\s*([` + letters + `])([0-9]{1,3}))?\b`)

// idsIn returns the ids that stand in a text, ranges written out.
func idsIn(text string) []id {
	var ids []id
	for _, match := range idPattern.FindAllStringSubmatch(text, -1) {
		first := newID(match[1], match[2])
		if match[3] == "" {
			ids = append(ids, first)
			continue
		}
		last := newID(match[3], match[4])
		if last.letter != first.letter || last.number < first.number || last.number-first.number > longestRange {
			ids = append(ids, first, last) // not a range: two ids
			continue
		}
		for number := first.number; number <= last.number; number++ {
			ids = append(ids, id{first.letter, number})
		}
	}
	return ids
}

// wholeID tells whether a text is one id or one range and nothing else.
func wholeID(text string) bool {
	return idPattern.FindString(text) == text && text != ""
}

func newID(letter, digits string) id {
	number, err := strconv.Atoi(digits)
	if err != nil {
		number = 0 // cannot be: the pattern takes up to three digits
	}
	return id{letter[0], number}
}

// idsInIdentifier returns the ids in the name of a function: TestC359CountsOnce
// has C359, and TestHTTP2 has none.
func idsInIdentifier(name string) []id {
	var ids []id
	for i := 1; i < len(name); i++ {
		if !strings.ContainsRune(letters, rune(name[i])) || isUpper(name[i-1]) {
			continue
		}
		end := i + 1
		for end < len(name) && name[end] >= '0' && name[end] <= '9' {
			end++
		}
		if digits := name[i+1 : end]; digits != "" && len(digits) <= 3 {
			ids = append(ids, newID(name[i:i+1], digits))
		}
	}
	return ids
}

func isUpper(c byte) bool {
	return c >= 'A' && c <= 'Z'
}

// compact writes ids in order, neighbours as ranges: W1-W3 W7.
func compact(ids []id) string {
	sorted := slices.Compact(slices.SortedFunc(slices.Values(ids), compareIDs))
	var parts []string
	for from := 0; from < len(sorted); {
		to := from
		for to+1 < len(sorted) && sorted[to+1] == (id{sorted[to].letter, sorted[to].number + 1}) {
			to++
		}
		switch to - from {
		case 0:
			parts = append(parts, sorted[from].String())
		case 1:
			parts = append(parts, sorted[from].String(), sorted[to].String())
		default:
			parts = append(parts, sorted[from].String()+"-"+sorted[to].String())
		}
		from = to + 1
	}
	return strings.Join(parts, " ")
}
