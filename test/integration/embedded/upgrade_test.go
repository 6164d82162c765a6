/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// oldManagerEnv names a manager of the version before agents were added by us; `make test-upgrade` builds one.
const oldManagerEnv = "OLD_MANAGER"

// podsOnlyManagerEnv names the last manager that read no Leases, likewise.
const podsOnlyManagerEnv = "PODS_ONLY_MANAGER"

// swap puts another manager in the place of the one that runs.
func (s *simulation) swap(ctx context.Context, program string) {
	GinkgoHelper()
	s.stops()
	if program == s.manager {
		Expect(s.SetGate(ctx, true)).To(Succeed())
		return
	}
	s.starts(ctx, program, "RestartJob=true,InPlaceRestart=true", "")
}

// stops ends the manager, if one runs.
func (s *simulation) stops() {
	GinkgoHelper()
	if s.run != nil {
		Expect(s.run.Stop()).To(Succeed())
	}
	s.run = nil
}

// runsWith puts the manager of the sources, with these defaults in its configuration, in the place of the one that runs.
func (s *simulation) runsWith(ctx context.Context, defaults string) {
	GinkgoHelper()
	s.defaults = defaults
	s.swap(ctx, s.manager)
}

// starts runs a manager with a configuration, in the place of none.
func (s *simulation) starts(ctx context.Context, program, gates, config string) {
	GinkgoHelper()
	var err error
	s.run, err = s.plane.StartManager(ctx, cluster.ManagerOptions{
		Program: program, Alone: true, Args: []string{"--feature-gates=" + gates}, Config: config,
	})
	Expect(err).NotTo(HaveOccurred())
}

// everyGate is each gate that a manager can have off.
const everyGate = "RestartJob=true,InPlaceRestart=true,FaultTolerance=true,ElasticJobSet=true,ElasticAutoscaling=true"

var _ = Describe("An upgrade of the manager, and a downgrade", func() {
	var old string
	BeforeEach(func() {
		if old = os.Getenv(oldManagerEnv); old == "" {
			Skip(fmt.Sprintf("%s is not set; run: make test-upgrade", oldManagerEnv))
		}
		DeferCleanup(func(ctx SpecContext) { shown.swap(ctx, shown.manager) })
	})

	It("P59: leave a JobSet of the previous version alone, which goes on restarting in place", func(ctx SpecContext) {
		shown.swap(ctx, old)
		group := stories.Create(ctx, stories.Shape{OwnAgent: true})
		first := group.RunsAt(1)

		By("upgrading")
		shown.swap(ctx, shown.manager)
		group.RunsAt(1).IsUntouched(first)
		group.Tell(order.Exit(1), first.Worker(0))
		second := group.RunsAt(2)
		second.IsInPlaceOf(first)
		Expect(grants(ctx, group)).To(BeEmpty(), "its author saw to the rights")

		By("downgrading")
		shown.swap(ctx, old)
		group.RunsAt(2).IsUntouched(second)
		group.Tell(order.Exit(1), second.Worker(1))
		group.RunsAt(3).IsInPlaceOf(second)
		group.Charged(2)
	}, SpecTimeout(specTime))

	DescribeTable("P59: leave a group with agents of ours alone under a manager that knows none", func(ctx SpecContext, process bool) {
		group := stories.Create(ctx, stories.Shape{Process: process})
		first := group.RunsAt(1)
		for _, pod := range first.Pods {
			Expect(workerpod.HoldsAgent(&pod.Spec)).To(BeTrue())
		}

		By("downgrading")
		shown.swap(ctx, old)
		group.RunsAt(1).IsUntouched(first)
		group.Tell(order.Exit(1), first.Worker(0))
		second := group.RunsAt(2)
		second.IsInPlaceOf(first)
		Expect(grants(ctx, group)).To(HaveLen(2), "what agents were granted stays")

		By("upgrading again")
		shown.swap(ctx, shown.manager)
		group.RunsAt(2).IsUntouched(second)
		group.Tell(order.Exit(1), second.Worker(1))
		group.RunsAt(3).IsInPlaceOf(second)
		group.Charged(2)
	},
		Entry("in process mode", SpecTimeout(specTime), true),
		Entry("in container mode", SpecTimeout(specTime), false),
	)
})

var _ = Describe("A manager that reads no Leases", func() {
	It("P154: lifts groups that report there, and takes nothing from them on the way back and again", func(ctx SpecContext) {
		old := os.Getenv(podsOnlyManagerEnv)
		if old == "" {
			Skip(podsOnlyManagerEnv + " is not set; run: make test-upgrade")
		}
		DeferCleanup(func(ctx SpecContext) { shown.swap(ctx, shown.manager) })
		starts := func(program string) func() {
			return func() {
				GinkgoHelper()
				shown.stops()
				shown.starts(ctx, program, everyGate, stories.Sections())
			}
		}
		stories.OutliveAManagerWithoutLeases(ctx, stories.Managers{Earlier: starts(old), Today: starts(shown.manager), None: shown.stops})
	}, SpecTimeout(specTime))
})

var _ = Describe("A manager that is rolled back under a configuration that it does not know", func() {
	It("P59 O14: says which key that is and does not start, and takes over with its own configuration", func(ctx SpecContext) {
		old := os.Getenv(oldManagerEnv)
		if old == "" {
			Skip(fmt.Sprintf("%s is not set; run: make test-upgrade", oldManagerEnv))
		}
		DeferCleanup(func(ctx SpecContext) { shown.swap(ctx, shown.manager) })
		shown.stops()
		shown.starts(ctx, shown.manager, everyGate, stories.Sections())
		group := stories.Create(ctx, stories.Shape{Process: true})
		first := group.RunsAt(1)

		By("downgrading with the configuration as it is")
		shown.stops()
		_, err := shown.plane.StartManager(ctx, cluster.ManagerOptions{
			Name: "refuses", Program: old, Alone: true, Args: []string{"--feature-gates=RestartJob=true,InPlaceRestart=true"}, Config: stories.Sections(),
		})
		Expect(err).To(MatchError(ContainSubstring("it has ended")))
		_, path, _ := strings.Cut(err.Error(), "see ")
		path, _, _ = strings.Cut(path, ":")
		said, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(said)).To(And(ContainSubstring("unknown field"), ContainSubstring("elasticAutoscaling"), ContainSubstring("nodeHealth"), ContainSubstring("faultTolerance")))

		By("downgrading with the configuration of the older release")
		shown.swap(ctx, old)
		group.RunsAt(1).IsUntouched(first)
		group.Tell(order.Exit(1), first.Worker(0))
		second := group.RunsAt(2)
		second.IsInPlaceOf(first)

		By("upgrading again")
		shown.stops()
		shown.starts(ctx, shown.manager, everyGate, stories.Sections())
		group.RunsAt(2).IsUntouched(second)
		group.Tell(order.Exit(1), second.Worker(1))
		group.RunsAt(3).IsInPlaceOf(second)
		group.Charged(2)
	}, SpecTimeout(specTime))
})

// grants are the Role and the RoleBinding of a group, by kind.
func grants(ctx context.Context, group *stories.Group) (kinds []string) {
	GinkgoHelper()
	of := []client.ListOption{client.InNamespace(group.Namespace()), client.MatchingLabels{jobset.JobSetNameKey: group.Name()}}
	var roles rbacv1.RoleList
	Expect(stories.API().List(ctx, &roles, of...)).To(Succeed())
	for range roles.Items {
		kinds = append(kinds, "Role")
	}
	var bindings rbacv1.RoleBindingList
	Expect(stories.API().List(ctx, &bindings, of...)).To(Succeed())
	for range bindings.Items {
		kinds = append(kinds, "RoleBinding")
	}
	return kinds
}
