/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package faults restarts groups of 50 workers in place, one in each mode, over and over, while
// everything between them and their manager breaks, and between agents and supervisors: see test/faults for the parts,
// faults_test.go for what breaks and failures_test.go for what fails.
package faults

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// What the environment sets; see hack/make/faults.mk.
const (
	// restartsEnv is how many group restarts to make; minutesEnv, how long to go on instead.
	restartsEnv = "FAULT_RESTARTS"
	minutesEnv  = "FAULT_MINUTES"
	seedEnv     = "FAULT_SEED"
	// modeEnv chooses one mode, faultEnv one kind of fault, failureEnv one kind of failure.
	modeEnv    = "FAULT_MODE"
	faultEnv   = "FAULT_KIND"
	failureEnv = "FAULT_FAILURE"
	// leasesEnv is from how many workers agents in process mode report in Leases.
	leasesEnv = "FAULT_LEASES_FROM"

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
	framework.Quiet()
	modes := []jobset.InPlaceRestartMode{jobset.ContainerMode, jobset.ProcessMode}
	if only := os.Getenv(modeEnv); only != "" {
		modes = slices.DeleteFunc(modes, func(mode jobset.InPlaceRestartMode) bool { return !strings.EqualFold(string(mode), only) })
		Expect(modes).NotTo(BeEmpty(), "no mode is named as %s says", modeEnv)
	}
	w = newWorld(ctx, filepath.Join(framework.Build(ctx, "./cmd/manager"), "manager"), number(minutesEnv, 0) > 0, modes...)
})

var _ = Describe("In-place restart", func() {
	It("never hangs, mixes epochs or charges twice, whatever breaks (P15, P21, P30, P32, P36)", PollProgressAfter(24*time.Hour), func(ctx SpecContext) {
		limit, minutes := int(number(restartsEnv, restartsByDefault)), time.Duration(number(minutesEnv, 0))*time.Minute
		s := newSeries(number(seedEnv, rand.Uint64()%1_000_000), minutes > 0)
		defer s.report()
		if minutes == 0 {
			for done := range limit {
				s.restart(ctx, done)
			}
			return
		}
		soak := w.startSoak(ctx)
		for done := 0; time.Since(soak.began) < minutes; done++ {
			s.restart(ctx, done)
			soak.round(ctx, s, done)
		}
		Expect(soak.report()).To(BeEmpty(), "what grew")
		Expect(w.managerRestarts()).To(BeZero(), "a manager that restarts does not show that it does not grow")
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
