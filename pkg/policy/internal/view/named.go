/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/jobset/pkg/facts"
)

// MaxNamed is how many Pods an event names at the most.
const MaxNamed = 5

// Named counts all, and keeps the first names.
type Named struct {
	first []string
	Count int64
}

// Add counts a name, and keeps it if it is one of the first.
func (n *Named) Add(name string) {
	n.Count++
	if len(n.first) < MaxNamed {
		n.first = append(n.first, name)
	}
}

// AddLost counts the lost workers of a Job. It looks for names only until it has enough of them, so it
// costs what the Pods of the Job cost, not its completions.
func (n *Named) AddLost(job *JobSlots) {
	n.Count += job.lost
	if job.lost == 0 || len(n.first) == MaxNamed {
		return
	}
	for slot := range job.All {
		if slot.State != SlotLost {
			continue
		}
		name := fmt.Sprintf("index %d of Job %s", slot.Index, job.Name)
		if slot.Pod != nil {
			name = slot.Pod.Name
		}
		if n.first = append(n.first, name); len(n.first) == MaxNamed {
			return
		}
	}
}

// String is what users read.
func (n *Named) String() string {
	text := strings.Join(n.first, ", ")
	if more := n.Count - int64(len(n.first)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// FirstOf names up to five.
func FirstOf(names []string) string {
	n := Named{names[:min(len(names), MaxNamed)], int64(len(names))}
	return n.String()
}

// SortByName sorts Pods in place.
func SortByName(pods []*facts.Member) []*facts.Member {
	slices.SortFunc(pods, func(a, b *facts.Member) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// PodNames names up to five Pods.
func PodNames(pods []*facts.Member) string {
	var names Named
	for _, pod := range pods {
		names.Add(pod.Name)
	}
	return names.String()
}
