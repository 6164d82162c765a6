/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// boundCacheOptions keep of nodes and Pods what planning reads.
func boundCacheOptions(mgr ctrl.Manager) cache.Options {
	return cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:           {Field: fields.OneTermNotEqualSelector("spec.nodeName", ""), Transform: shared.Keeping(keepRequests)},
			&corev1.Node{}:          {Transform: shared.Keeping(keepCapacity)},
			&corev1.ResourceQuota{}: {Transform: cache.TransformStripManagedFields()},
		},
	}
}

func keepRequests(pod *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp,
			Annotations: facts.Pick(pod.Annotations, batchv1.JobCompletionIndexAnnotation),
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName, Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		kept.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		kept.Spec.InitContainers = append(kept.Spec.InitContainers, corev1.Container{RestartPolicy: c.RestartPolicy, Resources: c.Resources})
	}
	for i := range pod.Spec.Containers {
		kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{Resources: pod.Spec.Containers[i].Resources})
	}
	return kept
}

func keepCapacity(node *corev1.Node) *corev1.Node {
	kept := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, Labels: node.Labels}}
	kept.Spec.Unschedulable, kept.Spec.Taints = node.Spec.Unschedulable, node.Spec.Taints
	kept.Status.Allocatable = node.Status.Allocatable
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			kept.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return kept
}

func sameNode(a, b *corev1.Node) bool {
	return apiequality.Semantic.DeepEqual(a.Labels, b.Labels) && apiequality.Semantic.DeepEqual(a.Spec, b.Spec) &&
		apiequality.Semantic.DeepEqual(a.Status, b.Status)
}

// gather returns what a plan depends on, and the JobSet of each of its jobs.
func (a *autoscaler) gather(ctx context.Context) (elastic.Input, []*jobset.JobSet, error) {
	in := elastic.Input{
		Accelerators: a.config.Accelerators, ReservePercent: a.config.ReservePercent,
		CooldownUp: a.config.CooldownUp, CooldownDown: a.config.CooldownDown, ShrinkAfter: a.config.ShrinkAfter, Now: a.clock.Now(),
	}
	jobSets, jobs := &jobset.JobSetList{}, &batchv1.JobList{}
	if err := a.client.List(ctx, jobSets, client.UnsafeDisableDeepCopy); err != nil {
		return in, nil, fmt.Errorf("listing JobSets: %w", err)
	}
	if a.forgetOthers(jobSets.Items); len(a.known) == 0 {
		return in, nil, nil // nothing to plan, and no Pods to look at
	}
	if err := a.client.List(ctx, jobs, client.UnsafeDisableDeepCopy); err != nil {
		return in, nil, fmt.Errorf("listing Jobs: %w", err)
	}
	owners, built := a.addJobs(&in, jobSets.Items, jobs.Items)
	if err := errors.Join(a.addNodes(ctx, &in, placesOf(built)), a.addQuotas(ctx, &in)); err != nil {
		return in, nil, err
	}
	awaited := map[string]bool{}
	if err := errors.Join(a.findAbsent(&in, owners, built, awaited), a.findRefused(&in, owners, built, awaited)); err != nil {
		return in, nil, err
	}
	a.awaited.Store(&awaited)
	return in, owners, nil
}

// addJobs adds what is planned, and returns the JobSet of each, and the Jobs that were built for each.
func (a *autoscaler) addJobs(in *elastic.Input, jobSets []jobset.JobSet, jobs []batchv1.Job) (owners []*jobset.JobSet, built [][]*batchv1.Job) {
	byOwner := builtJobs(jobs)
	for i := range jobSets {
		js := &jobSets[i]
		if !isScaled(js) {
			continue
		}
		builtFor := func(rjob string) []*batchv1.Job { return byOwner[shared.InNamespace(js.Namespace, js.UID)+"/"+rjob] }
		pinned, first := isPinned(js, builtFor), len(in.Jobs)
		for k := range js.Spec.ReplicatedJobs {
			rjob := &js.Spec.ReplicatedJobs[k]
			if !hasSize(rjob) {
				continue
			}
			all := builtFor(rjob.Name)
			job := elasticJob(js, rjob, currentJob(all, placement.JobName(js.Name, rjob.Name, 0)))
			known := a.known[job.Key]
			job.Lacking, job.NoRoom, job.MayForce, job.Resized = known.lacking, known.noRoom, a.config.mayForce(js), a.resizedAt(js, job.Key)
			if pinned || policy.SizesHeld(js) {
				job.Min, job.Max = job.Size, job.Size
			}
			known.started = known.started || job.Started
			job.Started = known.started
			in.Jobs, owners, built = append(in.Jobs, job), append(owners, js), append(built, all)
		}
		shareResized(in.Jobs[first:])
	}
	return owners, built
}

// addNodes adds the nodes, and puts each Pod where it counts: instances to their jobs, the rest to the nodes.
func (a *autoscaler) addNodes(ctx context.Context, in *elastic.Input, place places) error {
	nodes, pods := &corev1.NodeList{}, &corev1.PodList{}
	if err := a.bound.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing Nodes: %w", err)
	}
	if err := a.bound.List(ctx, pods, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing Pods: %w", err)
	}
	templates := raiseRequests(in.Jobs, pods.Items, place)
	isReady, requested := map[string]bool{}, map[string]elastic.Resources{}
	for i := range nodes.Items {
		isReady[nodes.Items[i].Name] = facts.OfNode(&nodes.Items[i]).Ready
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if hasEnded(pod) {
			continue
		}
		asks := elastic.Requests(&pod.Spec)
		if at, ok := place.of(pod); ok {
			index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
			stays := err == nil && index < int64(in.Jobs[at].Size)
			// Its index is free only when it is gone (P108). Of a node that is gone Kubernetes deletes it by force.
			if up, exists := isReady[pod.Spec.NodeName]; stays && exists && (pod.DeletionTimestamp != nil || !up) {
				in.Jobs[at].Held = append(in.Jobs[at].Held, pod.Spec.NodeName)
			}
			// One that terminates takes room beside its replacement, unless it leaves for good.
			if err == nil && (pod.DeletionTimestamp == nil || !stays) {
				in.Jobs[at].Bound = append(in.Jobs[at].Bound, elastic.Instance{Index: int32(index), Node: pod.Spec.NodeName})
				charge(requested, pod.Spec.NodeName, differs(asks, templates[at], in.Jobs[at].Request))
				continue
			}
		}
		charge(requested, pod.Spec.NodeName, asks)
		requested[pod.Spec.NodeName][corev1.ResourcePods]++
	}
	for i := range in.Jobs {
		slices.Sort(in.Jobs[i].Held)
		in.Jobs[i].Held = slices.Compact(in.Jobs[i].Held)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		in.Nodes = append(in.Nodes, elastic.Node{
			Name: node.Name, Labels: node.Labels, Taints: node.Spec.Taints, Usable: isReady[node.Name] && !node.Spec.Unschedulable, Lost: !isReady[node.Name],
			Allocatable: elastic.Of(node.Status.Allocatable), Requested: requested[node.Name],
		})
	}
	return nil
}

// isScaled reports whether the sizes of a JobSet are planned. Those that are suspended, or that a queue
// manages, are left alone (P107).
func isScaled(js *jobset.JobSet) bool {
	_, queued := js.Labels[constants.QueueNameKey]
	return !queued && js.DeletionTimestamp == nil && shared.ManagedHere(js) && !ptr.Deref(js.Spec.Suspend, false) && js.Status.TerminalState == "" &&
		!apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetSuspended)) &&
		slices.ContainsFunc(js.Spec.ReplicatedJobs, func(r jobset.ReplicatedJob) bool { return r.Elastic != nil })
}

// hasSize reports whether the size of a ReplicatedJob is planned if sizes of its JobSet are.
func hasSize(rjob *jobset.ReplicatedJob) bool {
	return rjob.Elastic != nil && rjob.Template.Spec.Completions != nil
}

func keyOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob) elastic.Key {
	return elastic.Key{Namespace: js.Namespace, JobSet: js.Name, ReplicatedJob: rjob.Name}
}

// hasRestarted reports whether Jobs of a JobSet were restarted. What was started before stays so while it restarts: it keeps
// its room, and takes nothing from others (P104a).
func hasRestarted(js *jobset.JobSet) bool {
	return js.Status.Restarts > 0 || slices.ContainsFunc(js.Status.ReplicatedJobsStatus, func(s jobset.ReplicatedJobStatus) bool {
		return slices.ContainsFunc(s.JobRestarts, func(count int32) bool { return count > 0 })
	})
}

// elasticJob describes a ReplicatedJob to the planner, with the Pods of the Job that was built for it: they
// have an agent that the template has not.
func elasticJob(js *jobset.JobSet, rjob *jobset.ReplicatedJob, built *batchv1.Job) elastic.Job {
	job := elastic.Job{
		Key: keyOf(js, rjob),
		Min: rjob.Elastic.MinInstances, Max: rjob.Elastic.MaxInstances, Size: *rjob.Template.Spec.Completions,
	}
	if c := js.Spec.Coordinator; c != nil && c.ReplicatedJob == rjob.Name { // stored before admission saw to it
		job.Min = min(max(job.Min, int32(c.PodIndex)+1), job.Size)
	}
	template := &rjob.Template.Spec.Template
	if built != nil {
		template, job.Exist = &built.Spec.Template, built.Status.Active
		if built.Status.CompletedIndexes != "" || ptr.Deref(built.Status.FailedIndexes, "") != "" {
			job.Min, job.Max = job.Size, job.Size // a worker that has finished would have to start again
		}
		job.Started = ptr.Deref(built.Status.Ready, 0) > 0
	}
	job.Started = job.Started || hasRestarted(js)
	if workerpod.WantsInPlace(js) {
		job.Started, job.Shrinks = ptr.Deref(js.Status.SyncedEpoch, 0) > 0, true
		job.Running = policy.Runs(js) && !policy.Bypassed(js) // what is lost stops it first (P14)
		job.Ran, job.Ceiling = learned(js, rjob.Name)
	}
	spec := &template.Spec
	job.Request, job.Limit = elastic.Requests(spec), elastic.Limits(spec)
	job.Where = elastic.Constraints{NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations}
	if affinity := spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		if required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			job.Where.Terms = required.NodeSelectorTerms
		}
	}
	return job
}
