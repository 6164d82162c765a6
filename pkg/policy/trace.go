/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// changeNames are the names of the bits of changes, lowest first.
var changeNames = []string{"deprecate", "liftBarrier", "restartAllJobs", "chargeAllJobs", "chargeGroup",
	"completesJobSet", "failsJobSet", "breaksGroup", "disrupted", "planned", "spendEpoch", "resumesJobSet"}

// trace notes what a step returned. It is called only if the input asks for it: it uses reflection, so that a new
// field of a plan is in the log without a line here.
func trace(v *view.View, decide step, r pass.Result) {
	name := runtime.FuncForPC(reflect.ValueOf(decide).Pointer()).Name()
	v.Steps = append(v.Steps, pass.Step{Name: lowerFirst(name[strings.LastIndexByte(name, '.')+1:]), Added: added(&r, v.JobSet.Status.Conditions), Ended: r.Ends})
}

// traceRule notes that a rule of Decide itself replaced what the steps before it asked for.
func traceRule(v *view.View, name, added string) {
	if v.Trace {
		v.Steps = append(v.Steps, pass.Step{Name: name, Added: []string{added}})
	}
}

// added names everything in a result that is not empty, and not for a condition that does not hold.
func added(r *pass.Result, conditions []metav1.Condition) []string {
	added := fieldsOf(reflect.ValueOf(*r), "Ends", "Changes", "Notices", "Ask", "Writes", "Remember", "Reports", "Pace", "Began", "Suspect")
	for i, name := range added { // names of the plan have a capital letter
		added[i] = lowerFirst(name)
	}
	for _, part := range []any{r.Ask, r.Writes, r.Remember, r.Reports, r.Pace} {
		added = append(added, fieldsOf(reflect.ValueOf(part), "Ops")...)
	}
	for i, name := range pass.OpNames {
		if n := len(r.Writes.Of(1 << i)); n > 0 {
			added = append(added, fmt.Sprintf("%s=%d", name, n))
		}
	}
	for i, name := range changeNames {
		if r.Changes.Any(1 << i) {
			added = append(added, name)
		}
	}
	for _, n := range r.Notices {
		switch {
		case n.IfTrue && !apimeta.IsStatusConditionTrue(conditions, n.Condition.Type):
		case n.Condition.Type != "":
			added = append(added, fmt.Sprintf("condition %s=%s %s", n.Condition.Type, n.Condition.Status, n.Condition.Reason))
		case n.Event.Reason != "":
			added = append(added, "event "+n.Event.Reason)
		}
	}
	return added
}

// fieldsOf names the fields of a struct that are not zero: lists with their length, numbers and texts with their value.
func fieldsOf(of reflect.Value, without ...string) []string {
	var names []string
	for i := range of.NumField() {
		field, name := of.Field(i), of.Type().Field(i).Name
		if field.IsZero() || slices.Contains(without, name) {
			continue
		}
		switch field.Kind() {
		case reflect.Slice:
			name = fmt.Sprintf("%s=%d", name, field.Len())
		case reflect.Int, reflect.Int32, reflect.Int64, reflect.String:
			name = fmt.Sprintf("%s=%v", name, field)
		}
		names = append(names, name)
	}
	return names
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }
