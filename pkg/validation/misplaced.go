/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// place is a map of labels or annotations in which exclusive placement may be asked for.
type place struct {
	path    *field.Path
	entries map[string]string
	// labels and pods: its entries are labels, or those of a Pod template.
	labels, pods bool
}

// misplacedPlacement warns of annotations and labels by which somebody most likely asks for exclusive placement, and does not get
// it (W6a): the JobSet would run without, and nothing else says so.
func misplacedPlacement(js *jobset.JobSet) []string {
	const annotations, labels = "annotations", "labels"
	meta := field.NewPath("metadata")
	places := []place{{path: meta.Child(annotations), entries: js.Annotations}, {path: meta.Child(labels), entries: js.Labels, labels: true}}
	for i := range js.Spec.ReplicatedJobs {
		template := &js.Spec.ReplicatedJobs[i].Template
		job, pod := replicatedJobPath(i).Child("template", "metadata"), jobPath(i).Child("template", "metadata")
		places = append(places,
			place{path: job.Child(annotations), entries: template.Annotations},
			place{path: job.Child(labels), entries: template.Labels, labels: true},
			place{path: pod.Child(annotations), entries: template.Spec.Template.Annotations, pods: true},
			place{path: pod.Child(labels), entries: template.Spec.Template.Labels, labels: true, pods: true})
	}
	var out []string
	for _, p := range places {
		for _, key := range slices.Sorted(maps.Keys(p.entries)) {
			if len(out) >= mostOfAList {
				return out
			}
			if why := p.misplaced(key); why != "" {
				out = append(out, fmt.Sprintf("%s: %s", p.path.Key(key), why))
			}
		}
	}
	return out
}

// ChangedPlacementWarnings returns those that an update brings: annotations may always change.
func ChangedPlacementWarnings(old, new *jobset.JobSet) []string {
	before := misplacedPlacement(old)
	return slices.DeleteFunc(misplacedPlacement(new), func(warning string) bool { return slices.Contains(before, warning) })
}

// misplaced returns what is wrong with a key, nothing if it is as it should be or about something else.
func (p place) misplaced(key string) string {
	const where = "of the JobSet, or of template.metadata of a ReplicatedJob"
	meant := meantPlacement(key)
	_, exclusive := p.entries[jobset.ExclusiveKey]
	switch {
	case meant == "":
		return ""
	case key != meant || p.labels:
		return fmt.Sprintf("has no effect; exclusive placement is asked for by the annotation %s %s", meant, where)
	case p.pods && key == jobset.NodeSelectorStrategyKey:
		return fmt.Sprintf("on a Pod template, this keeps its Pods from exclusive placement; move it to the annotations %s", where)
	case p.pods:
		return fmt.Sprintf("on a Pod template, not all of JobSet reads this; move it to the annotations %s", where)
	case key == jobset.NodeSelectorStrategyKey && !exclusive:
		return fmt.Sprintf("has no effect without the annotation %s beside it", jobset.ExclusiveKey)
	}
	return ""
}

var withoutMarks = strings.NewReplacer("-", "", "_", "", ".", "")

// meantPlacement returns the annotation of exclusive placement that a key is, or was most likely meant to be; empty if it is about
// something else.
func meantPlacement(key string) string {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	ours := strings.Contains(prefix, "jobset")
	if prefixed && !ours {
		return ""
	}
	name = withoutMarks.Replace(strings.ToLower(name))
	switch {
	case name == "exclusivetopology", ours && (strings.Contains(name, "exclusive") || strings.Contains(name, "topology")):
		return jobset.ExclusiveKey
	case ours && strings.HasPrefix(name, "nodeselector"):
		return jobset.NodeSelectorStrategyKey
	}
	return ""
}
