/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The budget of restarts", func() {
	It("P15: allows maxRestarts group restarts, each charged once, and fails the JobSet at the next", func(ctx SpecContext) {
		const maxRestarts = 10
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, maxRestarts))

		for restart := range int32(maxRestarts) {
			w.HasCounted(train, Counters{InPlace: restart})
			w.GroupRestarts(train, restart+1, pods)
		}
		w.HasCounted(train, Counters{InPlace: maxRestarts})
		w.Agents.Report(maxRestarts+2, pods[0])

		w.Finishes(train, jobset.JobSetFailed, "ReachedMaxRestarts")
		w.HasCounted(train, Counters{InPlace: maxRestarts})
		w.TellsUser(train, corev1.EventTypeWarning, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
		w.Deleting(train, 1)
	})
})
