/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
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
	js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "trainer", SyncedWorkers: current}}
	for _, change := range changes {
		change(js)
	}
	return *js
}

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

func event(js, reason, message string, since time.Duration) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "JobSet", UID: types.UID(js)}, Reason: reason, Message: message,
		EventTime: metav1.NewMicroTime(now.Add(-since)),
	}
}

// busyCluster has eight accelerators and every state.
func busyCluster() Input {
	in := Input{
		Now: now, Accelerators: []corev1.ResourceName{gpu},
		JobSets: []jobset.JobSet{
			elasticJobSet("full", 6, 6, func(js *jobset.JobSet) { js.Namespace = "abc" }),
			elasticJobSet("giver", 4, 4), elasticJobSet("waiter", 0, 2), elasticJobSet("grower", 2, 3), elasticJobSet("cooler", 3, 3),
			elasticJobSet("sleeper", 0, 2, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }),
			elasticJobSet("queued", 2, 2, func(js *jobset.JobSet) { js.Labels = map[string]string{queueNameKey: "q"} }),
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
		Events: []corev1.Event{
			event("giver", "ElasticResized", "ReplicatedJob trainer from 2 to 6 Pods: 4 more fit: score 0.00", time.Hour),
			event("giver", "ElasticResized", "ReplicatedJob trainer from 6 to 4 Pods: gave 2 instances to research/grower/trainer: score -0.50, ours 1.00", 2*time.Minute),
			event("grower", "ElasticResized", "ReplicatedJob trainer from 2 to 3 Pods: 1 more fit: score 0.00", 4*time.Second),
			event("cooler", "ElasticCoolingDown", "ReplicatedJob trainer: from 3 to 5 not before 2026-03-14T12:04:00Z, since its size was changed at 2026-03-14T11:59:00Z: 2 more fit: score 0.25", time.Minute),
			event("waiter", "ElasticWaiting", "ReplicatedJob trainer: its minimum of 2 does not fit, nor would it if all others were at their minimums", 3*time.Minute),
			event("full", "Scheduled", "ReplicatedJob trainer: of no interest", time.Second),
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
		"P109: jobs by score, who gave, who waits, and free accelerators": {"busy.txt", func(*Input) {}},
		"P109: what may not be read is left out, and noted": {"forbidden.txt", func(in *Input) {
			in.JobSets, in.Events, in.Nodes, in.Pods = in.JobSets[1:2], nil, nil, nil
			in.NodesUnread, in.PodsUnread, in.EventsUnread = forbidden, forbidden, forbidden
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
				t.Errorf("%s (-want +got):\n%s\nmend with: go test ./pkg/sizes -update", path, diff)
			}
		})
	}
}

func TestP109AJobThatDoesNotRestartInPlaceHasTheSizeOfItsSpec(t *testing.T) {
	t.Parallel()
	r := Of(Input{Now: now, JobSets: []jobset.JobSet{
		elasticJobSet("js", 0, 4, func(js *jobset.JobSet) {
			js.Spec.FailurePolicy, js.Status.ReplicatedJobsStatus[0].Active = nil, 1
		}),
		elasticJobSet("starts", 0, 4, func(js *jobset.JobSet) { js.Spec.FailurePolicy = nil }),
	}})
	for i, want := range []int32{0, 4} {
		if got := r.Jobs[i].Current; got != want {
			t.Errorf("current size of %s is %d, want %d", r.Jobs[i].JobSet, got, want)
		}
	}
}

func TestP109AWaitThatIsOverIsNotTold(t *testing.T) {
	t.Parallel()
	r := Of(Input{Now: now, JobSets: []jobset.JobSet{elasticJobSet("js", 2, 2)},
		Events: []corev1.Event{event("js", "ElasticWaiting", "ReplicatedJob trainer: its minimum of 2 does not fit", time.Minute)}})
	if got := r.Jobs[0]; got.State != Keeps || got.Because != "" {
		t.Errorf("state %s because %q, want Keeps without a reason", got.State, got.Because)
	}
}
