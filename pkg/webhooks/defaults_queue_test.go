/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

const inQueue = `
metadata: {name: js, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  faultTolerance: {}
  replicatedJobs:
  - name: workers
    template: {spec: {template: {spec: {containers: [{name: worker, image: worker, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}
  - name: leader
    template: {spec: {template: {spec: {containers: [{name: leader, image: leader}]}}}}
`

func keptAway(js *jobset.JobSet) []corev1.NodeSelectorTerm {
	affinity := js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Affinity
	if affinity == nil {
		return nil
	}
	return affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

func TestAQueueSeesWhichNodesPodsKeepAwayFrom(t *testing.T) {
	zone := corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}
	sick := corev1.NodeSelectorRequirement{Key: "autopilot.ibm.com/gpuhealth", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ERR", "EVICT"}}
	inZone := func(js *jobset.JobSet) {
		js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{zone}}}}}}
	}
	for name, tc := range map[string]struct {
		change func(js *jobset.JobSet)
		off    bool
		want   []corev1.NodeSelectorRequirement
	}{
		"P90a: in its template":                 {want: []corev1.NodeSelectorRequirement{sick}},
		"P90a: beside what the author wants":    {change: inZone, want: []corev1.NodeSelectorRequirement{zone, sick}},
		"P90a: also of one that runs elsewhere": {change: func(js *jobset.JobSet) { js.Labels, js.Spec.ManagedBy = nil, ptr.To("kueue.x-k8s.io/multikueue") }, want: []corev1.NodeSelectorRequirement{sick}},
		"P90a: not without a queue":             {change: func(js *jobset.JobSet) { js.Labels = nil }},
		"P90a: not without faultTolerance":      {change: func(js *jobset.JobSet) { js.Spec.FaultTolerance = nil }},
		"P90a: not with the gate off":           {off: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := jobSetDefaulter{gates: gates.Set{FaultTolerance: !tc.off}, keepAway: nodehealth.DefaultRules()}
			written := read(t, inQueue)
			if tc.change != nil {
				tc.change(written)
			}
			stored := written.DeepCopy()
			if err := d.Default(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			var want []corev1.NodeSelectorTerm
			if tc.want != nil {
				want = []corev1.NodeSelectorTerm{{MatchExpressions: tc.want}}
			}
			if diff := cmp.Diff(want, keptAway(stored)); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
			if leader := stored.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.Affinity; leader != nil {
				t.Errorf("Pods that request no GPU have %v", leader)
			}
			if got := written.DeepCopy(); tc.want != nil { // whatever the rules are when it is applied again
				jobSetDefaulter{gates: d.gates}.keep(got, stored)
				if diff := cmp.Diff(stored, got); diff != "" {
					t.Errorf("W20a: applied again (-stored +got):\n%s", diff)
				}
			}
		})
	}
}

// TestNobodyIsToldOfAnAffinityThatWasAdded: a manifest that is applied again lacks it.
func TestNobodyIsToldOfAnAffinityThatWasAdded(t *testing.T) {
	d := jobSetDefaulter{gates: everyGate, keepAway: nodehealth.DefaultRules(), decoder: admission.NewDecoder(scheme(t))}
	js := read(t, inQueue)
	js.APIVersion, js.Kind = jobset.GroupVersion.String(), jobset.Kind
	object := written(t, fields(t, js))
	if err := d.Default(t.Context(), js); err != nil {
		t.Fatal(err)
	}
	stored := written(t, fields(t, js))
	resp := mutateJobSets(scheme(t), d)(t.Context(), request(admissionv1.Update, object, stored))
	if !resp.Allowed || len(resp.Warnings) > 0 || len(resp.Patches) != 1 && !slices.ContainsFunc(resp.Patches, func(p jsonpatch.Operation) bool { return strings.HasPrefix(p.Path, "/spec/replicatedJobs") }) {
		t.Errorf("W20a, P90a: warnings %q, patches %v", resp.Warnings, resp.Patches)
	}
	if !strings.Contains(stored, "NotIn") {
		t.Error("P90a: the affinity is not stored")
	}
}
