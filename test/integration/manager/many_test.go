/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/process"
)

const (
	million = 1_000_000
	// mostMemory of a manager, most of which every manager takes.
	mostMemory = 256 << 20
	// someJobs of the million have to exist before its neighbour is looked at.
	someJobs = 1000
)

var _ = Describe("A JobSet of a million Jobs", func() {
	// 20 s: a thousand Jobs are created, and a group restarts ten times.
	It("C376 C377 C378: takes neither the memory of the manager nor the time of others", func(ctx SpecContext) {
		s := newSettings()
		s.more = "inPlaceRestart: {quickFailureMaxPause: 0s}\n" // the neighbour restarts in quick succession
		m := startReady(ctx, s, inPlaceOn)
		create(ctx, newJobSet(newNamespace(ctx), "webhooks-answer"))
		w := world(ctx)
		js, pods := w.RunningGroup(framework.Training(4, 99))
		epoch := int32(0)
		restart := func() time.Duration {
			began := time.Now()
			epoch++
			w.GroupRestarts(js, epoch, pods)
			return time.Since(began)
		}
		alone, idle := medianOfFive(restart), m.mostMemory()

		many := newJobSet(newNamespace(ctx), "many")
		many.Spec.ReplicatedJobs[0].Replicas = million
		create(ctx, many)
		DeferCleanup(func(ctx SpecContext) {
			Expect(plane.client.Delete(ctx, many)).To(Succeed())
			Expect(plane.client.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(many.Namespace), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		})
		started := time.Now()
		Eventually(jobNames(ctx, many.Namespace)).WithTimeout(3 * time.Minute).WithPolling(time.Second).Should(BeNumerically(">=", someJobs))
		created := time.Since(started)

		// Other processes of the suite may load the machine, so the neighbour is compared with itself.
		beside := medianOfFive(restart)
		AddReportEntry("a restart of the neighbour", fmt.Sprintf("%v, %v before", beside, alone))
		Expect(beside-alone).To(BeNumerically("<", 5*time.Second), "what a restart takes longer than the %v before", alone)
		AddReportEntry("memory of the manager", fmt.Sprintf("%.0f MiB, %.0f MiB before; %d Jobs exist, the first %d after %v",
			m.mostMemory()/(1<<20), idle/(1<<20), jobNames(ctx, many.Namespace)(), someJobs, created))
		Expect(m.mostMemory()).To(BeNumerically("<", mostMemory), "bytes of memory that the manager had at its most")
	})
})

// medianOfFive takes one time after the other: the machine may pause during one or two, and a neighbour that is in the way is in
// the way of all.
func medianOfFive(measure func() time.Duration) time.Duration {
	GinkgoHelper()
	var took []time.Duration
	for range 5 {
		took = append(took, measure())
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// world lets the hands of the framework play in a namespace of this cluster.
func world(ctx context.Context) *framework.World {
	GinkgoHelper()
	watching, err := client.NewWithWatch(plane.Config, client.Options{Scheme: plane.scheme})
	Expect(err).NotTo(HaveOccurred())
	cluster := &framework.Cluster{Config: plane.Config, Client: watching, Scheme: plane.scheme, Root: root}
	return cluster.NewWorld(ctx)
}

// jobNames counts the Jobs of a namespace without reading them whole.
func jobNames(ctx context.Context, namespace string) func() int {
	return func() int {
		GinkgoHelper()
		jobs := &metav1.PartialObjectMetadataList{}
		jobs.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("JobList"))
		Expect(plane.client.List(ctx, jobs, client.InNamespace(namespace))).To(Succeed())
		return len(jobs.Items)
	}
}

// mostMemory is the most memory that the manager had in use so far.
func (m *manager) mostMemory() float64 {
	GinkgoHelper()
	bytes, err := process.PeakResident(m.Command.Process.Pid)
	Expect(err).NotTo(HaveOccurred())
	return bytes
}
