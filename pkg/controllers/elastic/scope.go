/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/facts"
)

// One plan is made for all namespaces, and what one gets another lacks. So nothing counts that only a label or an annotation
// says: whoever may create a Pod writes them. A Pod is an instance if a Job controls it that a JobSet of its namespace
// controls, and what it requests is what is charged.

// builtJobs returns the Jobs that were built for each ReplicatedJob, those that are being deleted included, by the
// namespace and the UID of the JobSet that controls them, and the name of the ReplicatedJob.
func builtJobs(jobs []batchv1.Job) map[string][]*batchv1.Job {
	built := map[string][]*batchv1.Job{}
	for i := range jobs {
		for _, owner := range shared.ControllerKey(&jobs[i], jobset.GroupVersion.String(), jobset.Kind) {
			key := owner + "/" + jobs[i].Labels[jobset.ReplicatedJobNameKey]
			built[key] = append(built[key], &jobs[i])
		}
	}
	return built
}

// currentJob returns the Job of a name that is not being deleted, nil if there is none. Beside it there may be others that
// name the same JobSet as their controller.
func currentJob(jobs []*batchv1.Job, name string) *batchv1.Job {
	at := slices.IndexFunc(jobs, func(job *batchv1.Job) bool { return job.Name == name && job.DeletionTimestamp == nil })
	if at < 0 {
		return nil
	}
	return jobs[at]
}

// places are the positions of elastic jobs in the input, by the namespaces and UIDs of their Jobs.
type places map[string]int

func placesOf(built [][]*batchv1.Job) places {
	p := places{}
	for at, jobs := range built {
		for _, job := range jobs {
			p[shared.InNamespace(job.Namespace, job.UID)] = at
		}
	}
	return p
}

// of returns the job of which a Pod is an instance.
func (p places) of(pod *corev1.Pod) (at int, ok bool) {
	for _, owner := range shared.ControllerKey(pod, batchv1.SchemeGroupVersion.String(), "Job") {
		at, ok = p[owner]
	}
	return at, ok
}

// charge adds what a Pod takes of its node.
func charge(requested map[string]elastic.Resources, node string, of elastic.Resources) {
	if requested[node] == nil {
		requested[node] = elastic.Resources{}
	}
	requested[node].Add(of)
}

// raiseRequests makes an instance of each job cost what the greatest of its Pods requests, and at least its template (P106a). Pods
// show what templates do not: the overhead of a RuntimeClass, defaults of a LimitRange, what webhooks add, and what was changed
// since they run. It returns what the templates request.
func raiseRequests(jobs []elastic.Job, pods []corev1.Pod, place places) (templates []elastic.Resources) {
	for i := range jobs {
		templates = append(templates, maps.Clone(jobs[i].Request))
	}
	for i := range pods {
		if at, ok := place.of(&pods[i]); ok && !hasEnded(&pods[i]) {
			jobs[at].Request.AtLeast(elastic.Requests(&pods[i].Spec))
			jobs[at].Limit.AtLeast(elastic.Limits(&pods[i].Spec))
		}
	}
	return templates
}

// differs returns by how much a Pod that has a node takes more of it, or less, than the planner charges an instance of its job.
// None takes less than its template.
func differs(asks, template, charged elastic.Resources) elastic.Resources {
	difference := elastic.Resources{}
	for name, amount := range charged {
		if d := max(asks[name], template[name]) - amount; d != 0 {
			difference[name] = d
		}
	}
	return difference
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// findAbsent marks the jobs that never ran and of whose minimum fewer Pods have a node or wait for one. A Pod may never be
// created, because of a ResourceQuota, a webhook, or a JobSet that cannot create its Job: no job gives to such a job (P104).
// The Pods that it lacks start the next round when they appear.
func (a *autoscaler) findAbsent(in *elastic.Input, owners []*jobset.JobSet, built [][]*batchv1.Job, awaited map[string]bool) error {
	usable := map[string]bool{}
	for i := range in.Nodes {
		usable[in.Nodes[i].Name] = in.Nodes[i].Usable
	}
	for i := range in.Jobs {
		job := &in.Jobs[i]
		if job.Started {
			continue
		}
		exist := count(job.Bound, func(instance elastic.Instance) bool { return usable[instance.Node] })
		for _, of := range built[i] {
			pods, err := a.pods.ControlledBy(of.Namespace, of.UID)
			if err != nil {
				return err
			}
			exist += count(pods, awaitsNode)
		}
		if job.Absent = exist < job.Min; job.Absent {
			awaited[shared.InNamespace(owners[i].Namespace, owners[i].UID)] = true
		}
	}
	return nil
}

// awaitsNode reports whether a scheduler looks for a node for a Pod.
func awaitsNode(pod *facts.Member) bool {
	return pod.Node == "" && !pod.Terminating() && !pod.Gated && (pod.Phase == corev1.PodPending || pod.Phase == "")
}

// resizedAt returns when the size of a job was last changed: by the status, or by what this manager did a moment ago, which
// is not in the status yet. No time is in the future, whatever clock wrote it.
func (a *autoscaler) resizedAt(js *jobset.JobSet, key elastic.Key) time.Time {
	at := a.known[key].resized
	if status := elasticStatus(js, key.ReplicatedJob); status != nil && status.LastResizeTime != nil && status.LastResizeTime.After(at) {
		at = status.LastResizeTime.Time
	}
	if now := a.clock.Now(); at.After(now) {
		return now
	}
	return at
}

// shareResized notes when any size of a JobSet was changed last: each change restarts all of it (P107).
func shareResized(jobs []elastic.Job) {
	var last time.Time
	for i := range jobs {
		last = later(last, jobs[i].Resized)
	}
	for i := range jobs {
		jobs[i].JobSetResized = last
	}
}
