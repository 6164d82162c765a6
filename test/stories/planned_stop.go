/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/worker/order"
)

// plannedStops: programs that agree on a step, and take 3 seconds to save it, where an ordinary stop has one.
func plannedStops() {
	for _, signal := range []jobset.PlannedStopSignal{"", jobset.PlannedStopUSR1} {
		name := "SIGTERM"
		if signal != "" {
			name = "SIG" + string(signal)
		}
		It("P142: all save the same step at "+name+" when they are resized, and have no time for that when one fails", contractIf(signal == ""), func(ctx SpecContext) {
			group := Create(ctx, Shape{Process: true, Workers: 3, Change: func(js *jobset.JobSet) {
				podOf(js).Containers[0].Command = []string{workerProgram, "lockstep"}
				js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{
					StopGracePeriodSeconds: ptr.To[int32](1), PlannedStopGracePeriodSeconds: ptr.To[int32](30), PlannedStopSignal: signal,
				}
			}})
			first := group.RunsAt(1)
			first.say(`"msg":"connected"`, 1)

			By("growing")
			group.Resize(4)
			grown := group.RunsAt(2)
			grown.Keeps(first)
			Expect(group.record.status().PlannedBreak).To(BeTrue(), "plannedBreak")
			first.saved(1)
			grown.say(`"msg":"connected"`, 2, 2, 2, 1)

			By("shrinking")
			group.Resize(2)
			shrunk := group.RunsAt(3)
			grown.Keeps(shrunk)
			shrunk.saved(2)
			group.Charged(0)
			shrunk.say(`"msg":"connected"`, 3)

			By("failing")
			group.Tell(order.Exit(1), shrunk.Worker(0))
			group.RunsAt(4).IsInPlaceOf(shrunk)
			Expect(group.record.status().PlannedBreak).To(BeFalse(), "plannedBreak")
			shrunk.saved(2) // and no third time
			group.Charged(1)
		}, SpecTimeout(specTime))
	}
}

// say waits until the worker in each place has said something so many times, all as often as the first if only that is given.
func (r *Round) say(what string, times ...int) {
	GinkgoHelper()
	for i := range r.Pods {
		want := times[0]
		if len(times) > i {
			want = times[i]
		}
		r.group.eventually(func() (int, error) {
			log, err := cluster.Log(r.group.ctx, r.Worker(i))
			return len(regexp.MustCompile(what).FindAllString(log, -1)), err
		}).Should(Equal(want), "times that the worker in place %d said %s", i, what)
	}
}

var savedLine = regexp.MustCompile(`"msg":"saved","how":"(\w+)","step":(\d+)`)

// saved expects that the worker in each place has saved so many times, always with all others, and was told once each time.
func (r *Round) saved(times int) {
	GinkgoHelper()
	var steps [][]string
	for i := range r.Pods {
		log, err := cluster.Log(r.group.ctx, r.Worker(i))
		Expect(err).NotTo(HaveOccurred())
		steps = append(steps, nil)
		for _, line := range savedLine.FindAllStringSubmatch(log, -1) {
			Expect(line[1]).To(Equal("together"), "how the worker in place %d saved", i)
			steps[i] = append(steps[i], line[2])
		}
		Expect(steps[i]).To(HaveLen(times), "what the worker in place %d saved", i)
		Expect(log).NotTo(ContainSubstring(`"times":2`), "the worker in place %d was told to end", i)
	}
	Expect(steps).To(HaveEach(steps[0]), "the steps that were saved")
	AddReportEntry("the steps that all workers saved", fmt.Sprint(steps[0]))
}
