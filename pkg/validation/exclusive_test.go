/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestCreateExclusive(t *testing.T) {
	const key = jobset.ExclusiveKey
	const completionMode = "spec.replicatedJobs[1].template.spec.completionMode"
	annotations := func(topology string, more ...string) map[string]string {
		out := map[string]string{key: topology}
		for _, k := range more {
			out[k] = ""
		}
		return out
	}
	both := func(a map[string]string) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Annotations = a; js.Spec.ReplicatedJobs[1].Template.Annotations = a }
	}
	notIndexed := func(mut func(*jobset.JobSet)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { mut(js); job(js, 1).CompletionMode = ptr.To(batchv1.NonIndexedCompletion) }
	}
	jobSet := func(a map[string]string) func(*jobset.JobSet) { return func(js *jobset.JobSet) { js.Annotations = a } }
	template := func(a map[string]string) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Template.Annotations = a }
	}
	refused := []violation{invalid(completionMode, "must be Indexed with exclusive placement")}
	runCreate(t, plainJobSet, map[string]createCase{
		"Q27: the key of a node label, at both places": {mut: both(annotations("topology.kubernetes.io/rack"))},
		"Q27: an empty key": {
			mut: both(annotations("")),
			want: []violation{
				invalid("metadata.annotations["+key+"]", "must be the key of a node label: name part must be non-empty"),
				invalid("spec.replicatedJobs[1].template.metadata.annotations["+key+"]", "name part must be non-empty"),
			},
		},
		"Q27: a key that cannot be one, with nodes labelled beforehand too": {
			mut:  jobSet(annotations("a b", jobset.NodeSelectorStrategyKey)),
			want: []violation{invalid("metadata.annotations["+key+"]", "must be the key of a node label")},
		},
		"Q25: exclusive placement by affinity of a Job without indexes, asked for by the JobSet": {
			mut: notIndexed(jobSet(annotations("rack"))), want: refused,
		},
		"Q25: exclusive placement by affinity of a Job without indexes, asked for by its template": {
			mut: notIndexed(template(annotations("rack"))), want: refused,
		},
		"Q25: exclusive placement by affinity of a Job without indexes, asked for by its Pods": {
			mut:  notIndexed(func(js *jobset.JobSet) { job(js, 1).Template.Annotations = annotations("rack") }),
			want: refused,
		},
		"Q25: a template that overrides the domain keeps the nodes labelled beforehand": {
			mut: notIndexed(func(js *jobset.JobSet) {
				jobSet(annotations("rack", jobset.NodeSelectorStrategyKey))(js)
				template(annotations("zone"))(js)
			}),
		},
		"Q25: on nodes labelled beforehand no index is needed": {
			mut: notIndexed(both(annotations("rack", jobset.NodeSelectorStrategyKey))),
		},
		"Q25: the others may be without indexes where the template of one asks": {
			mut: func(js *jobset.JobSet) {
				template(annotations("rack"))(js)
				job(js, 0).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
			},
		},
	})
}

func TestUpdateExclusive(t *testing.T) {
	const key = "metadata.annotations[alpha.jobset.sigs.k8s.io/exclusive-topology]"
	set := func(topology string) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Annotations = map[string]string{jobset.ExclusiveKey: topology} }
	}
	labelled := func(js *jobset.JobSet) {
		js.Annotations = map[string]string{jobset.ExclusiveKey: "rack", jobset.NodeSelectorStrategyKey: "true"}
	}
	ofPods := func(js *jobset.JobSet) {
		job(js, 1).Template.Annotations = map[string]string{jobset.ExclusiveKey: "rack"}
	}
	notIndexed := func(js *jobset.JobSet) { job(js, 1).CompletionMode = ptr.To(batchv1.NonIndexedCompletion) }
	suspended := func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }
	followNobody := []violation{invalid("spec.replicatedJobs[1].template.spec.completionMode", "must be Indexed with exclusive placement")}
	refused := []violation{invalid(key, "must be the key of a node label")}
	runUpdate(t, plainJobSet, map[string]updateCase{
		"W72: the domain is set later":                                                      {mut: set("rack")},
		"W72: the domain changes while the JobSet runs":                                     {old: set("rack"), mut: set("zone")},
		"W72: the domain is taken away":                                                     {old: set("rack"), mut: func(js *jobset.JobSet) { js.Annotations = nil }},
		"W72, Q27, Q4: the domain is set to what is no key":                                 {mut: set("a b"), want: refused},
		"W72, Q27, Q4: the domain changes to what is no key":                                {old: set("rack"), mut: set("/"), want: refused},
		"Q27: a domain that was no key before does not block":                               {old: set("a b"), mut: func(js *jobset.JobSet) { js.Finalizers = nil }},
		"Q27: a domain that was no key before is fixed":                                     {old: set("a b"), mut: set("rack")},
		"W83, Q25: exclusive placement by affinity comes to a Job without indexes":          {old: notIndexed, mut: set("rack"), want: followNobody},
		"W83, Q25: the domain of a Job without indexes changes":                             {old: each(notIndexed, set("rack")), mut: set("zone"), want: followNobody},
		"W83, Q25: the nodes of a Job without indexes are no longer labelled beforehand":    {old: each(notIndexed, labelled), mut: set("rack"), want: followNobody},
		"W83, Q25: the nodes of a Job without indexes are labelled beforehand from now on":  {old: each(notIndexed, set("rack")), mut: labelled},
		"W83, Q25: the Pods of a suspended Job without indexes ask for it":                  {old: each(notIndexed, suspended), mut: ofPods, want: followNobody},
		"W83, Q25: what was placed like that before does not keep the JobSet from changing": {old: each(notIndexed, set("rack")), mut: suspended},
		"W83, Q25: other Pods may ask for it where one Job is without indexes": {old: each(notIndexed, suspended), mut: func(js *jobset.JobSet) {
			job(js, 0).Template.Annotations = map[string]string{jobset.ExclusiveKey: "rack"}
		}},
	})
}
