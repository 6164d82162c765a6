/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
)

// What an update of replicatedJobs leaves out, and what may not change, is kept (W20b). Queueing systems and GitOps tools write
// whole lists, from types of an earlier version, which lack a field, or which leave out a zero. This works on the JSON of a request:
// in Go, a field that is left out and one that is set to its zero are the same.

// unsaid is a list of ReplicatedJobs with what an update leaves out of it.
type unsaid struct {
	// list is nil if nothing is left out.
	list json.RawMessage
	// paths are of what was kept, but for what is filled in silently; defaulted are of what came with the default of the schema.
	paths, defaulted []string
}

// leftOutOf returns what an update leaves out of spec.replicatedJobs.
func leftOutOf(object, stored []byte, g gates.Set) unsaid {
	var is, was struct {
		Spec struct {
			Suspend        bool            `json:"suspend"`
			ReplicatedJobs json.RawMessage `json:"replicatedJobs"`
			FailurePolicy  struct {
				RestartStrategy jobset.JobSetRestartStrategy `json:"restartStrategy"`
			} `json:"failurePolicy"`
		} `json:"spec"`
	}
	if json.Unmarshal(object, &is) != nil || json.Unmarshal(stored, &was) != nil || bytes.Equal(is.Spec.ReplicatedJobs, was.Spec.ReplicatedJobs) {
		return unsaid{}
	}
	jobs, before := objects(is.Spec.ReplicatedJobs), map[string]map[string]any{}
	inPlace := is.Spec.FailurePolicy.RestartStrategy == jobset.InPlaceRestart && was.Spec.FailurePolicy.RestartStrategy == jobset.InPlaceRestart
	for _, job := range objects(was.Spec.ReplicatedJobs) {
		if name, ok := job["name"].(string); ok {
			if inPlace || job["elastic"] != nil { // keepSize knows of it
				withoutSize(job)
			}
			withoutChangeable(job, is.Spec.Suspend || was.Spec.Suspend, g)
			before[name] = job
		}
	}
	var k keeper
	for i, job := range jobs {
		if name, ok := job["name"].(string); ok && before[name] != nil {
			path := field.NewPath("spec", "replicatedJobs").Index(i)
			k.defaults(path, job, before[name])
			k.object(path, job, before[name])
			delete(before, name) // the schema refuses a second one of the name, and would do so after it had been filled in
		}
	}
	if !k.changed {
		return unsaid{}
	}
	list, err := json.Marshal(jobs)
	if err != nil {
		return unsaid{}
	}
	return unsaid{list, k.paths, k.defaulted}
}

// into returns an object with the list.
func (l *unsaid) into(object []byte) []byte {
	if l.list == nil {
		return object
	}
	var all, spec map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil || json.Unmarshal(all["spec"], &spec) != nil {
		return object
	}
	spec["replicatedJobs"] = l.list
	all["spec"], _ = json.Marshal(spec) // what was just decoded
	whole, _ := json.Marshal(all)
	return whole
}

// answer adds to the response for the object with the list what makes it that of the request.
func (l *unsaid) answer(response admission.Response) admission.Response {
	if l.list == nil {
		return response
	}
	response.Patches = append([]jsonpatch.Operation{jsonpatch.NewOperation("add", "/spec/replicatedJobs", l.list)}, response.Patches...)
	response = response.WithWarnings(l.defaulted...)
	if len(l.paths) > 0 {
		response = response.WithWarnings(validation.KeptWarning(l.paths))
	}
	return response
}

// objects decodes a list of objects, and returns nil if it is none.
func objects(list json.RawMessage) (decoded []map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(list))
	decoder.UseNumber() // a number is written as it was read
	if len(list) == 0 || decoder.Decode(&decoded) != nil {
		return nil
	}
	return decoded
}

// objectAt returns the object at a path of names, such as template.spec, in a ReplicatedJob; nil if there is none.
func objectAt(job map[string]any, path string) map[string]any {
	object := job
	for name := range strings.SplitSeq(path, ".") {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// withoutSize removes the size of a stored ReplicatedJob.
func withoutSize(job map[string]any) {
	spec := objectAt(job, "template.spec")
	delete(spec, "parallelism")
	delete(spec, "completions")
}

// withoutChangeable removes from a stored ReplicatedJob what is not kept here: a size that may change, its affinity, of which
// keepAffinity knows, and, if it is suspended before or after, what queueing systems set and remove (W84, W144).
func withoutChangeable(job map[string]any, suspended bool, g gates.Set) {
	remove := func(from string, keys ...string) {
		object := objectAt(job, from)
		for _, key := range keys {
			delete(object, key)
		}
	}
	if g.ElasticJobSet && objectAt(job, "template.spec")["completionMode"] == string(batchv1.IndexedCompletion) { // it may change (W91)
		withoutSize(job)
	}
	withoutAddedAffinity(job)
	if suspended {
		remove("template.spec.template.metadata", "labels", "annotations")
		remove("template.spec.template.spec", "nodeSelector", "tolerations", "schedulingGates")
	}
	if suspended && g.MutablePodResourcesForSuspendedJobSets {
		withoutResources(job)
	}
}

// withoutResources removes the requests and limits of containers.
func withoutResources(job map[string]any) {
	spec := objectAt(job, "template.spec.template.spec")
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := spec[list].([]any)
		for i := range containers {
			container, _ := containers[i].(map[string]any)
			resources, _ := container["resources"].(map[string]any)
			delete(resources, "requests")
			delete(resources, "limits")
		}
	}
}

// keeper writes into an update what it leaves out.
type keeper struct {
	changed          bool
	paths, defaulted []string
}

// filledIn are fields that an update may always leave out: creation has filled them in, and nobody is told that they are kept.
var filledIn = []string{"completionMode", "restartPolicy", "backoffLimit", "podReplacementPolicy"}

// needed are fields without which an update is refused, as one that lacks most of what it should have (W31).
var needed = []string{"template", "containers"}

// defaults keeps what the schema has filled in before this webhook was called.
func (k *keeper) defaults(path *field.Path, is, was map[string]any) {
	zero, one := json.Number("0"), json.Number("1")
	if is["replicas"] == one && was["replicas"] == zero {
		is["replicas"], k.changed = zero, true
		k.defaulted = append(k.defaulted, validation.KeptDefault(path.Child("replicas"), "1", "0"))
	}
	if name, ok := was["groupName"].(string); ok && name != "" && name != jobset.DefaultGroupName && is["groupName"] == jobset.DefaultGroupName {
		is["groupName"], k.changed = name, true
		k.defaulted = append(k.defaulted, validation.KeptDefault(path.Child("groupName"), jobset.DefaultGroupName, name))
	}
}

// object keeps what an object lacks.
func (k *keeper) object(path *field.Path, is, was map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(was)) {
		value, ok := is[key]
		if ok {
			k.value(path.Child(key), value, was[key])
			continue
		}
		if slices.Contains(needed, key) {
			continue
		}
		is[key], k.changed = was[key], true
		if !isEmpty(was[key]) && !slices.Contains(filledIn, key) {
			k.paths = append(k.paths, path.Child(key).String())
		}
	}
}

// value keeps what the objects in a value lack. Entries of a list are the same if they are as many, and have the same names.
func (k *keeper) value(path *field.Path, is, was any) {
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			k.object(path, is, was)
		}
	case []any:
		is, ok := is.([]any)
		if !ok || len(is) != len(was) {
			return
		}
		for i := range was {
			a, isObject := is[i].(map[string]any)
			b, wasObject := was[i].(map[string]any)
			name, _ := a["name"].(string) // the schema has yet to refuse what is no string
			if stored, _ := b["name"].(string); isObject && wasObject && name == stored {
				k.object(path.Index(i), a, b)
			}
		}
	}
}

// isEmpty reports whether a value has nothing in it, such as the empty objects and strings that Go writes.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, inner := range value {
			if !isEmpty(inner) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	case string:
		return value == ""
	}
	return false
}
