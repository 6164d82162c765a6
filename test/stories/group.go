/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Group is the JobSet of a story and the workers it runs.
type Group struct {
	*fixture
	shape Shape
	// either: its agents report in Leases or on Pods.
	either bool
	// created is when it was; firstStart is how long its first start took, until it was reported.
	created    time.Time
	firstStart time.Duration
}

// Create makes a namespace and a JobSet in it, and follows what becomes of them.
func Create(ctx SpecContext, shape Shape) *Group {
	GinkgoHelper()
	return CreateBy(ctx, shape, func(namespace string) error { return api.Create(ctx, shape.withDefaults().jobSet(namespace)) })
}

// CreateBy is Create where others make the JobSet, of the name JobSetName and the shape that is given.
func CreateBy(ctx SpecContext, shape Shape, create func(namespace string) error) *Group {
	GinkgoHelper()
	g := &Group{fixture: newFixture(ctx, shape.NamespaceLabels), shape: shape.withDefaults()}
	if g.shape.OwnAgent {
		g.isPrepared()
	}
	if g.shape.Account != "" {
		g.hasAccount(g.shape.Account)
	}
	DeferCleanup(func() {
		if !CurrentSpecReport().Failed() {
			g.epochsOnlyGrew()
		}
	})
	g.needsMode()
	g.created = time.Now()
	// Right after the manager became ready, a proxy somewhere may not know it yet.
	g.eventually(func() error { return create(g.namespace) }).Should(Succeed())
	return g
}

// RunsAt waits until all workers run at an epoch and returns them. Each started
// after the group was told to restart, and after all agents had: the barrier
// held it back.
func (g *Group) RunsAt(epoch int32) *Round {
	GinkgoHelper()
	round := g.runs(func(expect Gomega) time.Time {
		status := g.record.status()
		expect.Expect(ptr.Deref(status.SyncedEpoch, 0)).To(Equal(epoch), "syncedEpoch")
		expect.Expect(ptr.Deref(status.DeprecatedEpoch, 0)).To(Equal(epoch-1), "deprecatedEpoch")
		for _, pod := range g.live() {
			expect.Expect(g.reportOf(pod)).To(HaveKeyWithValue(jobset.EpochKey, strconv.Itoa(int(epoch))), "epoch of Pod %s", pod.Name)
		}
		if g.shape.Process {
			expect.Expect(g.startedIn(g.live(), epoch)).To(Succeed())
			return time.Time{}
		}
		for _, pod := range g.live() {
			expect.Expect(g.record.showsWorkerOf(pod, epoch)).To(Succeed())
		}
		agents, err := g.starts(g.live(), agentName)
		expect.Expect(err).NotTo(HaveOccurred())
		expect.Expect(agents).NotTo(BeEmpty(), "agents")
		if epoch == 1 {
			return latest(agents)
		}
		return latest(append(agents, g.record.breakWritten(epoch-1)))
	})
	round.Epoch = epoch
	return round
}

// reportOf are the annotations in which the agent of a Pod is expected to report.
func (g *Group) reportOf(pod *corev1.Pod) (map[string]string, error) {
	if !g.shape.Leases {
		return pod.Annotations, nil
	}
	lease := &coordinationv1.Lease{}
	err := api.Get(g.ctx, client.ObjectKey{Namespace: pod.Namespace, Name: facts.LeaseName(pod.Name)}, lease)
	if !g.either {
		return lease.Annotations, err
	}
	m := facts.Of(pod)
	if facts.Join(m, facts.InList([]coordinationv1.Lease{*lease}).Of(m), ptr.Deref(g.record.status().SyncedEpoch, 0)).FromLease {
		return lease.Annotations, client.IgnoreNotFound(err)
	}
	return pod.Annotations, client.IgnoreNotFound(err)
}

// RunsAttempt waits until all workers of the nth full restart run.
func (g *Group) RunsAttempt(restarts int32) *Round {
	GinkgoHelper()
	return g.runs(func(expect Gomega) time.Time {
		expect.Expect(g.record.status().Restarts).To(Equal(restarts), "restarts")
		for _, pod := range g.live() {
			expect.Expect(pod.Labels).To(HaveKeyWithValue(constants.RestartsKey, strconv.Itoa(int(restarts))), "attempt of Pod %s", pod.Name)
		}
		if restarts == 0 {
			return time.Time{}
		}
		return g.record.restartWritten(restarts)
	})
}

// runs waits until as many workers run as the shape asks for, all as wanted,
// in processes that started later than the moment that wanted returns.
func (g *Group) runs(wanted func(Gomega) time.Time) *Round {
	GinkgoHelper()
	round := &Round{group: g}
	g.eventually(func(expect Gomega) {
		since := wanted(expect)
		pods := g.live()
		expect.Expect(pods).To(HaveLen(g.shape.size()), "live Pods")
		round.Pods = pods
		for _, pod := range pods {
			status := containerStatus(pod, g.shape.Container)
			expect.Expect(status != nil && status.State.Running != nil).To(BeTrue(), "the worker of Pod %s runs", pod.Name)
		}
		var err error
		round.Started, err = g.starts(pods, g.shape.Container)
		expect.Expect(err).NotTo(HaveOccurred())
		for i, started := range round.Started {
			expect.Expect(started).To(BeTemporally(">", since), "the worker of Pod %s started when it was allowed to", pods[i].Name)
		}
	}).Should(Succeed())
	return round
}

// live are the Pods that are neither ended nor told to, in the order of their places.
func (g *Group) live() []*corev1.Pod {
	pods := slices.DeleteFunc(g.record.pods(), func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			cmp.Compare(number(a.Labels[jobset.JobGlobalIndexKey]), number(b.Labels[jobset.JobGlobalIndexKey])),
			cmp.Compare(number(a.Annotations[batchv1.JobCompletionIndexAnnotation]), number(b.Annotations[batchv1.JobCompletionIndexAnnotation])))
	})
	return pods
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// Tell sends a signal to containers at one moment and returns that moment.
func (g *Group) Tell(sig syscall.Signal, containers ...Container) time.Time {
	GinkgoHelper()
	at, err := cluster.Signal(g.ctx, sig, containers...)
	Expect(err).NotTo(HaveOccurred())
	return at
}

// Now returns a container as it is now, in a Pod seen earlier.
func (g *Group) Now(c Container) Container {
	for _, pod := range g.record.pods() {
		if pod.UID == c.Pod.UID {
			return Container{Pod: pod, Name: c.Name}
		}
	}
	return c
}

// Suspend sets spec.suspend.
func (g *Group) Suspend(suspended bool) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspended)
	Expect(api.Patch(g.ctx, g.Stored(), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// Resize gives each Job another number of workers.
func (g *Group) Resize(workers int32) {
	GinkgoHelper()
	Expect(g.TryResize(workers)).To(Succeed())
	g.shape.Workers = workers
}

// TryResize is Resize for sizes that may be refused.
func (g *Group) TryResize(workers int32) error {
	path := "/spec/replicatedJobs/0/template/spec/"
	patch := fmt.Appendf(nil, `[{"op":"replace","path":"%[1]sparallelism","value":%[2]d},{"op":"replace","path":"%[1]scompletions","value":%[2]d}]`, path, workers)
	return api.Patch(g.ctx, g.Stored(), client.RawPatch(types.JSONPatchType, patch))
}

// Becomes waits until a group that others resize runs with so many workers in each Job, and returns them.
func (g *Group) Becomes(workers int32) *Round {
	GinkgoHelper()
	g.shape.Workers = workers
	return g.RunsEventually()
}

// RunsEventually waits until all workers run at the epoch that is the last, and returns them.
func (g *Group) RunsEventually() *Round {
	GinkgoHelper()
	return g.runs(func(expect Gomega) time.Time {
		status := g.record.status()
		synced := ptr.Deref(status.SyncedEpoch, 0)
		expect.Expect(ptr.Deref(status.DeprecatedEpoch, 0)).To(BeNumerically("<", synced), "deprecatedEpoch")
		for _, pod := range g.live() {
			expect.Expect(pod.Annotations).To(HaveKeyWithValue(jobset.EpochKey, strconv.Itoa(int(synced))), "epoch of Pod %s", pod.Name)
		}
		expect.Expect(g.startedIn(g.live(), synced)).To(Succeed())
		return time.Time{}
	})
}

// IsSuspended waits until the JobSet says so and no Pod is left.
func (g *Group) IsSuspended() {
	GinkgoHelper()
	g.Has(jobset.JobSetSuspended, "True", constants.JobSetSuspendedReason)
	g.eventually(g.record.pods).Should(BeEmpty(), "Pods while suspended")
}

// Breaks waits until the group of an epoch is told to restart.
func (g *Group) Breaks(epoch int32) {
	GinkgoHelper()
	g.eventually(func() time.Time { return g.record.broke(epoch) }).ShouldNot(BeZero(), "the break of epoch %d", epoch)
}

// ReportsOnPods, ReportsInLeases and ReportsInEither say where reports are expected from now on. Either: an agent whose manager
// has just got its rights on Leases back may have reported before.
func (g *Group) ReportsOnPods()   { g.shape.Leases, g.either = false, false }
func (g *Group) ReportsInLeases() { g.shape.Leases, g.either = true, false }
func (g *Group) ReportsInEither() { g.shape.Leases, g.either = true, true }

// Reports waits until the agent of a Pod reports an epoch.
func (g *Group) Reports(pod *corev1.Pod, epoch int32) {
	GinkgoHelper()
	g.eventually(func() (map[string]string, error) { return g.reportOf(g.Now(Container{Pod: pod}).Pod) }).
		Should(HaveKeyWithValue(jobset.EpochKey, strconv.Itoa(int(epoch))), "epoch of Pod %s", pod.Name)
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// Name is that of the JobSet.
func (g *Group) Name() string { return jobSetName }

// Stored is the JobSet by its name.
func (g *Group) Stored() *jobset.JobSet {
	return &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: jobSetName}}
}

// Namespace is that of the JobSet.
func (g *Group) Namespace() string { return g.namespace }

// Status is that of the JobSet as seen last.
func (g *Group) Status() jobset.JobSetStatus { return g.record.status() }

// BrokeAt is when the group of an epoch was seen to be told to restart.
func (g *Group) BrokeAt(epoch int32) time.Time { return g.record.broke(epoch) }
