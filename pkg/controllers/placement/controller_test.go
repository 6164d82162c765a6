/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const rack = "example.com/rack"

// wakings is a queue that only records the Jobs that were enqueued.
type wakings struct {
	placementQueue
	jobs []podsOfJob
}

func (w *wakings) AddAfter(job podsOfJob, after time.Duration) {
	if after == repairDelay {
		w.jobs = append(w.jobs, job)
	}
}

func worker() *batchv1.Job {
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	return builders.MakeJob(js, "w", 0).Workers(2).Obj()
}

// placed returns a Pod of Job js-w-0 with exclusive placement, as the cache keeps it.
func placed(t *testing.T, index int, changes ...func(*corev1.Pod)) *facts.Member {
	t.Helper()
	job := worker()
	builder := builders.MakePod(job, index).Annotation(jobset.ExclusiveKey, rack)
	for _, change := range changes {
		builder.Change(change)
	}
	return facts.Of(builder.Obj())
}

func onNode(p *corev1.Pod)        { p.Spec.NodeName = "n" }
func hasFailed(p *corev1.Pod)     { p.Status.Phase = corev1.PodFailed }
func isDeleted(p *corev1.Pod)     { p.DeletionTimestamp = &metav1.Time{Time: testshell.Now} }
func placedByHand(p *corev1.Pod)  { p.Annotations[jobset.NodeSelectorStrategyKey] = "" }
func placedFreely(p *corev1.Pod)  { delete(p.Annotations, jobset.ExclusiveKey) }
func ownedByNobody(p *corev1.Pod) { p.OwnerReferences = nil }
func inRack(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{rack: value, "disk": "fast"} }
}
func disrupted(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: "True", Message: "m"}}
}

func TestPlacementEvents(t *testing.T) {
	t.Parallel()
	pod := func(index int, changes ...func(*corev1.Pod)) *facts.Member { return placed(t, index, changes...) }
	tests := map[string]struct {
		// before and after the change; one is nil for a Pod that is created or deleted.
		before, after *facts.Member
		wakes         bool
	}{
		"C5: a leader comes scheduled":                      {nil, pod(0, onNode), true},
		"C5: a leader is scheduled":                         {pod(0), pod(0, onNode), true},
		"C354: the status of a scheduled leader changes":    {pod(0, onNode), pod(0, onNode, disrupted), false},
		"C5: a leader that is on its way out comes":         {nil, pod(0, onNode, isDeleted), false},
		"C313: a follower comes":                            {nil, pod(1), true},
		"a follower comes that has failed":                  {nil, pod(1, hasFailed), false},
		"a follower is scheduled":                           {pod(1), pod(1, onNode), false},
		"a follower is disrupted":                           {pod(1), pod(1, disrupted), false},
		"the selector of a gated follower changes":          {pod(1, inRack("1")), pod(1, inRack("2")), true},
		"one of two leaders fails":                          {pod(0, onNode), pod(0, onNode, hasFailed), true},
		"one of two leaders is deleted":                     {pod(0, onNode), pod(0, onNode, isDeleted), true},
		"one of two leaders goes":                           {pod(0, onNode), nil, true},
		"a follower goes":                                   {pod(1), nil, false},
		"C311: a leader on a node reserved for it comes":    {nil, pod(0, onNode, placedByHand), false},
		"C5: a leader comes that may be anywhere":           {nil, pod(0, onNode, placedFreely), false},
		"a leader that may be anywhere is scheduled":        {pod(0, placedFreely), pod(0, placedFreely, onNode), false},
		"C194: a leader comes that no Job controls":         {nil, pod(0, onNode, ownedByNobody), false},
		"C194: a leader comes that another kind controls":   {nil, pod(0, onNode, func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "CronJob" }), false},
		"C194: a leader comes that a Job of others control": {nil, pod(0, onNode, func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "batch.volcano.sh/v1" }), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &wakings{}
			switch {
			case tc.before == nil:
				placementEvents{}.Create(t.Context(), event.CreateEvent{Object: tc.after}, q)
			case tc.after == nil:
				placementEvents{}.Delete(t.Context(), event.DeleteEvent{Object: tc.before}, q)
			default:
				placementEvents{}.Update(t.Context(), event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}, q)
			}
			var want []podsOfJob
			if job := worker(); tc.wakes {
				want = []podsOfJob{{NamespacedName: types.NamespacedName{Namespace: job.Namespace, Name: job.Name}, UID: job.UID}}
			}
			if diff := cmp.Diff(want, q.jobs); diff != "" {
				t.Errorf("Jobs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatPlacementReads(t *testing.T) {
	t.Parallel()
	want := facts.Place{Exclusive: true, Topology: rack, Domain: ptr.To("rack-1"), Disrupted: true}
	if diff := cmp.Diff(want, placed(t, 1, inRack("rack-1"), disrupted, onNode).Place); diff != "" {
		t.Errorf("P23: (-want +got):\n%s", diff)
	}
	for name, pod := range map[string]*facts.Member{
		"placed freely":  placed(t, 1, inRack("rack-1"), disrupted, placedFreely),
		"placed by hand": placed(t, 1, inRack("rack-1"), disrupted, placedByHand),
	} {
		if pod.Topology != "" || pod.Domain != nil {
			t.Errorf("P23: a Pod %s has a domain: %+v", name, pod.Place)
		}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{rack: "rack-1"}}}
	if diff := cmp.Diff(node.Labels, facts.StripNode(node).Labels); diff != "" {
		t.Errorf("C196: the labels of a node (-want +got):\n%s", diff)
	}
}
