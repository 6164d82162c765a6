/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/faults/observer"
	"sigs.k8s.io/jobset/test/faults/player"
	"sigs.k8s.io/jobset/test/ownagent"
)

// processAgent is the image of the agents that the manager adds to Pods. The other group brings its own.
const processAgent = "process-agent"

// group is a JobSet of 50 workers that restarts in place, in one of the modes.
type group struct {
	*world
	mode     jobset.InPlaceRestartMode
	players  *player.Players
	observer *observer.Observer
}

func (g *group) processes() bool { return g.mode == jobset.ProcessMode }

// inLeases says whether the agents of process mode report in Leases.
func (w *world) inLeases() bool { return workers >= w.leasesFrom }

// namespace is where nothing but the group is.
func (g *group) namespace() string {
	if g.processes() {
		return "process"
	}
	return "default"
}

// images are those of its containers.
func (g *group) images() (agent, worker string) {
	if g.processes() {
		return processAgent, "process-worker"
	}
	return "agent", "worker"
}

// comeUp creates the JobSet and waits until all of its workers run.
func (g *group) comeUp(ctx context.Context) {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: g.namespace()}}
	if namespace.Name != metav1.NamespaceDefault {
		Expect(g.client.Create(ctx, namespace)).To(Succeed())
	}
	js := g.jobSet()
	Expect(g.client.Create(ctx, js)).To(Succeed())
	watching, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	g.observer = observer.Start(watching, g.client, js)
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	if err := g.recovers(ctx, 0, 0); err != nil {
		AddReportEntry("the world", g.dump(context.Background()), ReportEntryVisibilityAlways)
		Expect(err).NotTo(HaveOccurred(), "the group in mode %s comes up", g.mode)
	}
}

// jobSet restarts in place as often as it takes.
func (g *group) jobSet() *jobset.JobSet {
	agentImage, workerImage := g.images()
	worker := corev1.Container{Name: "worker", Image: workerImage}
	if g.processes() {
		worker.Command = []string{"/worker"}
	}
	template := &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		Parallelism: ptr.To[int32](workersPerJob),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers:                    []corev1.Container{worker},
		}},
	}}
	if !g.processes() {
		template = ownagent.Job(template, "jobset-agent", workerpod.Options{AgentImage: agentImage})
	}
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace(), Name: jobSetName},
		Spec: jobset.JobSetSpec{
			FailurePolicy: &jobset.FailurePolicy{
				MaxRestarts: 1_000_000, RestartStrategy: jobset.InPlaceRestart, InPlaceRestart: &jobset.InPlaceRestartPolicy{Mode: g.mode},
			},
			ReplicatedJobs: []jobset.ReplicatedJob{{Name: "workers", Replicas: jobs, Template: *template}},
		},
	}
	webhooks.Default(js, gates.Set{InPlaceRestart: true})
	return js
}

// recovers waits until all workers run in one epoch later than the given one, the group is
// told the same, and both stay so for the settling time.
func (g *group) recovers(ctx context.Context, after int32, settle time.Duration) error {
	for {
		err := g.observer.Until(ctx, func(s observer.State) bool { return g.runsAfter(after, s) })
		if err != nil {
			running, epoch := g.players.Running()
			return fmt.Errorf("%d workers run, in epoch %d: %w", running, epoch, err)
		}
		if settle == 0 {
			return nil
		}
		settled, stop := context.WithTimeout(ctx, settle)
		err = g.observer.Until(settled, func(s observer.State) bool { return !g.runsAfter(after, s) })
		stop()
		if err != nil {
			return nil // nothing moved
		}
	}
}

func (g *group) runsAfter(epoch int32, s observer.State) bool {
	running, in := g.players.Running()
	return running == workers && in > epoch && in == s.Synced && s.Deprecated == s.Synced-1
}

// podsByUID are the Pods whose workers run.
func (g *group) podsByUID() map[types.UID]bool {
	pods := map[types.UID]bool{}
	for _, pod := range g.players.Pods() {
		pods[pod.UID] = true
	}
	return pods
}

// gone counts the Pods that ran before and do not any more.
func (g *group) gone(before map[types.UID]bool) int {
	now, count := g.podsByUID(), 0
	for uid := range before {
		if !now[uid] {
			count++
		}
	}
	return count
}

// label names the mode in the report.
func (g *group) label() string { return strings.ToLower(string(g.mode)) }
