/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

var _ = Describe("groups whose manager is upgraded and downgraded", Serial, func() {
	It("P59: are lifted by the next version, which comes in the middle of a restart, and go on in both modes under the previous one and again", stories.Contract, func(ctx SpecContext) {
		downgrade, upgrade := managersOf(ctx, earlier{imageIn: previousImageVariable, config: previousConfig, gates: "RestartJob=true,InPlaceRestart=true"})
		Expect(downgrade(ctx)).To(Succeed())
		containers := stories.Create(ctx, stories.Shape{OwnAgent: true, SlowToStop: true})
		first := containers.RunsAt(1)
		containers.Tell(order.Exit(1), first.Worker(0))
		containers.Breaks(1)
		containers.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "restart in place") // or it is lost with the manager

		By("upgrading in the middle")
		Expect(upgrade(ctx)).To(Succeed())
		second := containers.RunsAt(2)
		second.IsInPlaceOf(first)
		containers.Charged(1)
		processes := stories.Create(ctx, stories.Shape{Process: true})
		began := processes.RunsAt(1)

		By("downgrading")
		Expect(downgrade(ctx)).To(Succeed())
		containers.RunsAt(2).IsUntouched(second)
		processes.RunsAt(1).IsUntouched(began)
		containers.Tell(order.Exit(1), second.Worker(1))
		processes.Tell(order.Exit(1), began.Worker(0))
		third, restarted := containers.RunsAt(3), processes.RunsAt(2)
		third.IsInPlaceOf(second)
		restarted.IsInPlaceOf(began)

		By("upgrading again")
		Expect(upgrade(ctx)).To(Succeed())
		containers.RunsAt(3).IsUntouched(third)
		processes.RunsAt(2).IsUntouched(restarted)
		containers.Tell(order.Exit(1), third.Worker(0))
		processes.Tell(order.Exit(1), restarted.Worker(1))
		containers.RunsAt(4).IsInPlaceOf(third)
		processes.RunsAt(3).IsInPlaceOf(restarted)
		containers.Charged(3)
		processes.Charged(2)
	}, SpecTimeout(specTime))

	It("P154: are lifted by a manager that reads no Leases though they report there, and lose nothing on the way back and again", func(ctx SpecContext) {
		downgrade, upgrade := managersOf(ctx, earlier{imageIn: podsOnlyImageVariable, config: stories.Configuration()})
		stories.OutliveAManagerWithoutLeases(ctx, stories.Managers{
			Earlier: func() {
				GinkgoHelper()
				Expect(downgrade(ctx)).To(Succeed())
				Expect(live.managerSays(ctx)).To(And(ContainSubstring("is for a later release"), ContainSubstring("inPlaceRestart.reports"), ContainSubstring("inPlaceRestart.leaseReportsFrom")))
			},
			Today: func() { GinkgoHelper(); Expect(upgrade(ctx)).To(Succeed()) },
			None:  func() { GinkgoHelper(); Expect(live.stopManager(ctx)).To(Succeed()) },
		})
	}, SpecTimeout(specTime))
})

// previousConfig is what a manager from before agents reads: it refuses fields that it does not know, of whatever release.
const previousConfig = `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection:
  leaderElect: true
internalCertManagement:
  enable: true
`

// earlier is a manager of an earlier version.
type earlier struct {
	// imageIn is the variable that names its image.
	imageIn string
	config  string
	// gates are those it is started with, if not those of today's.
	gates string
}

// managersOf returns how to replace the manager that runs by an earlier one, and how to get today's, with every field of its
// configuration.
func managersOf(ctx SpecContext, e earlier) (downgrade, upgrade func(context.Context) error) {
	GinkgoHelper()
	image := os.Getenv(e.imageIn)
	if image == "" {
		Skip(e.imageIn + " names no image of an earlier manager, which hack/e2e/images.sh builds from the history of the repository")
	}
	deployment, err := live.client.AppsV1().Deployments(managerNamespace).Get(ctx, managerName, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	installed := deployment.Spec.Template.Spec
	DeferCleanup(func(ctx SpecContext) {
		Expect(live.changeManager(ctx, func(spec *corev1.PodSpec) { installed.DeepCopyInto(spec) })).To(Succeed())
	})
	by := func(change func(*corev1.Container), name, config string) func(context.Context) error {
		configures(ctx, name, config)
		return func(ctx context.Context) error {
			return live.changeManager(ctx, func(spec *corev1.PodSpec) {
				installed.DeepCopyInto(spec)
				change(&spec.Containers[0])
				for i := range spec.Volumes {
					if source := spec.Volumes[i].ConfigMap; source != nil {
						source.Name = name
					}
				}
			})
		}
	}
	downgrade = by(func(manager *corev1.Container) {
		manager.Image = image
		for i, arg := range manager.Args {
			if e.gates != "" && strings.HasPrefix(arg, "--feature-gates=") {
				manager.Args[i] = "--feature-gates=" + e.gates
			}
		}
	}, "earlier-manager-config", e.config)
	return downgrade, by(func(*corev1.Container) {}, "complete-manager-config", stories.Configuration())
}

// configures writes a configuration of the manager, which one that runs does not read.
func configures(ctx context.Context, name, config string) {
	GinkgoHelper()
	maps := live.client.CoreV1().ConfigMaps(managerNamespace)
	err := maps.Delete(ctx, name, metav1.DeleteOptions{})
	Expect(err == nil || apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	_, err = maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: name},
		Data:       map[string]string{"controller_manager_config.yaml": config},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
