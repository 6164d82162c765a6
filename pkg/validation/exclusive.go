/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
)

// exclusiveTopology checks the annotation of exclusive placement in both places
// where it can be set. Pods with a key that no node can have would never start.
func exclusiveTopology(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	errs := topologyKey(field.NewPath("metadata", "annotations"), js.Annotations)
	for i := range js.Spec.ReplicatedJobs {
		path := replicatedJobPath(i).Child("template", "metadata", "annotations")
		errs = append(errs, topologyKey(path, js.Spec.ReplicatedJobs[i].Template.Annotations)...)
	}
	return errs
}

func topologyKey(path *field.Path, annotations map[string]string) field.ErrorList {
	key, exclusive := annotations[jobset.ExclusiveKey]
	if !exclusive {
		return nil
	}
	messages := validation.IsQualifiedName(key)
	if len(messages) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Key(jobset.ExclusiveKey), key,
		"must be the key of a node label: "+strings.Join(messages, "; "))}
}

// exclusiveIsIndexed requires Indexed Jobs for placement by affinity: the Pod of index 0 is
// placed first and the others follow it. Without indexes all Pods would wait indefinitely.
func exclusiveIsIndexed(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	builder := children.NewBuilder(js)
	for i := range js.Spec.ReplicatedJobs {
		rj := &js.Spec.ReplicatedJobs[i]
		if !isIndexed(&rj.Template.Spec) && exclusivityOf(builder, rj).byAffinity() {
			errs = append(errs, needsIndexes(js, i))
		}
	}
	return errs
}

func needsIndexes(js *jobset.JobSet, i int) *field.Error {
	return field.Invalid(jobPath(i).Child("completionMode"), jobSpec(js, i).CompletionMode, fmt.Sprintf(
		"must be Indexed with exclusive placement (annotation %s): the other Pods of a Job follow that of index 0; "+
			"or label the nodes beforehand and set the annotation %s beside it", jobset.ExclusiveKey, jobset.NodeSelectorStrategyKey))
}

// exclusivity is what the annotations of Pods say about their place.
type exclusivity struct {
	topology            string
	exclusive, labelled bool
}

func (e exclusivity) byAffinity() bool { return e.exclusive && !e.labelled }

// exclusivityOf returns that of the Pods of a ReplicatedJob. It builds a Job, since annotations of several
// levels are merged there.
func exclusivityOf(builder *children.Builder, rj *jobset.ReplicatedJob) exclusivity {
	bare := &jobset.ReplicatedJob{Name: rj.Name, Template: batchv1.JobTemplateSpec{ObjectMeta: rj.Template.ObjectMeta}}
	bare.Template.Spec.Template.ObjectMeta = rj.Template.Spec.Template.ObjectMeta
	pods := builder.Job(bare, 0).Spec.Template.Annotations
	var e exclusivity
	e.topology, e.exclusive = pods[jobset.ExclusiveKey]
	_, e.labelled = pods[jobset.NodeSelectorStrategyKey]
	return e
}

// exclusiveIfChanged checks a changed topology key, which may change at any time, and the ReplicatedJobs whose
// Pods would be placed in another way: the annotations of a Pod template may also change while suspended.
func exclusiveIfChanged(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	was, before := old.Annotations[jobset.ExclusiveKey]
	is, after := new.Annotations[jobset.ExclusiveKey]
	if before != after || was != is {
		errs = topologyKey(field.NewPath("metadata", "annotations"), new.Annotations)
	}
	builder, formerly := children.NewBuilder(new), children.NewBuilder(old)
	for i, was := range kept(old, new) {
		rj := &new.Spec.ReplicatedJobs[i]
		if isIndexed(&rj.Template.Spec) {
			continue
		}
		if place := exclusivityOf(builder, rj); place.byAffinity() && exclusivityOf(formerly, was) != place {
			errs = append(errs, needsIndexes(new, i))
		}
	}
	return errs
}
