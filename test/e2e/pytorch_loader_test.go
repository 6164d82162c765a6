/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	_ "embed"
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

//go:embed programs/loader.py
var loaderProgram string

var _ = Describe("a training with the data loaders of PyTorch", Label(pytorch, "data-loaders"), func() {
	It("P63b: makes some steps more and saves its state whole when it is told to end", func(ctx SpecContext) {
		image := os.Getenv(torchImageVariable)
		if image == "" {
			Skip(torchImageVariable + " names no image with PyTorch, which hack/e2e/torch-image.sh builds")
		}
		group := stories.Create(ctx, stories.Shape{Process: true, Change: func(js *jobset.JobSet) {
			worker := &podOf(js).Containers[0]
			worker.Image, worker.Command = image, []string{"python3", "-u", "-c", loaderProgram}
			worker.Env = append(worker.Env, corev1.EnvVar{Name: "OMP_NUM_THREADS", Value: "1"})
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{StopGracePeriodSeconds: ptr.To[int32](60)}
		}})
		before := group.RunsAt(1)
		expectProcesses(ctx, before, 3) // the training and two loaders

		shell(ctx, before.Pods[0], fmt.Sprintf("kill -9 %d", programIn(ctx, before.Worker(0))))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		expectProcesses(ctx, after, 3)
		log, err := live.Log(ctx, after.Worker(1))
		Expect(err).NotTo(HaveOccurred())
		Expect(log).To(And(MatchRegexp(`(?m)^saved whole, told 1, after 1[0-2] steps$`), ContainSubstring("the worker of epoch 1 ended with exit code 0, after a stop request")))
		group.Charged(1)
	}, SpecTimeout(specTime))
})
