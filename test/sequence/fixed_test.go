/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMended follows schedules that broke a property once, which testdata keeps as the search
// found them. As long as the same can happen the same happens, but for what the controller
// decides: that has to be something else now, and nothing may break.
func TestMended(t *testing.T) {
	t.Parallel()
	oneJob := []replicatedJob{{"w", 1, 2, -1}}
	for name, sc := range map[string]scenario{
		// P45
		"success-then-a-failure-restarts-all-Jobs": {rjobs: driverAndWorker, success: success{targets: 1}, running: true, splitEnd: true},
		"success-then-a-failure-fails-the-JobSet":  {rjobs: driverAndWorker, success: success{targets: 1}, maxRestarts: none, running: true, splitEnd: true},
		"success-of-a-Job-then-a-failure":          {rjobs: oneJob, leaders: 1, running: true, splitEnd: true},
		"a-success-that-is-seen-no-more":           {rjobs: oneJob, running: true},
		// P46
		"half-a-group-while-a-claim-goes": {rjobs: []replicatedJob{{"w", 2, 1, -1}}, claims: true, pokes: pokeClaim, clock: true},
		// P47
		"a-Pod-beyond-the-size-runs":           {rjobs: oneJob, hasResizes: true, running: true},
		"a-Pod-beyond-the-size-past-its-grace": {rjobs: oneJob, hasResizes: true, running: true, graces: true},
		// P48
		"a-long-grace-and-the-deadline":            {rjobs: oneJob, running: true, graces: true, clock: true},
		"a-claim-that-goes-and-the-deadline":       {rjobs: []replicatedJob{{"w", 1, 1, -1}}, pokes: pokeClaim, claims: true, shared: true, clock: true},
		"old-Pods-that-go-slowly-and-the-deadline": {rjobs: []replicatedJob{{"w", 1, 1, -1}}, kinds: hang, graces: true, clock: true},
		// P17
		"a-finished-worker-is-left-out": {rjobs: oneJob, running: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc.name, sc.lag = name, 20
			sc.left = budgets{9, 9, 9, 9, 9, 9, 0, 0}
			sc.defaults()
			rows := actsOf(t, "fixed-"+name)
			w, d := sc.start(), newDecider(&sc)
			for i, act := range rows {
				next, err := w.doing(act, d)
				if err != nil {
					t.Fatalf("after %q: %v", act, err)
				}
				if next == nil && strings.HasPrefix(act, "controller: ") {
					if next, err = w.controllerDoes(d); err != nil {
						t.Fatalf("instead of %q: %v", act, err)
					}
				} else if i == len(rows)-1 && next != nil {
					t.Errorf("the controller still does this: %s", act)
				}
				if next != nil {
					w = next
				}
			}
			w.left = budgets{}
			end := w.settle(d, 1000, nil)
			if end.held == waits { // a wait that nothing follows
				end = end.settle(d, 1000, nil)
			}
			if !end.good() {
				t.Errorf("it does not end well: %+v", end.jobSet.live())
			}
		})
	}
}

var actColumn = regexp.MustCompile(`\| \S+ +\d{3}  (.*)$`)

// actsOf reads what happens in a transcript.
func actsOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var acts []string
	for line := range strings.Lines(string(text)) {
		if found := actColumn.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil {
			acts = append(acts, found[1])
		}
	}
	if len(acts) < 2 {
		t.Fatalf("%s.txt has no rows", name)
	}
	return acts[1:] // the first is how it began
}

// doing takes the step that a trace describes so, nil if there is none now.
func (w *world) doing(act string, d *decider) (*world, error) {
	for _, s := range w.enabled(nil) {
		next, err := w.after(s, d)
		if next != nil && describe(w, next, s) == act {
			return next, err
		}
	}
	return nil, nil
}

// controllerDoes lets the controller do what it would do now, nil if that is nothing.
func (w *world) controllerDoes(d *decider) (*world, error) {
	for _, s := range w.controllerSteps(nil) {
		if s.kind < begin || s.kind >= waitEnds && s.kind <= pauseEnds {
			continue
		}
		if next, err := w.after(s, d); next != nil || err != nil {
			return next, err
		}
	}
	return nil, nil
}
