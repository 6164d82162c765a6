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
		previous := os.Getenv(previousImageVariable)
		if previous == "" {
			Skip(previousImageVariable + " names no image of the previous version, which hack/e2e/images.sh builds from the history of the repository")
		}
		downgrade, upgrade := managersOf(ctx, previous)
		Expect(downgrade(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(upgrade(ctx)).To(Succeed()) })
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
})

// previousConfig is what an older manager reads: it refuses fields that it does not know.
const previousConfig = `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection:
  leaderElect: true
internalCertManagement:
  enable: true
`

// managersOf returns how to replace the manager that runs by the previous version, with the flags and the
// configuration of that, and how to get it back as it is now.
func managersOf(ctx context.Context, image string) (downgrade, upgrade func(context.Context) error) {
	GinkgoHelper()
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: "previous-manager-config"},
		Data:       map[string]string{"controller_manager_config.yaml": previousConfig},
	}
	_, err := live.client.CoreV1().ConfigMaps(managerNamespace).Create(ctx, config, metav1.CreateOptions{})
	Expect(err == nil || apierrors.IsAlreadyExists(err)).To(BeTrue(), "%v", err)
	deployment, err := live.client.AppsV1().Deployments(managerNamespace).Get(ctx, managerName, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	current := deployment.Spec.Template.Spec
	downgrade = func(ctx context.Context) error {
		return live.changeManager(ctx, func(spec *corev1.PodSpec) {
			spec.Containers[0].Image = image
			for i, arg := range spec.Containers[0].Args {
				if strings.HasPrefix(arg, "--feature-gates=") {
					spec.Containers[0].Args[i] = "--feature-gates=RestartJob=true,InPlaceRestart=true"
				}
			}
			for i := range spec.Volumes {
				if source := spec.Volumes[i].ConfigMap; source != nil {
					source.Name = config.Name
				}
			}
		})
	}
	upgrade = func(ctx context.Context) error {
		return live.changeManager(ctx, func(spec *corev1.PodSpec) { current.DeepCopyInto(spec) })
	}
	return downgrade, upgrade
}
