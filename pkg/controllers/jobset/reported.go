/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/policy"
)

// reported is what was last reported about a JobSet, so that it is not reported twice.
type reported struct {
	// values are by the object that they were found in, troubles by the reason of their event.
	values   map[types.UID]string
	troubles map[string]trouble
	// lasting are the events of the last pass that say why something waits.
	lasting []policy.Event
}

// trouble is the note of an event, and the version of the JobSet that it was first recorded about.
type trouble struct{ note, version string }

func newReported() reported {
	return reported{values: map[types.UID]string{}, troubles: map[string]trouble{}}
}

// mostReported is how many objects are remembered beyond those that a pass names: Pods come and go for as long as a JobSet lives.
const mostReported = 1000

// forgetMany forgets all objects if there are too many of them. What is still so is then reported once more.
func (t *reported) forgetMany(named int) {
	if len(t.values) > mostReported+2*named {
		clear(t.values)
	}
}

// changed stores the value of an object as reported. It reports whether the last one differed.
func (t *reported) changed(object types.UID, value string) bool {
	last, ok := t.values[object]
	t.values[object] = value
	return !ok || last != value
}

// begins returns those of the events that the last pass did not have.
func (t *reported) begins(events []policy.Event) []policy.Event {
	before := t.lasting
	t.lasting = events
	return slices.DeleteFunc(slices.Clone(events), func(event policy.Event) bool { return slices.Contains(before, event) })
}

// firstVersion returns the version of the JobSet that this note was first recorded about, which is
// the present one unless it was the last note for that reason.
func (t *reported) firstVersion(reason, note, present string) string {
	if t.troubles[reason].note != note {
		t.troubles[reason] = trouble{note, present}
	}
	return t.troubles[reason].version
}
