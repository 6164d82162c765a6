/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/jobset/pkg/facts"
)

// maxNamed is how many Pods an event names at the most.
const maxNamed = 5

// named counts all, and keeps the first names.
type named struct {
	first []string
	count int64
}

func (n *named) add(name string) {
	n.count++
	if len(n.first) < maxNamed {
		n.first = append(n.first, name)
	}
}

// addLost counts the lost workers of a Job. It looks for names only until it has enough of them, so it
// costs what the Pods of the Job cost, not its completions.
func (n *named) addLost(job *jobSlots) {
	n.count += job.lost
	if job.lost == 0 || len(n.first) == maxNamed {
		return
	}
	for slot := range job.all {
		if slot.State != SlotLost {
			continue
		}
		name := fmt.Sprintf("index %d of Job %s", slot.Index, job.Name)
		if slot.Pod != nil {
			name = slot.Pod.Name
		}
		if n.first = append(n.first, name); len(n.first) == maxNamed {
			return
		}
	}
}

// String is what users read.
func (n *named) String() string {
	text := strings.Join(n.first, ", ")
	if more := n.count - int64(len(n.first)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// firstOf names up to five.
func firstOf(names []string) string {
	n := named{names[:min(len(names), maxNamed)], int64(len(names))}
	return n.String()
}

func sortByName(pods []*facts.Member) []*facts.Member {
	slices.SortFunc(pods, func(a, b *facts.Member) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// podNames names up to five Pods.
func podNames(pods []*facts.Member) string {
	var names named
	for _, pod := range pods {
		names.add(pod.Name)
	}
	return names.String()
}
