/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

var tolerancePath = specPath.Child("faultTolerance")

// faultToleranceGate refuses a field that no controller would act upon.
func faultToleranceGate(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if g.FaultTolerance || js.Spec.FaultTolerance == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(tolerancePath,
		"cannot be set when FaultTolerance feature gate is disabled: start the manager with --feature-gates=FaultTolerance=true")}
}

// lostPods refuses a time that nobody has given, or that nobody waits for (P177).
func lostPods(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if js.Spec.FaultTolerance == nil || js.Spec.FaultTolerance.LostNode == nil {
		return nil
	}
	path, after := tolerancePath.Child("lostNode", "replaceAfterSeconds"), js.Spec.FaultTolerance.LostNode.ReplaceAfterSeconds
	if after == nil {
		return field.ErrorList{field.Required(path, "set how long after its grace period a Pod on a silent node is deleted by force, or remove lostNode")}
	}
	return ReplaceAfter(path, *after)
}

// oneLimit refuses a limit under two names (P82). maxRestarts is always there if there is a failure policy: 0 is its default.
func oneLimit(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	asked := js.Spec.FaultTolerance
	if asked == nil || asked.RetryLimit == nil || js.Spec.FailurePolicy == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(tolerancePath.Child("retryLimit"), fmt.Sprintf(
		"must not be set together with failurePolicy, whose maxRestarts is the same limit and is %d: remove retryLimit, and set %s to the number of restarts allowed",
		js.Spec.FailurePolicy.MaxRestarts, failurePolicyPath.Child("maxRestarts")))}
}

// faultToleranceIfChanged: it may change at any time, to what a new JobSet may have. With the gate off
// it may change where it is, and not come in.
func faultToleranceIfChanged(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old.Spec.FaultTolerance, new.Spec.FaultTolerance) {
		return nil
	}
	var errs field.ErrorList
	if old.Spec.FaultTolerance == nil {
		errs = faultToleranceGate(new, g)
	}
	return append(append(errs, oneLimit(new, g)...), lostPods(new, g)...)
}

// ToleranceWarnings says what faultTolerance asks for and does not get. old is nil for a new JobSet.
func ToleranceWarnings(old, js *jobset.JobSet, g gates.Set, limits tolerance.Limits) []string {
	asked := js.Spec.FaultTolerance
	if !g.FaultTolerance || asked == nil || old != nil && apiequality.Semantic.DeepEqual(old.Spec.FaultTolerance, asked) {
		return nil
	}
	var out []string
	_, capped := limits.Of(asked)
	for _, c := range capped {
		out = append(out, fmt.Sprintf("%s: %s is more than the manager's configuration faultTolerance.gracePeriodMaximum allows, and counts as %s",
			tolerancePath.Child(c.Field), c.Asked, c.Got))
	}
	if workerpod.RestartsInPlace(js, g) {
		out = append(out, unreadPeriod(asked)...)
	}
	if p := js.Spec.FailurePolicy; p != nil && p.MaxRestarts == 0 && !workerpod.RestartsInPlace(js, g) { // else there is that warning already
		out = append(out, fmt.Sprintf("%s: is 0, which is also the default, and also the limit of faultTolerance: the first reset fails the JobSet; "+
			"set how many restarts it may have", failurePolicyPath.Child("maxRestarts")))
	}
	out = append(append(out, neverAvoided(js, limits)...), manyTerms(js)...)
	return append(out, slowToLeave(js, g)...)
}

// termsThatAvoid is with how many terms a Pod surely avoids all nodes with labels, of which there are at most 16 (P93a).
const termsThatAvoid = 50

// manyTerms names templates whose Pods may not avoid all nodes: these are added to each term, up to a size.
func manyTerms(js *jobset.JobSet) (out []string) {
	if js.Spec.FaultTolerance.AvoidNodes == nil {
		return nil
	}
	for i := range js.Spec.ReplicatedJobs {
		if terms := len(requiredTerms(podSpec(js, i).Affinity)); terms > termsThatAvoid && len(out) < 10 {
			out = append(out, fmt.Sprintf("%s: has %d node selector terms, and with more than %d a Pod may avoid only some of the nodes of faultTolerance.avoidNodes: "+
				"label the nodes, and ask for that label", podPath(i).Child("affinity", "nodeAffinity"), terms, termsThatAvoid))
		}
	}
	return out
}

// neverAvoided: the JobSet fails before it avoids a node (P93).
func neverAvoided(js *jobset.JobSet, limits tolerance.Limits) []string {
	asked := js.Spec.FaultTolerance.AvoidNodes
	if asked == nil {
		return nil
	}
	failures, _ := tolerance.Avoidance(asked)
	settings, _ := limits.Of(js.Spec.FaultTolerance)
	limit, where := settings.RetryLimit, tolerancePath.Child("retryLimit")
	if p := js.Spec.FailurePolicy; p != nil {
		limit, where = p.MaxRestarts, failurePolicyPath.Child("maxRestarts")
	}
	if int64(failures) <= int64(limit) {
		return nil
	}
	return []string{fmt.Sprintf("%s: is %d, and the JobSet fails before it avoids a node, since %s is %d: lower the one, or raise the other",
		tolerancePath.Child("avoidNodes", "failures"), failures, where, limit)}
}

// slowToLeave says how long a group that restarts in place waits for a lost node, which its author may not know and can
// change. Nothing is filled in: tolerations are the user's, and a short one makes workers leave nodes that would come back.
func slowToLeave(js *jobset.JobSet, g gates.Set) []string {
	if !workerpod.RestartsInPlace(js, g) {
		return nil
	}
	for i := range js.Spec.ReplicatedJobs {
		pod := podSpec(js, i)
		leaves := slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
			return t.Effect != corev1.TaintEffectNoSchedule && (t.Key == corev1.TaintNodeUnreachable || t.Key == "" && t.Operator == corev1.TolerationOpExists)
		})
		if !leaves {
			return []string{fmt.Sprintf("%s: nothing tolerates %s, so Kubernetes leaves Pods on a node that does not answer for 300 seconds, and all workers "+
				"wait: set tolerationSeconds for it and for %s, such as 30, if your nodes do not come back sooner",
				podPath(i).Child("tolerations"), corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady)}
		}
	}
	return nil
}

// unreadPeriod names the period that a group that restarts in place does not read (P80).
func unreadPeriod(asked *jobset.FaultTolerance) []string {
	if asked.AdmissionGracePeriodSeconds == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: is not read, because the group restarts in place: remove it, and set how long the group may take to assemble in %s",
		tolerancePath.Child("admissionGracePeriodSeconds"), tolerancePath.Child("warmupGracePeriodSeconds"))}
}
