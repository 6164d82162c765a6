/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const prefix = "jobset.sigs.k8s.io/"

// build builds one Job, and fails the test if that changed the JobSet.
func build(t *testing.T, js *jobset.JobSet, rjob, index int) *batchv1.Job {
	t.Helper()
	before := js.DeepCopy()
	job := NewBuilder(js).Job(&js.Spec.ReplicatedJobs[rjob], index)
	if diff := cmp.Diff(before, js); diff != "" {
		t.Errorf("building a Job changed the JobSet (-before +after):\n%s", diff)
	}
	return job
}

// fourPlaces are the keys of a Job in the places where they are written.
func fourPlaces(job *batchv1.Job) [4]map[string]string {
	return [4]map[string]string{job.Labels, job.Annotations, job.Spec.Template.Labels, job.Spec.Template.Annotations}
}

func TestKeysInFourPlaces(t *testing.T) {
	t.Parallel()
	keys := func(rjob, replicas, index, global, group, groupReplicas, groupIndex, jobKey string) map[string]string {
		return map[string]string{
			prefix + "jobset-name": "js", prefix + "jobset-uid": "js-uid", prefix + "restart-attempt": "0",
			prefix + "global-replicas": "8", prefix + "replicatedjob-name": rjob, prefix + "replicatedjob-replicas": replicas,
			prefix + "job-index": index, prefix + "job-global-index": global, prefix + "job-key": jobKey,
			prefix + "group-name": group, prefix + "group-replicas": groupReplicas, prefix + "job-group-index": groupIndex,
		}
	}
	base := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").Annotation("mine", "stays").ReplicatedJob(
			builders.MakeReplicatedJob("a").Replicas(2).Group("x"), builders.MakeReplicatedJob("b").Replicas(3).Group("y"),
			builders.MakeReplicatedJob("c").Replicas(1).Group("x"), builders.MakeReplicatedJob("d").Replicas(2).Group(""))
	}
	with := func(all map[string]string, key, value string) map[string]string {
		all[prefix+key] = value
		return all
	}
	a0 := func() map[string]string {
		return keys("a", "2", "0", "0", "x", "3", "0", placement.JobKey("ns", "js-a-0"))
	}
	tests := map[string]struct {
		js          *builders.JobSetWrapper
		rjob, index int
		want        map[string]string
	}{
		"C68-C80: the first Job":                                     {base(), 0, 0, a0()},
		"C77: the global index counts earlier rjobs":                 {base(), 1, 2, keys("b", "3", "2", "4", "y", "3", "2", placement.JobKey("ns", "js-b-2"))},
		"C80: the group index counts earlier rjobs of the group":     {base(), 2, 0, keys("c", "1", "0", "5", "x", "3", "2", placement.JobKey("ns", "js-c-0"))},
		"C78: an empty group name is a group":                        {base(), 3, 1, keys("d", "2", "1", "7", "", "2", "1", placement.JobKey("ns", "js-d-1"))},
		"C71, C341: the restart attempt, which stands in the status": {base().Restarts(3, 1), 0, 0, with(a0(), "restart-attempt", "3")},
		"C81: the coordinator, on every Job":                         {base().Coordinator("b", 2, 1), 0, 0, with(a0(), "coordinator", "js-b-2-1.js")},
		"C81: the coordinator in another subdomain":                  {base().Coordinator("b", 2, 1).Network(jobset.Network{Subdomain: "sub"}), 0, 0, with(a0(), "coordinator", "js-b-2-1.sub")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := [4]map[string]string{tc.want, tc.want, tc.want, tc.want}
			if diff := cmp.Diff(want, fourPlaces(build(t, tc.js.Obj(), tc.rjob, tc.index))); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUserKeys(t *testing.T) {
	t.Parallel()
	plain := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
	decorated := builders.MakeJobSet("js", "ns").Annotation("jobset", "not copied").ReplicatedJob(builders.MakeReplicatedJob("a").
		JobMeta("job", "1").JobMeta(jobset.JobSetNameKey, "forged").PodMeta("pod", "2").PodMeta(jobset.JobIndexKey, "forged").
		PodMeta(prefix+"restart-attempt", "forged")).Obj()
	want := fourPlaces(build(t, plain, 0, 0))
	for i, key := range []string{"job", "job", "pod", "pod"} {
		want[i] = maps.Clone(want[i])
		want[i][key] = map[string]string{"job": "1", "pod": "2"}[key]
	}
	want[1][constants.TemplateEntriesKey] = `["labels/pod","annotations/pod"]`
	if diff := cmp.Diff(want, fourPlaces(build(t, decorated, 0, 0))); diff != "" {
		t.Errorf("C65, C68: the user's keys are kept and never win (-want +got):\n%s", diff)
	}
}

// TestJob compares what is not a key: metadata and spec, whole.
func TestJob(t *testing.T) {
	t.Parallel()
	owner := metav1.OwnerReference{
		APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "js", UID: "js-uid", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}
	job := func(change func(*batchv1.Job)) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "js-a-1", Namespace: "ns", OwnerReferences: []metav1.OwnerReference{owner}}}
		j.Spec.Suspend = ptr.To(false)
		change(j)
		return j
	}
	same := func(*batchv1.Job) {}
	rjob := func() *builders.ReplicatedJobWrapper { return builders.MakeReplicatedJob("a").Replicas(2) }
	dns := func(enabled *bool, subdomain string) jobset.Network {
		return jobset.Network{EnableDNSHostnames: enabled, Subdomain: subdomain}
	}
	reserved := func(j *batchv1.Job) {
		j.Spec.Template.Spec.NodeSelector = map[string]string{"alpha.jobset.sigs.k8s.io/namespaced-job": "ns_js-a-1"}
		j.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "alpha.jobset.sigs.k8s.io/no-schedule", Operator: "Exists", Effect: "NoSchedule"}}
	}
	pass := func(s *batchv1.JobSpec) {
		s.TTLSecondsAfterFinished, s.ManagedBy, s.BackoffLimit = ptr.To[int32](1), ptr.To("m"), ptr.To[int32](2)
		s.ActiveDeadlineSeconds, s.PodFailurePolicy = ptr.To[int64](3), &batchv1.PodFailurePolicy{}
		s.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	}
	tests := map[string]struct {
		js   *builders.JobSetWrapper
		want *batchv1.Job
	}{
		"C60, C66, C88: name, owner, suspend":            {builders.MakeJobSet("js", "ns").ReplicatedJob(rjob()), job(same)},
		"C67, C90: the spec passes through":              {builders.MakeJobSet("js", "ns").ReplicatedJob(rjob().JobSpec(pass)), job(func(j *batchv1.Job) { pass(&j.Spec) })},
		"C88: suspended with the JobSet":                 {builders.MakeJobSet("js", "ns").Suspend(true).ReplicatedJob(rjob()), job(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })},
		"C88: not suspended though the template is":      {builders.MakeJobSet("js", "ns").Suspend(false).ReplicatedJob(rjob().JobSpec(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })), job(same)},
		"C84: the subdomain":                             {builders.MakeJobSet("js", "ns").Network(dns(ptr.To(true), "sub")).ReplicatedJob(rjob()), job(func(j *batchv1.Job) { j.Spec.Template.Spec.Subdomain = "sub" })},
		"C84: the subdomain is the name without one":     {builders.MakeJobSet("js", "ns").Network(dns(ptr.To(true), "")).ReplicatedJob(rjob().PodSpec(func(s *corev1.PodSpec) { s.Subdomain = "other" })), job(func(j *batchv1.Job) { j.Spec.Template.Spec.Subdomain = "js" })},
		"C84: no host names: the subdomain is untouched": {builders.MakeJobSet("js", "ns").Network(dns(nil, "sub")).ReplicatedJob(rjob().PodSpec(func(s *corev1.PodSpec) { s.Subdomain = "mine" })), job(func(j *batchv1.Job) { j.Spec.Template.Spec.Subdomain = "mine" })},
		"C86: exclusive and node selector on the JobSet": {builders.MakeJobSet("js", "ns").Annotation(jobset.ExclusiveKey, "zone").Annotation(jobset.NodeSelectorStrategyKey, "true").ReplicatedJob(rjob()), job(reserved)},
		"C86, C87: exclusive alone reserves no nodes":    {builders.MakeJobSet("js", "ns").Annotation(jobset.ExclusiveKey, "zone").ReplicatedJob(rjob()), job(same)},
		"C83: node selector alone does not count":        {builders.MakeJobSet("js", "ns").Annotation(jobset.NodeSelectorStrategyKey, "true").ReplicatedJob(rjob()), job(same)},
		"C86, C312: exclusive on the JobSet and node selector on the Job template": {
			builders.MakeJobSet("js", "ns").Annotation(jobset.ExclusiveKey, "zone").ReplicatedJob(rjob().JobAnnotation(jobset.NodeSelectorStrategyKey, "true")), job(reserved),
		},
		"C86: the user's selector and tolerations stay": {
			builders.MakeJobSet("js", "ns").ReplicatedJob(rjob().JobAnnotation(jobset.ExclusiveKey, "zone").JobAnnotation(jobset.NodeSelectorStrategyKey, "").
				PodSpec(func(s *corev1.PodSpec) {
					s.NodeSelector, s.Tolerations = map[string]string{"k": "v"}, []corev1.Toleration{{Key: "t"}}
				})),
			job(func(j *batchv1.Job) {
				reserved(j)
				j.Spec.Template.Spec.NodeSelector["k"] = "v"
				j.Spec.Template.Spec.Tolerations = append([]corev1.Toleration{{Key: "t"}}, j.Spec.Template.Spec.Tolerations...)
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := build(t, tc.js.Obj(), 0, 1)
			ignoreKeys := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "Labels", "Annotations")
			if diff := cmp.Diff(tc.want, got, ignoreKeys); diff != "" {
				t.Errorf("Job (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExclusiveAnnotations(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		onJobSet, onJob map[string]string
		want            map[string]string
	}{
		"C82: of the JobSet":                             {map[string]string{jobset.ExclusiveKey: "zone"}, nil, map[string]string{jobset.ExclusiveKey: "zone"}},
		"C82: of the Job template":                       {nil, map[string]string{jobset.ExclusiveKey: "rack"}, map[string]string{jobset.ExclusiveKey: "rack"}},
		"C82: the Job template wins":                     {map[string]string{jobset.ExclusiveKey: "zone"}, map[string]string{jobset.ExclusiveKey: "rack"}, map[string]string{jobset.ExclusiveKey: "rack"}},
		"C83: the strategy comes with its level":         {map[string]string{jobset.ExclusiveKey: "zone", jobset.NodeSelectorStrategyKey: "x"}, nil, map[string]string{jobset.ExclusiveKey: "zone", jobset.NodeSelectorStrategyKey: "x"}},
		"C83: the strategy of a level without exclusive": {map[string]string{jobset.NodeSelectorStrategyKey: "x"}, map[string]string{jobset.ExclusiveKey: "rack"}, map[string]string{jobset.ExclusiveKey: "rack"}},
		"C312: the strategy of the Job template reaches the Pods with the level of the JobSet": {
			map[string]string{jobset.ExclusiveKey: "zone"}, map[string]string{jobset.NodeSelectorStrategyKey: "x"},
			map[string]string{jobset.ExclusiveKey: "zone", jobset.NodeSelectorStrategyKey: "x"},
		},
		"C82: neither": {map[string]string{"other": "x"}, nil, map[string]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
			js.Annotations, js.Spec.ReplicatedJobs[0].Template.Annotations = tc.onJobSet, tc.onJob
			job := build(t, js, 0, 0)
			for where, annotations := range map[string]map[string]string{"Job": job.Annotations, "Pods": job.Spec.Template.Annotations} {
				got := map[string]string{}
				for _, key := range []string{jobset.ExclusiveKey, jobset.NodeSelectorStrategyKey} {
					if value, ok := annotations[key]; ok {
						got[key] = value
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("annotations of the %s (-want +got):\n%s", where, diff)
				}
			}
			for key := range job.Labels {
				if key == jobset.ExclusiveKey || key == jobset.NodeSelectorStrategyKey {
					t.Errorf("C82: %s is a label too", key)
				}
			}
		})
	}
}

// TestJobSharesNothing changes all of a Job and looks at the JobSet, and at the next Job.
func TestJobSharesNothing(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Annotation(jobset.ExclusiveKey, "zone").ReplicatedJob(builders.MakeReplicatedJob("a").Workers(2).
		JobMeta("j", "1").PodMeta("p", "1").PodSpec(func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{"k": "v"}
		s.Tolerations = make([]corev1.Toleration, 1, 4)
		s.Tolerations[0].TolerationSeconds = ptr.To[int64](1)
	})).Obj()
	before := js.DeepCopy()
	builder := NewBuilder(js)
	first := builder.Job(&js.Spec.ReplicatedJobs[0], 0)
	want := builder.Job(&js.Spec.ReplicatedJobs[0], 0)
	for _, place := range fourPlaces(first) {
		for key := range place {
			place[key] = "changed"
		}
	}
	*first.Spec.Completions = 99
	first.Spec.Template.Spec.NodeSelector["k"] = "changed"
	*first.Spec.Template.Spec.Tolerations[0].TolerationSeconds = 99
	if diff := cmp.Diff(before, js); diff != "" {
		t.Errorf("the JobSet changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(want, builder.Job(&js.Spec.ReplicatedJobs[0], 0)); diff != "" {
		t.Errorf("the next Job changed (-before +after):\n%s", diff)
	}
}
