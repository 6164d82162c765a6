/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

var update = flag.Bool("update", false, "write the files that reports are compared with")

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func requests(of string) []corev1.Container {
	return []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{gpu: resource.MustParse(of)}}}}
}

// elasticJobSet is one with bounds 2 and 6.
func elasticJobSet(name string, current, desired int32, changes ...func(*jobset.JobSet)) jobset.JobSet {
	js := builders.MakeJobSet(name, "research").Obj()
	js.UID = types.UID(name)
	rjob := jobset.ReplicatedJob{Name: "trainer", Replicas: 1, Elastic: &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 6}}
	rjob.Template.Spec.Parallelism, rjob.Template.Spec.Completions = &desired, &desired
	rjob.Template.Spec.Template.Spec.Containers = requests("1")
	js.Spec.ReplicatedJobs = []jobset.ReplicatedJob{rjob}
	js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart}
	js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "trainer", SyncedWorkers: current, Elastic: &jobset.ElasticSize{Current: current, Desired: desired}}}
	for _, change := range changes {
		change(js)
	}
	return *js
}

// says adds a condition that is True.
func says(conditionType jobset.JobSetConditionType, reason, message string, since time.Duration) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Status.Conditions = append(js.Status.Conditions, builders.Condition(conditionType, true, reason, message, now.Add(-since)))
	}
}

// unwritten is what a manager without the gate leaves: no sizes in status.
func unwritten(js *jobset.JobSet) { js.Status.ReplicatedJobsStatus[0].Elastic = nil }

func node(name, gpus string, changes ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{gpu: resource.MustParse(gpus)},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	for _, change := range changes {
		change(&n)
	}
	return n
}

// pods are some of a JobSet on a node.
func pods(js, node string, count int, changes ...func(*corev1.Pod)) []corev1.Pod {
	var all []corev1.Pod
	for range count {
		pod := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{jobset.JobSetUIDKey: js, jobset.ReplicatedJobNameKey: "trainer"}},
			Spec:       corev1.PodSpec{NodeName: node, Containers: requests("1")},
		}
		for _, change := range changes {
			change(&pod)
		}
		all = append(all, pod)
	}
	return all
}

// cools adds a limit.
func cools(js *jobset.JobSet) {
	js.Status.ReplicatedJobsStatus[0].Elastic.Limit = &jobset.ElasticLimit{Reason: "Cooldown", Message: "its size was changed at 2026-03-14T11:59:00Z, and changes again after 2026-03-14T12:04:00Z"}
}

// busyCluster has eight accelerators and every state.
func busyCluster() Input {
	in := Input{
		Now: now, Accelerators: []corev1.ResourceName{gpu},
		JobSets: []jobset.JobSet{
			elasticJobSet("full", 6, 6, func(js *jobset.JobSet) { js.Namespace = "abc" }),
			elasticJobSet("giver", 4, 4), elasticJobSet("grower", 2, 3), elasticJobSet("cooler", 3, 3, cools),
			elasticJobSet("waiter", 0, 2, says(jobset.JobSetElasticWaiting, "MinimumDoesNotFit",
				"ReplicatedJob trainer: its minimum of 2 does not fit, nor would it if all others were at their minimums", 3*time.Hour), func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = requests("8") // more than a node has free
			}),
			elasticJobSet("stuck", 5, 5, says(jobset.JobSetElasticWaiting, "LostPods", "ReplicatedJob trainer: 1 of its 5 Pods have had no node for more than 2m0s, "+
				"and Pods on lost keep their indexes: it waits until the nodes are ready, or are deleted with their Pods", 9*time.Minute)),
			elasticJobSet("by-hand", 5, 6, says(jobset.JobSetElasticResizing, "ElasticResized", "ReplicatedJob trainer from 5 to 6 Pods", 6*time.Second)),
			elasticJobSet("sleeper", 0, 2, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }),
			elasticJobSet("queued", 2, 2, func(js *jobset.JobSet) { js.Labels = map[string]string{constants.QueueNameKey: "q"} }),
			elasticJobSet("done", 6, 6, func(js *jobset.JobSet) { js.Status.TerminalState = "Completed" }),
			elasticJobSet("fixed", 2, 2, func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Elastic.MaxInstances = 2
				js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = nil
			}),
		},
		Nodes: []corev1.Node{
			node("a", "8"), node("b", "16"), node("cordoned", "8", func(n *corev1.Node) { n.Spec.Unschedulable = true }),
			node("lost", "8", func(n *corev1.Node) { n.Status.Conditions = nil }),
		},
	}
	for _, group := range [][]corev1.Pod{
		pods("giver", "a", 4), pods("full", "b", 6), pods("grower", "a", 2), pods("somebody else", "b", 3), pods("giver", "lost", 1),
		pods("cooler", "b", 2, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
	} {
		in.Pods = append(in.Pods, group...)
	}
	return in
}

func TestP109TextOfElasticJobs(t *testing.T) {
	t.Parallel()
	forbidden := errors.New("you may not")
	for name, tc := range map[string]struct {
		file   string
		change func(*Input)
	}{
		"P109: jobs by score, who waits, and free accelerators": {"busy.txt", func(*Input) {}},
		"P109: what may not be read is left out, and noted": {"forbidden.txt", func(in *Input) {
			in.JobSets, in.Nodes, in.Pods = in.JobSets[1:2], nil, nil
			in.NodesUnread, in.PodsUnread = forbidden, forbidden
		}},
		"P109: no elastic job": {"none.txt", func(in *Input) { in.JobSets = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := busyCluster()
			tc.change(&in)
			r := Of(in)
			got, path := Text(&r), "testdata/"+tc.file
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s\nfix with: go test ./pkg/sizes -update", path, diff)
			}
		})
	}
}

func TestP109SizesAreThoseThatTheManagerWrote(t *testing.T) {
	t.Parallel()
	type size struct{ Current, Desired int32 }
	recreates := func(active int32) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.FailurePolicy, js.Status.ReplicatedJobsStatus[0].Active = nil, active
		}
	}
	for name, tc := range map[string]struct {
		js   jobset.JobSet
		want size
	}{
		"P109: those of status, whatever the spec asks for by now": {elasticJobSet("js", 3, 4, func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[0].Template.Spec.Completions = ptr.To[int32](6)
		}), size{3, 4}},
		"P109: without them, those of the last epoch and of the spec":        {elasticJobSet("js", 3, 4, unwritten), size{3, 4}},
		"P109: or that of the spec, if the Job runs that restarts otherwise": {elasticJobSet("js", 0, 4, unwritten, recreates(1)), size{4, 4}},
		"P109: and none, if it does not":                                     {elasticJobSet("js", 0, 4, unwritten, recreates(0)), size{0, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := Of(Input{Now: now, JobSets: []jobset.JobSet{tc.js}}).Jobs[0]
			if diff := cmp.Diff(tc.want, size{job.Current, job.Desired}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestP109WhatIsSaidIsOfNow(t *testing.T) {
	t.Parallel()
	type said struct {
		State   State
		Because string
	}
	const waits, resizes = "ReplicatedJob loader: it waits for nodes", "ReplicatedJob trainer from 2 to 3 Pods"
	over := func(js *jobset.JobSet) { js.Status.Conditions[0].Status = metav1.ConditionFalse }
	for name, tc := range map[string]struct {
		js   jobset.JobSet
		want said
	}{
		"P109: what its JobSet waits for": {elasticJobSet("js", 0, 2, says(jobset.JobSetElasticWaiting, "LostPods", waits, time.Hour)), said{Waits, waits}},
		"P109: not a wait that is over":   {elasticJobSet("js", 2, 2, says(jobset.JobSetElasticWaiting, "LostPods", waits, time.Hour), over), said{State: Keeps}},
		"P109: a change of size":          {elasticJobSet("js", 2, 3, says(jobset.JobSetElasticResizing, "ElasticResized", resizes, 0)), said{Resizing, resizes}},
		"P105 P109: one that has not run": {elasticJobSet("js", 0, 2), said{State: Resizing}},
		"P107 P109: a size that cools down": {elasticJobSet("js", 3, 3, cools),
			said{CoolsDown, "its size was changed at 2026-03-14T11:59:00Z, and changes again after 2026-03-14T12:04:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := Of(Input{Now: now, JobSets: []jobset.JobSet{tc.js}}).Jobs[0]
			if diff := cmp.Diff(tc.want, said{job.State, job.Because}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestP109ThePageShowsTheReport(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../site/content/en/docs/reference/kubectl-jobset.md")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("testdata/busy.txt"); err != nil || !strings.Contains(string(page), "```text\n"+string(text)+"```") {
		t.Errorf("kubectl-jobset.md does not show testdata/busy.txt as it is (%v)", err)
	}
}
