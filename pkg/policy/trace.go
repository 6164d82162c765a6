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
)

// changeNames are the names of the bits of changes, lowest first.
var changeNames = []string{"deprecate", "liftBarrier", "restartAllJobs", "chargeAllJobs", "chargeGroup",
	"completesJobSet", "failsJobSet", "breaksGroup", "disrupted", "planned", "spendEpoch", "resumesJobSet"}

// trace notes what a step returned. It is called only if the input asks for it: it uses reflection, so that a new
// field of a plan is in the log without a line here.
func (v *view) trace(decide step, r result) {
	name := runtime.FuncForPC(reflect.ValueOf(decide).Pointer()).Name()
	v.steps = append(v.steps, Step{Name: name[strings.LastIndexByte(name, '.')+1:], Added: r.added(v.JobSet.Status.Conditions), Ended: r.ends})
}

// traceRule notes that a rule of Decide itself replaced what the steps before it asked for.
func (v *view) traceRule(name, added string) {
	if v.Trace {
		v.steps = append(v.steps, Step{Name: name, Added: []string{added}})
	}
}

// added names everything in a result that is not empty, and not for a condition that does not hold.
func (r *result) added(conditions []metav1.Condition) []string {
	added := fieldsOf(reflect.ValueOf(*r), "ends", "changes", "notices", "ask", "writes", "remember", "reports", "pace", "began", "suspect")
	for _, part := range []any{r.ask, r.writes, r.remember, r.reports, r.pace} {
		added = append(added, fieldsOf(reflect.ValueOf(part), "Ops")...)
	}
	for i, name := range opNames {
		if n := len(r.writes.Of(1 << i)); n > 0 {
			added = append(added, fmt.Sprintf("%s=%d", name, n))
		}
	}
	for i, name := range changeNames {
		if r.changes.any(1 << i) {
			added = append(added, name)
		}
	}
	for _, n := range r.notices {
		switch {
		case n.ifTrue && !apimeta.IsStatusConditionTrue(conditions, n.condition.Type):
		case n.condition.Type != "":
			added = append(added, fmt.Sprintf("condition %s=%s %s", n.condition.Type, n.condition.Status, n.condition.Reason))
		case n.event.Reason != "":
			added = append(added, "event "+n.event.Reason)
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
