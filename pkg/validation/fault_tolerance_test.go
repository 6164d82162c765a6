/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

const toleranceField = "spec.faultTolerance"

var tolerantGate = gates.Set{FaultTolerance: true}

func asksFor(f jobset.FaultTolerance) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { js.Spec.FaultTolerance = &f }
}

func withPolicy(maxRestarts int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.Recreate, MaxRestarts: maxRestarts}
	}
}

var (
	limitOfFive   = jobset.FaultTolerance{RetryLimit: ptr.To[int32](5)}
	refusedByGate = []violation{forbidden(toleranceField, "cannot be set when FaultTolerance feature gate is disabled: start the manager with --feature-gates=FaultTolerance=true")}
	twoLimits     = []violation{forbidden(toleranceField+".retryLimit",
		"must not be set together with failurePolicy, whose maxRestarts is the same limit and is 2: remove retryLimit, and set spec.failurePolicy.maxRestarts to the number of restarts allowed")}
)

func TestCreateFaultTolerance(t *testing.T) {
	runCreate(t, plainJobSet, map[string]createCase{
		"P82: with the gate on it is admitted":            {gates: tolerantGate, mut: asksFor(limitOfFive)},
		"P82: with the gate off it is refused":            {mut: asksFor(jobset.FaultTolerance{}), want: refusedByGate},
		"P82: a limit beside a failure policy is refused": {gates: tolerantGate, mut: each(asksFor(limitOfFive), withPolicy(2)), want: twoLimits},
		"P177: a time for lost nodes":                     {gates: tolerantGate, mut: asksFor(jobset.FaultTolerance{LostNode: &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](30)}})},
		"P177: which nothing else gives": {gates: tolerantGate, mut: asksFor(jobset.FaultTolerance{LostNode: &jobset.LostNodePolicy{}}),
			want: []violation{required(toleranceField+".lostNode.replaceAfterSeconds", "set how long after its grace period a Pod on a silent node is deleted by force, or remove lostNode")}},
		"P177 W142: one that has passed": {gates: tolerantGate, mut: asksFor(jobset.FaultTolerance{LostNode: &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](-1)}}),
			want: []violation{invalid(toleranceField+".lostNode.replaceAfterSeconds", "must be a number of seconds from 1 to 3600")}},
		"P82: a failure policy without a limit is admitted": {gates: tolerantGate, mut: each(asksFor(jobset.FaultTolerance{}), withPolicy(2))},
	})
}

func TestUpdateFaultTolerance(t *testing.T) {
	remove := func(js *jobset.JobSet) { js.Spec.FaultTolerance = nil }
	runUpdate(t, plainJobSet, map[string]updateCase{
		"P82: it may come":                                          {gates: tolerantGate, mut: asksFor(limitOfFive)},
		"P82: it may change":                                        {gates: tolerantGate, old: asksFor(jobset.FaultTolerance{}), mut: asksFor(limitOfFive)},
		"P82: it may go":                                            {gates: tolerantGate, old: asksFor(limitOfFive), mut: remove},
		"P82: with the gate off it may not come":                    {mut: asksFor(limitOfFive), want: refusedByGate},
		"P82: with the gate off it stays as it was":                 {old: asksFor(limitOfFive), mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }},
		"P82: with the gate off it may change":                      {old: asksFor(limitOfFive), mut: asksFor(jobset.FaultTolerance{})},
		"P82: a second limit may not come":                          {gates: tolerantGate, old: each(asksFor(jobset.FaultTolerance{}), withPolicy(2)), mut: each(withPolicy(2), asksFor(limitOfFive)), want: twoLimits},
		"P82: two limits of another time do not refuse other edits": {gates: tolerantGate, old: each(asksFor(limitOfFive), withPolicy(2)), mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }},
	})
}

func TestToleranceWarnings(t *testing.T) {
	t.Parallel()
	const capped = "spec.faultTolerance.retryPauseSeconds: 24h0m1s is more than the manager's configuration faultTolerance.gracePeriodMaximum allows, and counts as 24h0m0s"
	unread := func(name string) string {
		return "spec.faultTolerance." + name + ": is not read, because the group restarts in place: remove it, " +
			"and set how long the group may take to assemble in spec.faultTolerance.warmupGracePeriodSeconds"
	}
	periods := jobset.FaultTolerance{AdmissionGracePeriodSeconds: ptr.To[int32](1), WarmupGracePeriodSeconds: ptr.To[int32](2), FailureGracePeriodSeconds: ptr.To[int32](0)}
	waits := func(js *jobset.JobSet) {
		js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 1}
	}
	inPlace := each(waits, func(js *jobset.JobSet) {
		for i := range js.Spec.ReplicatedJobs {
			js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](30)}}
		}
	})
	const slow = "spec.replicatedJobs[0].template.spec.template.spec.tolerations: nothing tolerates node.kubernetes.io/unreachable, so Kubernetes leaves Pods on a node " +
		"that does not answer for 300 seconds, and all workers wait: set tolerationSeconds for it and for node.kubernetes.io/not-ready, such as 30, if your nodes do not come back sooner"
	avoidsNodes := func(failures int32) func(*jobset.JobSet) {
		return asksFor(jobset.FaultTolerance{AvoidNodes: &jobset.AvoidNodes{Failures: failures}})
	}
	terms := func(n int) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, n)},
			}}
		}
	}
	bothGates := gates.Set{FaultTolerance: true, InPlaceRestart: true}
	long := jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](24*60*60 + 1)}
	tests := map[string]struct {
		old, js func(*jobset.JobSet)
		gates   gates.Set
		want    []string
	}{
		"P83: a pause that is too long":                 {js: asksFor(long), gates: tolerantGate, want: []string{capped}},
		"P83: on update, too":                           {old: asksFor(limitOfFive), js: asksFor(long), gates: tolerantGate, want: []string{capped}},
		"P83: nothing new is nothing to warn about":     {old: asksFor(long), js: asksFor(long), gates: tolerantGate},
		"P83: gate off, nobody cares":                   {js: asksFor(long)},
		"P82: a failure policy that allows no restarts": {js: each(asksFor(jobset.FaultTolerance{}), withPolicy(0)), gates: tolerantGate, want: []string{"spec.failurePolicy.maxRestarts: is 0, which is also the default, and also the limit of faultTolerance: the first reset fails the JobSet; set how many restarts it may have"}},
		"P80: a period that a group in place does not read": {js: each(asksFor(periods), inPlace), gates: bothGates,
			want: []string{unread("admissionGracePeriodSeconds")}},
		"P80: a group in place reads the time to assemble": {js: each(asksFor(jobset.FaultTolerance{WarmupGracePeriodSeconds: ptr.To[int32](2)}), inPlace), gates: bothGates},
		"P80: other strategies read all periods":           {js: each(asksFor(periods), withPolicy(1)), gates: bothGates},
		"P80: one that waits long for a lost node":         {js: each(asksFor(jobset.FaultTolerance{}), waits), gates: bothGates, want: []string{slow}},
		"P93: as many failures as restarts":                {js: each(avoidsNodes(2), withPolicy(2)), gates: tolerantGate},
		"P93: a node that is never avoided": {js: each(avoidsNodes(0), withPolicy(2)), gates: tolerantGate, want: []string{
			"spec.faultTolerance.avoidNodes.failures: is 3, and the JobSet fails before it avoids a node, since spec.failurePolicy.maxRestarts is 2: lower the one, or raise the other"}},
		"P93: the limit of resets is one, too": {js: avoidsNodes(4), gates: tolerantGate, want: []string{
			"spec.faultTolerance.avoidNodes.failures: is 4, and the JobSet fails before it avoids a node, since spec.faultTolerance.retryLimit is 3: lower the one, or raise the other"}},
		"P93a: as many terms as all nodes fit into": {js: each(avoidsNodes(1), terms(50)), gates: tolerantGate},
		"P93a: more": {js: each(avoidsNodes(1), terms(51)), gates: tolerantGate, want: []string{
			"spec.replicatedJobs[0].template.spec.template.spec.affinity.nodeAffinity: has 51 node selector terms, and with more than 50 a Pod may avoid only some of " +
				"the nodes of faultTolerance.avoidNodes: label the nodes, and ask for that label"}},
		"P93a: more, but no nodes to avoid": {js: each(asksFor(jobset.FaultTolerance{}), terms(51)), gates: tolerantGate},
		"P82: one that allows some":         {js: each(asksFor(jobset.FaultTolerance{}), withPolicy(1)), gates: tolerantGate},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := plainJobSet()
			tc.js(js)
			var old *jobset.JobSet
			if tc.old != nil {
				old = plainJobSet()
				tc.old(old)
			}
			if diff := cmp.Diff(tc.want, ToleranceWarnings(old, js, tc.gates, tolerance.Builtin())); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
