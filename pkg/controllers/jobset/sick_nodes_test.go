/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// newIndexer has the index of a cache.
func newIndexer[T client.Object](t *testing.T, name string, keys func(T) []string, objects ...T) shared.Indexed[T] {
	t.Helper()
	store := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{name: func(obj any) ([]string, error) { return keys(obj.(T)), nil }})
	for _, object := range objects {
		if err := store.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	return shared.Indexed[T]{Index: name, Store: store}
}

func node(name string, health string) *corev1.Node {
	n := &corev1.Node{}
	n.Name, n.Labels = name, map[string]string{"zone": "a"}
	if health != "" {
		n.Labels["autopilot.ibm.com/gpuhealth"] = health
	}
	return n
}

// tolerantOn is a JobSet with faultTolerance, and a Pod of it on each of the nodes.
func tolerantOn(name string, nodes ...string) (*jobset.JobSet, []*corev1.Pod) {
	js := builders.MakeJobSet(name, "ns").UID(name + "-uid").ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	js.Spec.FaultTolerance = &jobset.FaultTolerance{}
	job := builders.MakeJob(js, "w", 0).Obj()
	var pods []*corev1.Pod
	for i, node := range nodes {
		pods = append(pods, builders.MakePod(job, i).Change(func(pod *corev1.Pod) { pod.Spec.NodeName = node }).Obj())
	}
	return js, pods
}

func newQueue(t *testing.T) queue {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	return q
}

// inQueue empties a queue.
func inQueue(q queue) []string {
	var names []string
	for q.Len() > 0 {
		request, _ := q.Get()
		q.Done(request)
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}

func TestNodesWakeWhoRunsOnThem(t *testing.T) {
	t.Parallel()
	train, pods := tolerantOn("train", "n1", "n1", "n2")
	other, more := tolerantOn("other", "n1")
	plain, plainPods := tolerantOn("plain", "n1")
	plain.Spec.FaultTolerance = nil
	foreign, foreignPods := tolerantOn("foreign", "n1")
	foreign.Spec.ManagedBy = ptr.To("example.com/other")
	_, orphans := tolerantOn("gone", "n1")
	s := newShell(t, train, other, plain, foreign)
	all := slices.Concat(pods, more, plainPods, foreignPods, orphans)
	events := &nodeEvents{reader: s.client, rules: nodehealth.DefaultRules(), pods: newIndexer(t, constants.PodsIndexByNode, byNode, membersOf(all)...)}

	heartbeat := node("n1", "PASS")
	heartbeat.ResourceVersion = "7"
	heartbeat.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, LastHeartbeatTime: metav1.NewTime(now)}}
	relabelled := node("n1", "")
	relabelled.Labels["zone"] = "b"
	update := func(old, new *corev1.Node) func(q queue) {
		return func(q queue) {
			events.Update(t.Context(), event.UpdateEvent{ObjectOld: old, ObjectNew: new}, q)
		}
	}
	for name, tc := range map[string]struct {
		happens func(q queue)
		want    []string
	}{
		"P92: a node gets the mark: JobSets that ask for it, with Pods on it, once each": {update(node("n1", ""), node("n1", "EVICT")), []string{"other", "train"}},
		"P92: another node wakes others":                                                 {update(node("n2", "ERR"), node("n2", "EVICT")), []string{"train"}},
		"P92: a node without Pods wakes nobody":                                          {update(node("n3", ""), node("n3", "EVICT")), nil},
		"P92: a node loses the mark: what was refused is over":                           {update(node("n1", "EVICT"), node("n1", "PASS")), []string{"other", "train"}},
		"P92: a heartbeat wakes nobody":                                                  {update(node("n1", "PASS"), heartbeat), nil},
		"P92: nor does a label that says nothing":                                        {update(node("n1", ""), relabelled), nil},
		"P92: nor does one with effect NoSchedule":                                       {update(node("n1", "PASS"), node("n1", "ERR")), nil},
		"P92: a marked node is seen for the first time": {
			func(q queue) { events.Create(t.Context(), event.CreateEvent{Object: node("n2", "EVICT")}, q) }, []string{"train"},
		},
		"P92: so is a healthy one": {func(q queue) { events.Create(t.Context(), event.CreateEvent{Object: node("n2", "")}, q) }, nil},
		"P92: a node goes, and Kubernetes sees to its Pods": {
			func(q queue) { events.Delete(t.Context(), event.DeleteEvent{Object: node("n1", "EVICT")}, q) }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			tc.happens(q)
			if diff := cmp.Diff(tc.want, inQueue(q)); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsOnMarkedNodesWakeTheirJobSet(t *testing.T) {
	t.Parallel()
	js, pods := tolerantOn("train", "sick", "healthy", "")
	onSick, onHealthy, pending := pods[0], pods[1], pods[2]
	s := newShell(t, js)
	s.nodeHealth.MoveOff = nodehealth.DefaultRules()
	s.marked = newIndexer(t, constants.MarkedNodesIndex, marks(s.nodeHealth.MoveOff), node("sick", "EVICT"), node("healthy", "ERR"))
	bound := pending.DeepCopy()
	bound.Spec.NodeName = "sick"
	unknown := pending.DeepCopy()
	unknown.Spec.NodeName = "not-seen-yet"
	for name, tc := range map[string]struct {
		old, pod *corev1.Pod
		want     []string
	}{
		"P92: bound to a node that was marked before anybody saw it there": {pending, bound, []string{"train"}},
		"P92: seen there for the first time":                               {nil, onSick, []string{"train"}},
		"P92: bound to a healthy node":                                     {nil, onHealthy, nil},
		"P92: bound to a node that is not in the cache":                    {pending, unknown, nil},
		"P92: not bound":      {nil, pending, nil},
		"P92: bound long ago": {bound, bound, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q, events := newQueue(t), s.bindingEvents()
			if tc.old == nil {
				events.Create(t.Context(), event.CreateEvent{Object: facts.Of(tc.pod)}, q)
			} else {
				events.Update(t.Context(), event.UpdateEvent{ObjectOld: facts.Of(tc.old), ObjectNew: facts.Of(tc.pod)}, q)
			}
			if diff := cmp.Diff(tc.want, inQueue(q)); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatADecisionKnowsOfSickNodes(t *testing.T) {
	t.Parallel()
	rules := nodehealth.DefaultRules()
	mark := nodehealth.Mark{Resource: "nvidia.com/gpu", Key: "autopilot.ibm.com/gpuhealth", Value: "EVICT"}
	for name, tc := range map[string]struct {
		nodes []*corev1.Node
		gate  bool
		asks  bool
		want  policy.SickNodes
	}{
		"P92: the nodes that are marked, and since when it has been moving": {
			[]*corev1.Node{node("a", "EVICT"), node("b", "ERR"), node("c", "")}, true, true,
			policy.SickNodes{KeepAway: rules, Since: now.Add(-time.Minute), Marked: map[string][]nodehealth.Mark{"a": {mark}}},
		},
		"P90: what to keep away from, although all nodes are healthy": {nil, true, true, policy.SickNodes{KeepAway: rules, Since: now.Add(-time.Minute)}},
		"P92: gate off, nothing":                     {[]*corev1.Node{node("a", "EVICT")}, false, true, policy.SickNodes{}},
		"P92: nothing unless the JobSet asks for it": {[]*corev1.Node{node("a", "EVICT")}, true, false, policy.SickNodes{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js, _ := tolerantOn("train")
			if !tc.asks {
				js.Spec.FaultTolerance = nil
			}
			s := newShell(t)
			s.gates.FaultTolerance, s.nodeHealth = tc.gate, NodeHealth{KeepAway: rules, MoveOff: rules}
			s.marked = newIndexer(t, constants.MarkedNodesIndex, marks(rules), tc.nodes...)
			s.memory.forJobSet(js).movingSince = now.Add(-time.Minute)
			got, err := s.sickNodes(js)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
		})
	}
}

// BenchmarkHeartbeats is the cost of 5,000 nodes that report their status once, which wakes nobody.
func BenchmarkHeartbeats(b *testing.B) {
	rules := nodehealth.DefaultRules()
	events := &nodeEvents{rules: rules}
	const nodes = 5000
	old, reported := make([]*corev1.Node, nodes), make([]*corev1.Node, nodes)
	for i := range nodes {
		old[i], reported[i] = node(fmt.Sprintf("n%d", i), "PASS"), node(fmt.Sprintf("n%d", i), "PASS")
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range nodes {
			events.Update(b.Context(), event.UpdateEvent{ObjectOld: old[i], ObjectNew: reported[i]}, nil) // a wake would use the queue, which is nil
		}
	}
}
