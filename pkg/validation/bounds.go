/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// One JobSet must not take the manager away from all others, so everything that is looked at again and again has a
// maximum (W140). They are far above what was ever measured, and what Kubernetes takes; site/content/en/docs/operations/limits.md
// lists them. The code does not rely on them: objects of older versions may have more.
const (
	// maxReplicatedJobs is also the maximum of lists of their names.
	maxReplicatedJobs = 1_000
	// maxWorkers counts the Pods that run at the same time; Kubernetes supports 150,000 in a cluster.
	maxWorkers = 1_000_000
	// maxContainers are those of one Pod template, init containers too; maxAllContainers those of all templates.
	maxContainers    = 100
	maxAllContainers = 10_000
	// maxFailureRules are those of failurePolicy, maxPatterns the patterns, and the reasons, of one of them.
	maxFailureRules = 100
	maxPatterns     = 50
	// maxPodFailureRules, maxRestartRules and maxExitCodes are those of the Kubernetes API, which sees a template only when a Job is created.
	maxPodFailureRules = 20
	maxRestartRules    = 20
	maxExitCodes       = 255
	// maxResourceNames are those that one Pod template requests or limits.
	maxResourceNames = 64
	// maxTolerations are those of one Pod template, maxNodeTerms its required terms of node affinity with their expressions.
	maxTolerations = 1_000
	maxNodeTerms   = 1_000
)

// atMost returns a violation if there is more than allowed.
func atMost[N int | int64](path *field.Path, count, most N, what, instead string) field.ErrorList {
	if count <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, count, fmt.Sprintf("must be at most %d %s, and there are %d: %s", most, what, count, instead))}
}

// jobSetBounds are those of a whole JobSet.
func jobSetBounds(js *jobset.JobSet) field.ErrorList {
	path := specPath.Child("replicatedJobs")
	errs := atMost(path, len(js.Spec.ReplicatedJobs), maxReplicatedJobs, "ReplicatedJobs", "use replicas, or several JobSets")
	errs = append(errs, workerBound(js, 0)...)
	containers := 0
	for i := range js.Spec.ReplicatedJobs {
		spec := podSpec(js, i)
		containers += len(spec.InitContainers) + len(spec.Containers)
	}
	errs = append(errs, atMost(path, containers, maxAllContainers, "containers in all Pod templates together",
		"use replicas for equal templates, or several JobSets")...)
	if p := js.Spec.SuccessPolicy; p != nil {
		errs = append(errs, atMost(specPath.Child("successPolicy", "targetReplicatedJobs"), len(p.TargetReplicatedJobs), maxReplicatedJobs,
			"names", "write each name once")...)
	}
	if p := js.Spec.FailurePolicy; p != nil {
		errs = append(errs, failurePolicyBounds(p)...)
	}
	return errs
}

func failurePolicyBounds(p *jobset.FailurePolicy) field.ErrorList {
	path := failurePolicyPath.Child("rules")
	errs := atMost(path, len(p.Rules), maxFailureRules, "rules", "let one rule have several reasons, patterns or targets")
	for i := range p.Rules {
		for _, list := range []struct {
			name        string
			count, most int
		}{
			{"targetReplicatedJobs", len(p.Rules[i].TargetReplicatedJobs), maxReplicatedJobs},
			{"onJobFailureReasons", len(p.Rules[i].OnJobFailureReasons), maxPatterns},
			{"onJobFailureMessagePatterns", len(p.Rules[i].OnJobFailureMessagePatterns), maxPatterns},
		} {
			errs = append(errs, atMost(path.Index(i).Child(list.name), list.count, list.most, "entries",
				"write each once, and join patterns by |")...)
		}
	}
	return errs
}

// workerBound refuses more workers than the maximum, unless an update leaves at most as many as there were.
func workerBound(js *jobset.JobSet, before int64) field.ErrorList {
	count, beyond32 := workersOf(js)
	if beyond32 || count <= before { // podCount refuses the former, with a message that clients know
		return nil
	}
	return atMost(specPath.Child("replicatedJobs"), count, maxWorkers, "workers, replicas times parallelism or elastic.maxInstances of all ReplicatedJobs",
		"use fewer, or several JobSets")
}

// workersOf returns how many Pods a JobSet may have at a time, and whether those of one ReplicatedJob do not fit into 32
// bits. A Job counts even if it has none.
func workersOf(js *jobset.JobSet) (count int64, beyond32 bool) {
	for i := range js.Spec.ReplicatedJobs {
		rj := &js.Spec.ReplicatedJobs[i]
		each := max(int64(ptr.Deref(rj.Template.Spec.Parallelism, 1)), 1)
		if rj.Elastic != nil {
			each = max(each, int64(rj.Elastic.MaxInstances))
		}
		count += max(int64(rj.Replicas), 0) * each // at most 62 bits, and 32 if podCount admits it
		if beyond32 = beyond32 || len(podCount(js, i)) > 0; beyond32 {
			return 0, true
		}
	}
	return count, false
}

// workersIfGrown refuses an update that adds workers above the maximum. One with more from before may shrink, and
// change in every other way.
func workersIfGrown(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	before, beyond32 := workersOf(old)
	if beyond32 {
		return nil
	}
	return workerBound(new, before)
}

// tolerationsIfGrown does the same for the only list with a maximum that a queueing system may extend.
func tolerationsIfGrown(old, new *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i := range new.Spec.ReplicatedJobs {
		is := len(podSpec(new, i).Tolerations)
		if is <= maxTolerations {
			continue
		}
		if was := predecessor(old, new, i); was == nil || is > len(was.Template.Spec.Template.Spec.Tolerations) {
			errs = append(errs, tolerationBound(i, is)...)
		}
	}
	return errs
}

func tolerationBound(i, count int) field.ErrorList {
	return atMost(podPath(i).Child("tolerations"), count, maxTolerations, "tolerations", "operator Exists tolerates all values of a key")
}

// templateBounds are those of one template.
func templateBounds(js *jobset.JobSet, i int) field.ErrorList {
	job := jobSpec(js, i)
	spec, path := &job.Template.Spec, podPath(i)
	errs := atMost(path.Child("containers"), len(spec.InitContainers)+len(spec.Containers), maxContainers,
		"containers and initContainers of a Pod", "use more Pods")
	for at, c := range containersOf(js, i) {
		errs = append(errs, restartRuleBounds(c, at)...)
	}
	errs = append(errs, podFailureBounds(jobPath(i).Child("podFailurePolicy", "rules"), job.PodFailurePolicy)...)
	errs = append(errs, tolerationBound(i, len(spec.Tolerations))...)
	errs = append(errs, atMost(path.Child("affinity", "nodeAffinity"), nodeTerms(spec.Affinity), maxNodeTerms,
		"required node selector terms, with their expressions", "label the nodes, and ask for that label")...)
	return append(errs, resourceBound(js, i)...)
}

// resourceBound counts the different names in a Pod template.
func resourceBound(js *jobset.JobSet, i int) field.ErrorList {
	spec := podSpec(js, i)
	all := []*corev1.ResourceRequirements{spec.Resources, {Requests: spec.Overhead}}
	for _, c := range containersOf(js, i) {
		all = append(all, &c.Resources)
	}
	return atMost(podPath(i), len(resourceNames(all...)), maxResourceNames, "names of resources", "request only what nodes have")
}

func restartRuleBounds(c *corev1.Container, path func() *field.Path) field.ErrorList {
	if len(c.RestartPolicyRules) == 0 {
		return nil
	}
	rules := path().Child("restartPolicyRules")
	errs := atMost(rules, len(c.RestartPolicyRules), maxRestartRules, "rules", "let one rule list several exit codes")
	for i, rule := range c.RestartPolicyRules {
		if rule.ExitCodes != nil {
			errs = append(errs, exitCodeBound(rules.Index(i).Child("exitCodes"), rule.ExitCodes.Values)...)
		}
	}
	return errs
}

func podFailureBounds(path *field.Path, policy *batchv1.PodFailurePolicy) field.ErrorList {
	if policy == nil {
		return nil
	}
	errs := atMost(path, len(policy.Rules), maxPodFailureRules, "rules", "let one rule list several exit codes")
	for i := range policy.Rules {
		if when := policy.Rules[i].OnExitCodes; when != nil {
			errs = append(errs, exitCodeBound(path.Index(i).Child("onExitCodes"), when.Values)...)
		}
	}
	return errs
}

func exitCodeBound(path *field.Path, codes []int32) field.ErrorList {
	return atMost(path.Child("values"), len(codes), maxExitCodes, "exit codes", "list those with operator NotIn that are not meant")
}

func nodeTerms(affinity *corev1.Affinity) (count int) {
	for _, term := range requiredTerms(affinity) {
		count += 1 + len(term.MatchExpressions) + len(term.MatchFields)
	}
	return count
}

// requiredTerms are those of which a node must match one.
func requiredTerms(affinity *corev1.Affinity) []corev1.NodeSelectorTerm {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// resourceNames are those of which something is requested or limited.
func resourceNames(all ...*corev1.ResourceRequirements) sets.Set[corev1.ResourceName] {
	names := sets.New[corev1.ResourceName]()
	for _, r := range all {
		r := ptr.Deref(r, corev1.ResourceRequirements{})
		for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
			for name := range list {
				names.Insert(name)
			}
		}
	}
	return names
}
