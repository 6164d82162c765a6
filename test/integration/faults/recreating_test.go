/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/test/simnode"
)

// recreating is a JobSet of two Jobs of five workers, all of which are recreated when one of them fails.
type recreating struct {
	*world
	strategy jobset.JobSetRestartStrategy
	restarts int32

	mu sync.Mutex
	// running says how to make the worker of a Pod fail.
	running map[types.UID]context.CancelFunc
}

const recreatedJobs, recreatedPerJob = 2, 5

func (r *recreating) name() string { return strings.ToLower(string(r.strategy)) }

// comeUp creates the JobSet and waits until all of its workers run.
func (r *recreating) comeUp(ctx context.Context) {
	GinkgoHelper()
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: r.name()},
		Spec: jobset.JobSetSpec{
			FailurePolicy: &jobset.FailurePolicy{MaxRestarts: 1_000_000, RestartStrategy: r.strategy},
			ReplicatedJobs: []jobset.ReplicatedJob{{Name: "workers", Replicas: recreatedJobs, Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism: ptr.To[int32](recreatedPerJob), Completions: ptr.To[int32](recreatedPerJob), BackoffLimit: ptr.To[int32](0),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](1),
					Containers: []corev1.Container{{Name: "worker", Image: r.name()}},
				}},
			}}}},
		},
	}
	webhooks.Default(js, gates.Set{InPlaceRestart: true})
	Expect(r.client.Create(ctx, js)).To(Succeed())
	r.allRun(ctx)
}

// restart makes a worker fail, and waits until all run again after one restart.
func (r *recreating) restart(ctx context.Context, dice *rand.Rand) {
	GinkgoHelper()
	r.mu.Lock()
	skip := dice.IntN(len(r.running))
	for _, fail := range r.running {
		if skip--; skip < 0 {
			fail()
			break
		}
	}
	r.mu.Unlock()
	r.restarts++
	r.allRun(ctx)
}

// allRun waits until all workers run, in Pods of the latest attempt alone.
func (r *recreating) allRun(ctx context.Context) {
	GinkgoHelper()
	attempt := client.MatchingLabels{jobset.JobSetNameKey: r.name(), constants.RestartsKey: strconv.Itoa(int(r.restarts))}
	Eventually(func(g Gomega) {
		var js jobset.JobSet
		g.Expect(r.client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: r.name()}, &js)).To(Succeed())
		g.Expect(js.Status.Restarts).To(Equal(r.restarts), "restarts")
		var pods corev1.PodList
		g.Expect(r.client.List(ctx, &pods, client.InNamespace(metav1.NamespaceDefault), attempt)).To(Succeed())
		r.mu.Lock()
		defer r.mu.Unlock()
		g.Expect(pods.Items).To(HaveLen(recreatedJobs*recreatedPerJob), "Pods")
		g.Expect(r.running).To(HaveLen(len(pods.Items)), "workers that run")
		for i := range pods.Items {
			g.Expect(r.running).To(HaveKey(pods.Items[i].UID), "worker of Pod "+pods.Items[i].Name)
		}
	}).WithTimeout(hang).Should(Succeed(), "a JobSet with strategy %s", r.strategy)
}

// runWorker is the worker container: it runs until it is told to end or to fail.
func (r *recreating) runWorker(ctx context.Context, c simnode.FuncContainer) int {
	failing, fail := context.WithCancel(ctx)
	defer fail()
	r.mu.Lock()
	r.running[c.Pod.UID] = fail
	r.mu.Unlock()
	<-failing.Done()
	r.mu.Lock()
	delete(r.running, c.Pod.UID)
	r.mu.Unlock()
	if ctx.Err() == nil {
		return 1
	}
	return 143 // what SIGTERM leaves
}
