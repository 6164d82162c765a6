/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"reflect"
	"slices"

	"sigs.k8s.io/jobset/pkg/sizes"
)

// Delta is what a page must change. What is nil stays.
type Delta struct {
	// Full: the page forgets what it had.
	Full    bool         `json:"full,omitempty"`
	Scope   *Scope       `json:"scope,omitempty"`
	List    *[]Summary   `json:"list,omitempty"`
	Nodes   *[]Node      `json:"nodes,omitempty"`
	Elastic *[]sizes.Job `json:"elastic,omitempty"`
	Notes   *[]string    `json:"notes,omitempty"`
	Detail  *Detail      `json:"detail,omitempty"`
	// Size is the number of cells, if it or the JobSet changed; Cells are those that changed, by their place.
	Size  *int         `json:"size,omitempty"`
	Cells map[int]Cell `json:"cells,omitempty"`
}

// Diff returns what a page that shows the JobSet of an ID, or the first one if there is no such, must change; nil if
// nothing. A page that shows nothing yet has no view before.
func Diff(before, after *View, id string) *Delta {
	d := Delta{}
	if before == nil {
		before = &View{}
		d.Full, d.Scope = true, &after.Scope
	}
	d.List = changed(summaries(before), summaries(after), d.Full)
	d.Nodes = changed(before.Nodes, after.Nodes, d.Full)
	d.Elastic = changed(before.Elastic, after.Elastic, d.Full)
	d.Notes = changed(before.Notes, after.Notes, d.Full)
	d.addJobSet(find(before, id), find(after, id))
	if reflect.ValueOf(d).IsZero() {
		return nil
	}
	return &d
}

// find returns the JobSet that is shown, nil if there is none.
func find(v *View, id string) *JobSet {
	i := slices.IndexFunc(v.JobSets, func(js *JobSet) bool { return js.Summary.ID == id })
	switch {
	case i >= 0:
		return v.JobSets[i]
	case len(v.JobSets) > 0:
		return v.JobSets[0]
	}
	return nil
}

func summaries(v *View) []Summary {
	list := make([]Summary, len(v.JobSets))
	for i, js := range v.JobSets {
		list[i] = js.Summary
	}
	return list
}

// changed returns a list if it is not the same any more. Never nil inside: JSON has null for that.
func changed[T any](before, after []T, full bool) *[]T {
	if !full && (len(before) == 0 && len(after) == 0 || reflect.DeepEqual(before, after)) {
		return nil
	}
	list := append([]T{}, after...)
	return &list
}

func (d *Delta) addJobSet(before, after *JobSet) {
	switch {
	case before == after:
		return
	case after == nil:
		d.Detail, d.Size = &Detail{}, new(int)
		return
	case before == nil || before.Summary.ID != after.Summary.ID:
		before = &JobSet{}
	}
	if !reflect.DeepEqual(before.Detail, after.Detail) {
		d.Detail = &after.Detail
	}
	if size := len(after.Cells); len(before.Cells) != size || before.Summary.ID == "" {
		d.Size = &size
	}
	for i := range after.Cells {
		if i < len(before.Cells) && before.Cells[i] == after.Cells[i] {
			continue
		}
		if d.Cells == nil {
			d.Cells = map[int]Cell{}
		}
		d.Cells[i] = after.Cells[i]
	}
}
