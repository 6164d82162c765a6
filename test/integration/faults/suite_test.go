/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package faults restarts a group of 50 workers in place, over and over, while
// everything between it and its manager breaks: see test/faults for the parts,
// faults_test.go for what breaks and failures_test.go for what fails.
package faults

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// What the environment sets; see hack/make/faults.mk.
const (
	// restartsEnv is how many group restarts to make; minutesEnv, how long to go on instead.
	restartsEnv = "FAULT_RESTARTS"
	minutesEnv  = "FAULT_MINUTES"
	seedEnv     = "FAULT_SEED"
	// faultEnv chooses one kind of fault, failureEnv one kind of failure.
	faultEnv   = "FAULT_KIND"
	failureEnv = "FAULT_FAILURE"

	restartsByDefault = 20
	// hang is how long a group restart may take beyond the fault.
	hang = 2 * time.Minute
)

func TestFaults(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "In-place restart while everything breaks")
}

var w *world

var _ = BeforeSuite(func(ctx SpecContext) {
	if os.Getenv(restartsEnv) == "" && os.Getenv(minutesEnv) == "" {
		Skip("takes minutes: make test-faults, make soak")
	}
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	Expect(assets).NotTo(BeEmpty(), "run `make test-faults`, which builds the control plane, or set KUBEBUILDER_ASSETS")
	manager, err := gexec.Build("sigs.k8s.io/jobset/cmd/manager", "-buildvcs=false")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
	root, err := filepath.Abs("../../..")
	Expect(err).NotTo(HaveOccurred())
	assets, err = filepath.Abs(assets)
	Expect(err).NotTo(HaveOccurred())
	w = newWorld(ctx, assets, root, manager)
})

var _ = Describe("In-place restart", func() {
	It("never hangs, mixes epochs or charges twice, whatever breaks (P15, P21, P30, P32, P36)", PollProgressAfter(24*time.Hour), func(ctx SpecContext) {
		s := newStory(number(seedEnv, rand.Uint64()%1_000_000))
		defer s.report()
		limit, minutes := int(number(restartsEnv, restartsByDefault)), number(minutesEnv, 0)
		began := time.Now()
		more := func(done int) bool {
			if minutes > 0 {
				return time.Since(began) < time.Duration(minutes)*time.Minute
			}
			return done < limit
		}
		for done := 0; more(done); done++ {
			s.tell(ctx, done)
		}
	})
})

// number reads a number that the environment sets.
func number(variable string, otherwise uint64) uint64 {
	GinkgoHelper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	Expect(err).NotTo(HaveOccurred(), variable)
	return value
}
