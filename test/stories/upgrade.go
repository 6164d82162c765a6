/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	. "github.com/onsi/ginkgo/v2"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/worker/order"
)

// Managers replace one another, or leave none.
type Managers struct {
	// Earlier starts a manager that reads no Leases, Today the one of the sources, both with Configuration.
	Earlier, Today, None func()
}

// OutliveAManagerWithoutLeases tells of groups that report on Pods and in Leases, and whose manager is upgraded, rolled back
// to one that reads no Leases, and upgraded again (P154).
func OutliveAManagerWithoutLeases(ctx SpecContext, m Managers) {
	GinkgoHelper()
	m.Earlier()
	onPods := Create(ctx, Shape{Process: true, Workers: LeaseReportsFrom})
	began := onPods.RunsAt(1)

	By("upgrading")
	m.Today()
	onPods.RunsAt(1).IsUntouched(began)
	inLeases := Create(ctx, Shape{Process: true, Workers: LeaseReportsFrom, Leases: true, Change: func(js *jobset.JobSet) {
		js.Spec.FaultTolerance = &jobset.FaultTolerance{} // as the configuration has it
	}})
	first := inLeases.RunsAt(1)
	onPods.Tell(order.Exit(1), began.Worker(1))
	inLeases.Tell(order.Exit(1), first.Worker(0))
	restarted, second := onPods.RunsAt(2), inLeases.RunsAt(2)
	restarted.IsInPlaceOf(began)
	second.IsInPlaceOf(first)

	By("going back in the middle of a restart, of which the Lease tells and the Pod does not")
	m.None()
	inLeases.Tell(order.Exit(1), second.Worker(1))
	inLeases.Reports(second.Pods[1], 3)
	m.Earlier()
	inLeases.ReportsOnPods()
	third := inLeases.RunsAt(3)
	third.IsInPlaceOf(second)
	onPods.RunsAt(2).IsUntouched(restarted)

	By("restarting under the manager that reads no Leases")
	onPods.Tell(order.Exit(1), restarted.Worker(0))
	inLeases.Tell(order.Exit(1), third.Worker(0))
	again, fourth := onPods.RunsAt(3), inLeases.RunsAt(4)
	again.IsInPlaceOf(restarted)
	fourth.IsInPlaceOf(third)

	By("upgrading again in the middle of a restart")
	m.None()
	inLeases.Tell(order.Exit(1), fourth.Worker(0))
	m.Today()
	inLeases.ReportsInEither()
	fifth := inLeases.RunsAt(5)
	fifth.IsInPlaceOf(fourth)
	onPods.RunsAt(3).IsUntouched(again)
	inLeases.Tell(order.Exit(1), fifth.Worker(1))
	onPods.Tell(order.Exit(1), again.Worker(1))
	inLeases.ReportsInLeases()
	inLeases.RunsAt(6).IsInPlaceOf(fifth)
	onPods.RunsAt(4).IsInPlaceOf(again)
	inLeases.Charged(5)
	onPods.Charged(3)
}
