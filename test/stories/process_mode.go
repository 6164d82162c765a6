/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	testcluster "sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/worker/order"
)

// processMode: what is different where a supervisor starts the workers again. A supervisor hands the
// orders of package order down to its worker.
func processMode() {
	It("P60 P63 P66: start again in the same containers when one exits with a failure, ten times", Label("two-workers"), Contract, func(ctx SpecContext) {
		restartTenTimes(ctx, Shape{Process: true})
	}, SpecTimeout(specTime))

	It("P63: are killed when they do not stop in their grace", func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true, SlowToStop: true})
		before := group.RunsAt(1)
		group.Tell(order.Exit(1), before.Worker(0))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("P70: start again after a container was killed with its supervisor, which the kubelet starts alone", Contract, func(ctx SpecContext) {
		needs(testcluster.RestartRules, "restart rules of containers")
		group := Create(ctx, Shape{Process: true})
		before := group.RunsAt(1)
		group.Tell(syscall.SIGKILL, before.Worker(1))
		group.RunsAt(2).IsInPodsOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("P65: run on when an agent is killed", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true})
		before := group.RunsAt(1)
		group.Tell(syscall.SIGKILL, before.Agent(0))
		group.RestartedAlone(before.Agent(0), 1)
		group.RunsAt(1).IsUntouched(before)

		By("being restarted by the new agent")
		group.Tell(order.Exit(1), before.Worker(1))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("P130 P131 P133: start again when one hangs, which its supervisor kills when its limit is over", Contract, func(ctx SpecContext) {
		const limit = 5
		group := Create(ctx, Shape{Process: true, Change: func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Progress: &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](limit)}}
		}})
		before := group.RunsAt(1)
		hung := group.Tell(order.Hang, before.Worker(1))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, fmt.Sprintf("hung: no sign for %d s at step ", limit))
		Expect(group.BrokeAt(1).Sub(hung)).To(BeNumerically(">=", (limit-1)*time.Second), "the last sign was a moment before the order")
	}, SpecTimeout(specTime))

	It("P63b: save their state once behind a launcher that passes SIGTERM on, and with data loaders that die of it", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true, Change: func(js *jobset.JobSet) {
			podOf(js).Containers[0].Command = []string{workerProgram, "launch", workerProgram, "load"}
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{StopGracePeriodSeconds: ptr.To[int32](30)}
		}})
		before := group.RunsAt(1)
		group.Tell(order.Exit(1), before.Worker(0))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		group.eventually(logOf(ctx, after.Worker(1))).Should(And(
			ContainSubstring(`"msg":"checkpoint","told":1}`), ContainSubstring("the worker of epoch 1 ended with exit code 0, after a stop request")))
		group.Charged(1)
	}, SpecTimeout(specTime))

	plannedStops()

	It("P67: finish when all exit with 0", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true})
		round := group.RunsAt(1)
		group.Charged(0)
		group.Tell(order.Done, round.Workers()...)
		group.Completes()
	}, SpecTimeout(specTime))
}
