/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"testing"
)

var (
	levelFlag  = flag.String("sequence.level", "quick", "how much is searched: quick, bounded or full")
	caseFlag   = flag.String("sequence.case", "", "search only scenarios whose name matches this expression")
	partFlag   = flag.String("sequence.part", "", "search only a part, such as 2/3, of the scenarios that no other level than full has")
	twistFlag  = flag.String("sequence.twist", "", "a fault to put into the model: stale-first-read, narrow-rule, pods-by-name, stale-confirm, repeats-in-lease")
	updateFlag = flag.Bool("update", false, "write the transcripts in testdata")
	statesFlag = flag.Int("sequence.states", 12_000_000, "give up a scenario after this many states")
)

func chosenLevel(t *testing.T) level {
	t.Helper()
	l, ok := levels[*levelFlag]
	if !ok {
		t.Fatalf("-sequence.level is %q; it must be quick, bounded or full", *levelFlag)
	}
	return l
}

// chosenCases are the scenarios of the level. A part of them leaves out what make check searches.
func chosenCases(t *testing.T) []searched {
	t.Helper()
	all := casesUpTo(chosenLevel(t))
	if *partFlag == "" {
		return all
	}
	var part, of int
	if n, err := fmt.Sscanf(*partFlag, "%d/%d", &part, &of); n != 2 || err != nil || part < 1 || part > of {
		t.Fatalf("-sequence.part is %q; it must be like 2/3", *partFlag)
	}
	var chosen []searched
	for i, c := range slices.DeleteFunc(all, func(c searched) bool { return c.from != full }) {
		if i%of == part-1 {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// TestEverySchedule searches all schedules within the bounds of each scenario for a
// violation of properties 1 to 6, and shows the shortest.
func TestEverySchedule(t *testing.T) {
	only := regexp.MustCompile(*caseFlag)
	fault, ok := twists[*twistFlag]
	if !ok {
		t.Fatalf("-sequence.twist is %q", *twistFlag)
	}
	states, transitions := 0, int64(0)
	for _, c := range chosenCases(t) {
		if !only.MatchString(c.name) {
			continue
		}
		c.twist = fault
		s := newSearch(&c.scenario, *statesFlag)
		found := s.run()
		states, transitions = states+len(s.parents), transitions+s.transitions.Load()
		t.Log(s)
		if found != nil {
			t.Fatalf("%s: %v, in %d steps\n%s\n%s", c.name, found.err, found.steps, found.trace, legend)
		}
		if s.truncated {
			t.Errorf("%s: there are more than %d states", c.name, *statesFlag)
		}
	}
	t.Logf("%d states, %d transitions in all", states, transitions)
}
