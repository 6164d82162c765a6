/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
)

const someGPU corev1.ResourceName = "nvidia.com/gpu"

func gpuNode(name string, gpus string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{someGPU: resource.MustParse(gpus), corev1.ResourcePods: resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func gpuPods() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{someGPU: resource.MustParse("1")}},
	}}}}
}

// scaled is a JobSet with bounds 2 and 6 that restarts in place, at an epoch, with its Job.
func scaled(name string, size, synced int32, changes ...func(*jobset.JobSet, *batchv1.Job)) []client.Object {
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
		Spec: jobset.JobSetSpec{
			FailurePolicy: &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart},
			ReplicatedJobs: []jobset.ReplicatedJob{{
				Name: "w", Replicas: 1, Elastic: &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 6},
				Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Parallelism: &size, Completions: &size, Template: gpuPods()}},
			}},
		},
		Status: jobset.JobSetStatus{SyncedEpoch: &synced},
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name + "-w-0", UID: types.UID(name + "-job"), Labels: map[string]string{jobset.JobSetUIDKey: name, jobset.ReplicatedJobNameKey: "w"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(js, jobset.GroupVersion.WithKind(jobset.Kind))},
		},
		Spec: batchv1.JobSpec{Template: gpuPods()},
	}
	for _, change := range changes {
		change(js, job)
	}
	return []client.Object{js, job}
}

// boundPods are workers on a node, by index from 0.
func boundPods(name, node string, count int) []client.Object {
	var pods []client.Object
	for index := range count {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: fmt.Sprintf("%s-%d", name, index), Labels: map[string]string{jobset.JobSetUIDKey: name, jobset.ReplicatedJobNameKey: "w"},
				Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name + "-w-0", UID: types.UID(name + "-job"), Controller: ptr.To(true)}},
			},
			Spec: gpuPods().Spec,
		}
		pod.Spec.NodeName = node
		pods = append(pods, pod)
	}
	return pods
}

func TestAutoscaler(t *testing.T) {
	at := func(ago time.Duration) func(*jobset.JobSet, *batchv1.Job) {
		return func(js *jobset.JobSet, _ *batchv1.Job) {
			js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", Elastic: &jobset.ElasticSize{LastResizeTime: ptr.To(metav1.NewTime(testshell.Now.Add(-ago)))}}}
		}
	}
	all := func(groups ...[]client.Object) []client.Object {
		var objects []client.Object
		for _, group := range groups {
			objects = append(objects, group...)
		}
		return objects
	}
	nodes := []client.Object{gpuNode("n", "6")}
	moved := func(js *jobset.JobSet, job *batchv1.Job) { js.Namespace, job.Namespace = "elsewhere", "elsewhere" }
	forged := func(change func(*corev1.Pod), pods []client.Object) []client.Object {
		for _, pod := range pods {
			change(pod.(*corev1.Pod))
		}
		return pods
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		sizes   map[string]int32
		record  []string
	}{
		"P104 P107: one that is full gives what another needs, by one write": {
			all(nodes, scaled("a", 6, 1), boundPods("a", "n", 6), scaled("b", 2, 0), boundPods("b", "", 2)), map[string]int32{"a": 4, "b": 2},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 6 to 4 Pods: gave 2 instances to ns/b/w: score -0.50, ours 1.00"},
		},
		"P104: nobody gives to one whose Pods do not exist": {
			all(nodes, scaled("a", 6, 1), boundPods("a", "n", 6), scaled("b", 2, 0), boundPods("b", "", 1)), map[string]int32{"a": 6, "b": 2},
			[]string{"event Warning ElasticWaiting Reconciling: ReplicatedJob w: its minimum of 2 does not fit, and fewer of its Pods exist and wait for a node: no job shrinks for Pods that may never be created",
				"update status JobSet b"},
		},
		"P104: nor to one whose Pods are held back by scheduling gates": {
			all(nodes, scaled("a", 6, 1), boundPods("a", "n", 6), scaled("b", 2, 0), forged(func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
			}, boundPods("b", "", 2))), map[string]int32{"a": 6, "b": 2},
			[]string{"event Warning ElasticWaiting Reconciling: ReplicatedJob w: its minimum of 2 does not fit, and fewer of its Pods exist and wait for a node: no job shrinks for Pods that may never be created",
				"update status JobSet b"},
		},
		"P104 P107: users are not told the names of other namespaces": {
			all(nodes, scaled("a", 6, 1), boundPods("a", "n", 6), scaled("b", 2, 0, moved),
				forged(func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }, boundPods("b", "", 2))), map[string]int32{"a": 4, "b": 2},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 6 to 4 Pods: gave 2 instances to another namespace: score -0.50, ours 1.00"},
		},
		"P106: Pods with the labels of a job that it did not create are no instances, and take room": {
			all(nodes, scaled("a", 2, 1), boundPods("a", "n", 2), forged(func(pod *corev1.Pod) {
				pod.Name, pod.OwnerReferences = "forged-"+pod.Name, nil
				pod.Annotations[batchv1.JobCompletionIndexAnnotation] = "0"
			}, boundPods("a", "n", 3))), map[string]int32{"a": 3},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00"},
		},
		"P106: nor are Pods of another namespace that name its Job as their controller": {
			all(nodes, scaled("a", 2, 1), boundPods("a", "n", 2), forged(func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }, boundPods("a", "n", 3))), map[string]int32{"a": 3},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00"},
		},
		"P106: the template is that of the Job which the JobSet created": {
			all(nodes, []client.Object{&batchv1.Job{ObjectMeta: metav1.ObjectMeta{
				Namespace: "zz", Name: "z-w-0", // listed last Labels: map[string]string{jobset.JobSetUIDKey: "a", jobset.ReplicatedJobNameKey: "w"},
			}}}, scaled("a", 2, 1), boundPods("a", "n", 2), boundPods("other", "n", 4)), map[string]int32{"a": 2}, nil,
		},
		"P106: a Pod that requests more than its template takes what it requests": {
			all(nodes, scaled("a", 2, 1), forged(func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{someGPU: resource.MustParse("2")}
			}, boundPods("a", "n", 2))), map[string]int32{"a": 3},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00"},
		},
		"P106a: a new instance costs what the greatest of its Pods requests, and each of these what it requests": {
			all([]client.Object{gpuNode("n", "8")}, scaled("a", 3, 1), boundPods("a", "n", 3)[:2], forged(func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{someGPU: resource.MustParse("2")}
			}, boundPods("a", "n", 3)[2:])), map[string]int32{"a": 5},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 3 to 5 Pods: 2 more fit: score 0.25"},
		},
		"P106a: with the overhead of its RuntimeClass": {
			all(nodes, scaled("a", 2, 1), forged(func(pod *corev1.Pod) {
				pod.Spec.Overhead = corev1.ResourceList{someGPU: resource.MustParse("1")}
			}, boundPods("a", "n", 2))), map[string]int32{"a": 3},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00"},
		},
		"P106a: and with what its template does not request, as a LimitRange adds it": {
			all([]client.Object{gpuNode("n", "9")}, scaled("a", 2, 1, func(_ *jobset.JobSet, job *batchv1.Job) {
				job.Spec.Template.Spec.Containers[0].Resources.Requests = nil
			}),
				forged(func(pod *corev1.Pod) {
					pod.Spec.Containers[0].Resources.Limits, pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{someGPU: resource.MustParse("3")}, nil
				}, boundPods("a", "n", 2))), map[string]int32{"a": 3},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00"},
		},
		"P106a: none takes less than its template": {
			all([]client.Object{gpuNode("n", "4")}, scaled("a", 2, 1), forged(func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Resources.Requests = nil
			}, boundPods("a", "n", 2))), map[string]int32{"a": 4},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 4 Pods: 2 more fit: score 0.00"},
		},
		"P107: a time in the annotation counts for nothing": {
			all(nodes, scaled("a", 2, 1, func(js *jobset.JobSet, _ *batchv1.Job) {
				js.Annotations = map[string]string{jobset.LastResizeKey: "2999-01-01T00:00:00Z"}
			}), boundPods("a", "n", 2)), map[string]int32{"a": 6},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 6 Pods: 4 more fit: score 0.00"},
		},
		"P107: a time of the status that is in the future counts as testshell.Now": {
			all(nodes, scaled("a", 2, 1, at(-24*time.Hour)), boundPods("a", "n", 2)), map[string]int32{"a": 2},
			[]string{"event Normal ElasticCoolingDown Reconciling: ReplicatedJob w: from 2 to 6 not before 2026-03-14T12:05:00Z, since its size was changed at 2026-03-14T12:00:00Z: 4 more fit: score 0.00", "update status JobSet a"},
		},
		"P107: a JobSet in a queue is left alone, and its Pods take room": {
			all(nodes, scaled("a", 2, 1), boundPods("a", "n", 2), boundPods("b", "n", 3),
				scaled("b", 3, 1, func(js *jobset.JobSet, _ *batchv1.Job) { js.Labels = map[string]string{constants.QueueNameKey: "q"} })),
			map[string]int32{"a": 3, "b": 3},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00"},
		},
		"P107: so is one that is suspended": {
			all(nodes, scaled("a", 2, 1, func(js *jobset.JobSet, _ *batchv1.Job) { js.Spec.Suspend = ptr.To(true) })), map[string]int32{"a": 2}, nil,
		},
		"P107: and the size of one of which a worker has finished": {
			all(nodes, scaled("a", 2, 1, func(_ *jobset.JobSet, job *batchv1.Job) { job.Status.CompletedIndexes = "0" }), boundPods("a", "n", 2)),
			map[string]int32{"a": 2}, nil,
		},
		"P107: that a worker failed and was replaced keeps no size": {
			all(nodes, scaled("a", 2, 1, func(js *jobset.JobSet, job *batchv1.Job) { js.Spec.FailurePolicy, job.Status.Failed = nil, 1 }), boundPods("a", "n", 2)), map[string]int32{"a": 6},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 6 Pods: 4 more fit: score 0.00"},
		},
		"P104 P100: nobody gives its coordinator, even one that admission would refuse": {
			all([]client.Object{gpuNode("n", "12")}, scaled("a", 6, 1, func(js *jobset.JobSet, _ *batchv1.Job) {
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "w", PodIndex: 5}
			}), boundPods("a", "n", 6), scaled("b", 6, 1), boundPods("b", "n", 6), scaled("c", 2, 0), boundPods("c", "", 2)), map[string]int32{"a": 6, "b": 4, "c": 2},
			[]string{"patch JobSet b", "event Normal ElasticResized Reconciling: ReplicatedJob w from 6 to 4 Pods: gave 2 instances to ns/c/w: score -0.50, ours 1.00"},
		},
		"P107: one that was resized a minute ago grows later": {
			all(nodes, scaled("a", 2, 1, at(time.Minute)), boundPods("a", "n", 2)), map[string]int32{"a": 2},
			[]string{"event Normal ElasticCoolingDown Reconciling: ReplicatedJob w: from 2 to 6 not before 2026-03-14T12:04:00Z, since its size was changed at 2026-03-14T11:59:00Z: 4 more fit: score 0.00", "update status JobSet a"},
		},
		"P107: one that was resized five minutes ago grows testshell.Now": {
			all(nodes, scaled("a", 2, 1, at(5*time.Minute)), boundPods("a", "n", 2)), map[string]int32{"a": 6},
			[]string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 6 Pods: 4 more fit: score 0.00"},
		},
		"P104 P109: one whose least size does not fit waits, which is told": {
			all(nodes, boundPods("other", "n", 5), scaled("a", 2, 0)), map[string]int32{"a": 2},
			[]string{"event Warning ElasticWaiting Reconciling: ReplicatedJob w: its minimum of 2 does not fit, nor would it if all others were at their minimums", "update status JobSet a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testshell.New(t, tc.objects...)
			for _, object := range tc.objects {
				if pod, ok := object.(*corev1.Pod); ok {
					s.Cached(t, nil, pod)
				}
			}
			a := newAutoscaler(s, Autoscaling{CooldownUp: 5 * time.Minute, Accelerators: []corev1.ResourceName{someGPU}})
			round(t, s, a)
			s.Record.Expect(t, tc.record...)
			round(t, s, a)
			s.Record.Expect(t) // a second round changes and tells nothing
			got := map[string]int32{}
			var list jobset.JobSetList
			if err := s.Fake.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			for _, js := range list.Items {
				got[js.Name] = *js.Spec.ReplicatedJobs[0].Template.Spec.Completions
			}
			if diff := cmp.Diff(tc.sizes, got); diff != "" {
				t.Errorf("sizes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLostNodes: since when a group lacks Pods is kept from plan to plan (P108), and what it waits for is in its status.
func TestLostNodes(t *testing.T) {
	const waits = "ReplicatedJob w: 2 of its 6 Pods have had no node for more than 2m0s, and Pods on lost keep their indexes: it waits until the nodes are ready, " +
		"or are deleted with their Pods; spec.faultTolerance allows to delete such Pods by force"
	resized := []string{"patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 6 to 4 Pods: 2 of its 6 Pods have had no node for more than 2m0s: it continues with 4"}
	for name, tc := range map[string]struct {
		// held: the Pods on the lost node exist.
		held, force bool
		// runs: the group has not been stopped.
		runs   bool
		waits  string
		size   int32
		record []string
	}{
		"P108: it goes on without Pods that are gone":                {false, false, false, "", 4, resized},
		"P108: it waits for Pods on a node that is not ready":        {true, false, false, waits, 6, []string{"event Warning ElasticWaiting Reconciling: " + waits, "update status JobSet a"}},
		"P108 P25: unless these are deleted by force":                {true, true, false, "", 4, resized},
		"P108b: but while it runs a silent kubelet is nobody's loss": {true, true, true, "", 6, nil},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append([]client.Object{gpuNode("n", "4")}, scaled("a", 6, 1, func(js *jobset.JobSet, _ *batchv1.Job) {
				js.Status.DeprecatedEpoch = ptr.To(map[bool]int32{false: 1}[tc.runs])
			})...)
			lost := gpuNode("lost", "2")
			lost.Status.Conditions[0].Status = corev1.ConditionUnknown
			pods := boundPods("a", "n", 6)
			for i, pod := range pods {
				if i < 2 {
					pod.(*corev1.Pod).Spec.NodeName = "lost"
				}
			}
			if !tc.held {
				pods = pods[2:]
			}
			s := testshell.New(t, append(append(objects, lost), pods...)...)
			for _, pod := range pods {
				s.Cached(t, nil, pod.(*corev1.Pod))
			}
			a := newAutoscaler(s, Autoscaling{ShrinkAfter: 2 * time.Minute, ForcesStuck: tc.force, Accelerators: []corev1.ResourceName{someGPU}})
			round(t, s, a)
			s.Record.Expect(t) // it may come back
			s.Clock.SetTime(testshell.Now.Add(2 * time.Minute))
			round(t, s, a)
			s.Record.Expect(t, tc.record...)
			js := &jobset.JobSet{}
			if err := s.Fake.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, js); err != nil {
				t.Fatal(err)
			}
			condition := apimeta.FindStatusCondition(js.Status.Conditions, string(jobset.JobSetElasticWaiting))
			if got := condition != nil && condition.Status == metav1.ConditionTrue && condition.Message == tc.waits; got != (tc.waits != "") {
				t.Errorf("P108: condition %+v, want %q", condition, tc.waits)
			}
			if got := *js.Spec.ReplicatedJobs[0].Template.Spec.Completions; got != tc.size {
				t.Errorf("P108: size %d, want %d", got, tc.size)
			}
		})
	}
}

// TestRestartsTakeNothing: a job that was started stays so while its Jobs are recreated, and takes from nobody (P104a).
func TestRestartsTakeNothing(t *testing.T) {
	ready := func(js *jobset.JobSet, job *batchv1.Job) {
		js.Spec.FailurePolicy, js.Status.SyncedEpoch = nil, nil
		job.Status.Ready = ptr.To[int32](2)
	}
	for name, tc := range map[string]struct {
		// before: a round saw its Pods ready. restarts are those of its status.
		before   bool
		restarts int32
		want     int32
	}{
		"P104: one that never ran takes its minimum":                      {false, 0, 4},
		"P104a: one that a round saw running does not":                    {true, 0, 6},
		"P104a: nor does one whose status has a restart, to a new leader": {false, 1, 6},
	} {
		t.Run(name, func(t *testing.T) {
			restarting := func(js *jobset.JobSet, job *batchv1.Job) {
				ready(js, job)
				js.Status.Restarts = tc.restarts
				if !tc.before {
					job.Status.Ready = nil
				}
			}
			objects := append(append([]client.Object{gpuNode("n", "6"), gpuNode("n2", "2")}, scaled("a", 6, 1)...), boundPods("a", "n", 6)...)
			objects = append(append(objects, scaled("b", 2, 0, restarting)...), boundPods("b", "n2", 2)...)
			s := testshell.New(t, objects...)
			a := newAutoscaler(s, Autoscaling{Accelerators: []corev1.ResourceName{someGPU}})
			round(t, s, a)
			// Its Jobs are recreated, and the node of its Pods has gone meanwhile.
			for _, gone := range append(boundPods("b", "n2", 2), gpuNode("n2", "2")) {
				if err := s.Fake.Delete(t.Context(), gone); err != nil {
					t.Fatal(err)
				}
			}
			job := &batchv1.Job{}
			if err := s.Fake.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "b-w-0"}, job); err != nil {
				t.Fatal(err)
			}
			job.Status.Ready = nil
			if err := s.Fake.Status().Update(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			for _, pod := range boundPods("b", "", 2) {
				s.Cached(t, nil, pod.(*corev1.Pod))
			}
			round(t, s, a)
			js := &jobset.JobSet{}
			if err := s.Fake.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, js); err != nil {
				t.Fatal(err)
			}
			if got := *js.Spec.ReplicatedJobs[0].Template.Spec.Completions; got != tc.want {
				t.Errorf("the other has %d, want %d", got, tc.want)
			}
		})
	}
}

func TestKeepRequests(t *testing.T) {
	t.Run("P106: who controls a Pod is kept in the cache of the planner, other owners are not", func(t *testing.T) {
		pod := boundPods("a", "n", 1)[0].(*corev1.Pod)
		want := pod.OwnerReferences[0]
		pod.OwnerReferences = append([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "x"}}, want)
		if diff := cmp.Diff([]metav1.OwnerReference{want}, keepRequests(pod).OwnerReferences); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}
	})
}
