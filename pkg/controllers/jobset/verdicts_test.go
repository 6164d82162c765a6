/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	elasticcontroller "sigs.k8s.io/jobset/pkg/controllers/elastic"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestVerdictsAreWritten: what the planner says is written at once: sizes wait for it, and it is said of JobSets that cannot
// create their Jobs, too (P108a, P109).
func TestVerdictsAreWritten(t *testing.T) {
	t.Parallel()
	waits := elastic.Decision{Key: elastic.Key{ReplicatedJob: "w"}, State: elastic.Waits, Because: "it waits"}
	limited := elastic.Decision{Key: elastic.Key{ReplicatedJob: "w"}, Limit: &elastic.Limit{Reason: "NoRoom", Message: "none"}}
	for name, tc := range map[string]struct {
		fails bool
		says  elastic.Decision
		want  []string
	}{
		"P113: at once, although counts would wait": {false, limited, []string{"create Job js-w-0", "update status JobSet js"}},
		"P104: although a Job cannot be created":    {true, waits, []string{"create Job js-w-0", "event Warning JobCreationFailed Reconciling: job \"js-w-0\" creation failed with error: no", "update status JobSet js"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Network(jobset.Network{EnableDNSHostnames: ptr.To(false)}).ReplicatedJob(builders.MakeReplicatedJob("w")).Obj()
			js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 9}
			js.Spec.ReplicatedJobs[0].Template.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
			js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism, js.Spec.ReplicatedJobs[0].Template.Spec.Completions = ptr.To[int32](2), ptr.To[int32](2)
			s := newShell(t, js)
			s.gates.ElasticJobSet, s.verdicts = true, &elasticcontroller.Board{}
			if tc.fails {
				s.Fail = func(request string) error {
					if request == "create Job js-w-0" {
						return errors.New("no")
					}
					return nil
				}
			}
			_, _ = pass(t, s)
			js = stored(t, s, js)
			if !tc.fails && js.Status.ReplicatedJobsStatus[0].Elastic == nil {
				t.Fatal("the status has no size")
			}
			s.Record.Expect(t, s.Record.All()...)

			s.verdicts.Post(map[types.NamespacedName]*policy.Verdict{client.ObjectKeyFromObject(js): policy.NewVerdict(js, []elastic.Decision{tc.says})})
			s.memory.forJobSet(js).pace.jobs.Store(100000) // counts wait for as long as they can
			s.memory.forJobSet(js).pace.lastWrite = s.Clock.Now().Add(2 * time.Second)
			_, _ = pass(t, s)
			s.Record.Expect(t, tc.want...)
			js = stored(t, s, js)
			if is := js.Status.ReplicatedJobsStatus[0].Elastic; !tc.fails && (is == nil || is.Limit == nil) {
				t.Errorf("sizes %+v, want the limit", is)
			}
			if waits := apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetElasticWaiting)); waits != tc.fails {
				t.Errorf("conditions %+v, want ElasticWaiting: %t", js.Status.Conditions, tc.fails)
			}

			s.verdicts = &elasticcontroller.Board{} // a new leader, before the first round
			_, _ = pass(t, s)
			if diff := cmp.Diff(js.Status, stored(t, s, js).Status); diff != "" {
				t.Errorf("P109: a manager that has just started changes the status (-was +is):\n%s", diff)
			}
		})
	}
}

// TestPostsWake: what is posted makes a pass.
func TestPostsWake(t *testing.T) {
	t.Parallel()
	board, woken := &elasticcontroller.Board{}, map[types.NamespacedName]bool{}
	board.OnPost(func(js types.NamespacedName) { woken[js] = true })
	key := types.NamespacedName{Namespace: "ns", Name: "js"}
	board.Post(map[types.NamespacedName]*policy.Verdict{key: {}})
	if !woken[key] {
		t.Errorf("woken for %v, want %v", woken, key)
	}
}
