/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// A queueing system puts selectors, tolerations and gates of one set of nodes into the template of a JobSet, takes them out when
// it evicts the JobSet, and puts in those of another set. Each Job records which entries came from the template, so that a resume
// can tell those that are to go from what admission of Jobs or another controller added (C334a). Jobs of versions without
// the record keep everything at their next resume, which writes it.

const (
	// maxRecord bounds the record in bytes, and maxAnnotations what the Kubernetes API takes of all annotations of an object.
	maxRecord      = 16 << 10
	maxAnnotations = 256 << 10
)

// record writes on a Job which entries of its Pod template come from the template of its JobSet: keys, without values. Entries
// that do not fit are left out, and stay at the resume.
func record(job *batchv1.Job, template *corev1.PodTemplateSpec) {
	delete(job.Annotations, constants.TemplateEntriesKey)
	room := maxAnnotations - len(constants.TemplateEntriesKey)
	for key, value := range job.Annotations {
		room -= len(key) + len(value)
	}
	room = min(room, maxRecord)
	var entries []string
	for _, entry := range entriesOf(template) {
		if room -= len(entry) + len(`"",`); room < len("[]") {
			break
		}
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return
	}
	if raw, err := json.Marshal(entries); err == nil && len(raw) <= maxRecord { // longer only if characters are escaped that no key has
		job.Annotations = merged(job.Annotations, map[string]string{constants.TemplateEntriesKey: string(raw)})
	}
}

// entriesOf returns the entries of a template that may change while its JobSet is suspended; those without which Pods can be
// scheduled elsewhere come first.
func entriesOf(template *corev1.PodTemplateSpec) []string {
	var all []string
	for _, gate := range template.Spec.SchedulingGates {
		all = append(all, gateEntry(gate))
	}
	all = appendKeys(all, selectorField, template.Spec.NodeSelector)
	for i := range template.Spec.Tolerations {
		all = append(all, tolerationEntry(template.Spec.Tolerations[i]))
	}
	all = appendKeys(all, labelField, template.Labels)
	return appendKeys(all, annotationField, template.Annotations)
}

// appendKeys leaves out keys that never go.
func appendKeys(all []string, name string, entries map[string]string) []string {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if !isKept(key) {
			all = append(all, name+key)
		}
	}
	return all
}

const (
	selectorField   = "nodeSelector/"
	labelField      = "labels/"
	annotationField = "annotations/"
)

func gateEntry(gate corev1.PodSchedulingGate) string { return "schedulingGates/" + gate.Name }

// tolerationEntry is all of a toleration: several may have the same key.
func tolerationEntry(t corev1.Toleration) string {
	return fmt.Sprintf("tolerations/%s:%s:%s:%s:%d", t.Key, t.Operator, t.Value, t.Effect, ptr.Deref(t.TolerationSeconds, -1))
}

// leftovers returns what an earlier template put on a Job and the template has no longer. A record that cannot be read is none.
func leftovers(job *batchv1.Job, template *corev1.PodTemplateSpec) sets.Set[string] {
	var entries []string
	if json.Unmarshal([]byte(job.Annotations[constants.TemplateEntriesKey]), &entries) != nil {
		return nil
	}
	return sets.New(entries...).Delete(entriesOf(template)...)
}

// removeLeftovers removes entries from the template of a Job, but for those that are not the author's: the controller's,
// and those of the Job controller, without which the API server refuses the Job.
func removeLeftovers(have *corev1.PodTemplateSpec, gone sets.Set[string]) {
	if len(gone) == 0 {
		return
	}
	for name, entries := range map[string]map[string]string{labelField: have.Labels, annotationField: have.Annotations, selectorField: have.Spec.NodeSelector} {
		maps.DeleteFunc(entries, func(key, _ string) bool { return gone.Has(name+key) && !isKept(key) })
	}
	have.Spec.Tolerations = slices.DeleteFunc(have.Spec.Tolerations, func(t corev1.Toleration) bool {
		return gone.Has(tolerationEntry(t)) && t.Key != jobset.NoScheduleTaintKey
	})
	have.Spec.SchedulingGates = slices.DeleteFunc(have.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return gone.Has(gateEntry(g)) })
}

// isKept reports whether a key is the controller's or the Job controller's.
func isKept(key string) bool {
	return reservedKeys.Has(key) || key == "controller-uid" || key == "job-name" || strings.HasPrefix(key, "batch.kubernetes.io/")
}
