/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"math/rand"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func TestRandomObjects(t *testing.T) {
	t.Run("Q35: no object makes validation panic, and an unchanged one is always updated", func(t *testing.T) {
		const seed, rounds = 1, 300
		filler := randfill.NewWithSeed(seed).NilChance(0.5).NumElements(0, 2).MaxDepth(24).Funcs(
			func(q *resource.Quantity, c randfill.Continue) {
				*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
			},
			func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(c.Int31()) },
		)
		choose := rand.New(rand.NewSource(seed))
		previous := &jobset.JobSet{}
		for range rounds {
			js := &jobset.JobSet{}
			filler.Fill(js)
			// Random text never has the values that enable the deeper rules.
			if js.Spec.FailurePolicy != nil && choose.Intn(2) == 0 {
				js.Spec.FailurePolicy.RestartStrategy = jobset.InPlaceRestart
			}
			if c := js.Spec.Coordinator; c != nil && len(js.Spec.ReplicatedJobs) > 0 {
				c.ReplicatedJob = js.Spec.ReplicatedJobs[0].Name
			}
			for _, set := range []gates.Set{gateOff, allGates} {
				_ = ToStatusError(js, Create(js, set))
				_ = ExistingClaims(js, found(js))
				_ = Warnings(js, set)
				_ = ToStatusError(js, Update(previous, js, set))
				if errs := Update(js, js.DeepCopy(), set); len(errs) > 0 {
					t.Fatalf("seed %d: an update without a change: %v", seed, errs)
				}
			}
			previous = js
		}
	})
}

// found returns all claims that a JobSet asks for.
func found(js *jobset.JobSet) map[string]FoundClaim {
	all := map[string]FoundClaim{}
	for _, name := range ClaimsToFind(js) {
		all[name] = FoundClaim{Claim: live(name)}
	}
	return all
}
