/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestManyMisplacedKeys(t *testing.T) {
	js := plainJobSet()
	js.Labels = map[string]string{}
	for i := range 20_000 {
		js.Labels[fmt.Sprintf("jobset/exclusive-%d", i)] = ""
	}
	if got := len(Warnings(js, gateOff)); got != 10 {
		t.Errorf("W6a W2: %d warnings", got)
	}
}

func TestMisplacedPlacement(t *testing.T) {
	const (
		inJobSet   = "metadata.annotations"
		inJob      = "spec.replicatedJobs[0].template.metadata.annotations"
		inPods     = "spec.replicatedJobs[0].template.spec.template.metadata.annotations"
		asLabel    = "metadata.labels"
		ofPods     = "spec.replicatedJobs[0].template.spec.template.metadata.labels"
		right      = jobset.ExclusiveKey
		strategy   = jobset.NodeSelectorStrategyKey
		noEffect   = "has no effect; exclusive placement is asked for by the annotation " + right
		noStrategy = "has no effect; exclusive placement is asked for by the annotation " + strategy
	)
	for name, tc := range map[string]struct {
		place string
		keys  []string
		want  string // part of the only warning, which begins with the place and the last key
	}{
		"W6a: as it should be":                                  {inJobSet, []string{right}, ""},
		"W6a: for one ReplicatedJob":                            {inJob, []string{right}, ""},
		"W6a: with nodes labelled beforehand":                   {inJob, []string{right, strategy}, ""},
		"W6a: without alpha.":                                   {inJobSet, []string{"jobset.sigs.k8s.io/exclusive-topology"}, noEffect},
		"W6a: in the domain of Kubernetes":                      {inJob, []string{"alpha.jobset.k8s.io/exclusive-topology"}, noEffect},
		"W6a: in the domain of the API":                         {inJobSet, []string{"jobset.x-k8s.io/exclusive-topology"}, noEffect},
		"W6a: misspelt":                                         {inJobSet, []string{"alpha.jobset.sigs.k8s.io/exclusive-toplogy"}, noEffect},
		"W6a: misspelt otherwise":                               {inJobSet, []string{"alpha.jobset.sigs.k8s.io/exlusive-topology"}, noEffect},
		"W6a: in another case":                                  {inJobSet, []string{"alpha.jobset.sigs.k8s.io/exclusiveTopology"}, noEffect},
		"W6a: without a domain":                                 {inJobSet, []string{"exclusive-topology"}, noEffect},
		"W6a: as a label":                                       {asLabel, []string{right}, noEffect},
		"W6a: as a label of Pods":                               {ofPods, []string{right}, noEffect},
		"W6a: on the Pod template":                              {inPods, []string{right}, "on a Pod template, not all of JobSet reads this"},
		"W6a: the strategy on the Pod template":                 {inPods, []string{strategy}, "keeps its Pods from exclusive placement"},
		"W6a: the strategy without the topology":                {inJob, []string{strategy}, "has no effect without the annotation " + right},
		"W6a: the strategy without alpha.":                      {inJobSet, []string{right, "jobset.sigs.k8s.io/node-selector"}, noStrategy},
		"W6a: an exclusive topology of others":                  {inJobSet, []string{"example.com/exclusive-topology"}, ""},
		"W6a: another annotation of ours":                       {inJobSet, []string{jobset.DisableInPlaceRestartKey}, ""},
		"W6a: a topology of a queue":                            {inPods, []string{"kueue.x-k8s.io/podset-required-topology"}, ""},
		"W6a: a label of ours that Pods of another JobSet have": {ofPods, []string{jobset.NamespacedJobKey}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := plainJobSet()
			entries := map[string]string{}
			for _, key := range tc.keys {
				entries[key] = "rack"
			}
			template := &js.Spec.ReplicatedJobs[0].Template
			*map[string]*map[string]string{
				inJobSet: &js.Annotations, inJob: &template.Annotations, inPods: &template.Spec.Template.Annotations,
				asLabel: &js.Labels, ofPods: &template.Spec.Template.Labels,
			}[tc.place] = entries
			got := Warnings(js, gateOff)
			if want := tc.place + "[" + tc.keys[len(tc.keys)-1] + "]: " + tc.want; tc.want == "" && got != nil ||
				tc.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.place+"[") || !strings.Contains(got[0], tc.want)) {
				t.Errorf("got %q, want %q", got, want)
			}
			if told := ChangedPlacementWarnings(plainJobSet(), js); !slices.Equal(told, got) {
				t.Errorf("an update that brings it warns of %q", told)
			}
			if told := ChangedPlacementWarnings(js, js); len(told) > 0 {
				t.Errorf("an update that does not warns of %q", told)
			}
		})
	}
}
