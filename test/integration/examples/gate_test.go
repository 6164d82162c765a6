/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"context"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
)

// refusal is a part of the answer to a JobSet that needs a gate.
var refusal = map[string]string{
	"ElasticJobSet":  "needs a feature gate of the manager",
	"FaultTolerance": "cannot be set when FaultTolerance feature gate is disabled",
	"InPlaceRestart": "cannot be set when InPlaceRestart feature gate is disabled",
	"RestartJob":     "failure policy actions are not allowed when RestartJob feature gate is disabled",
}

// isRefused reports whether admission refuses a JobSet without the gate that its file names. ElasticJobSet
// allows a change as well, and without bounds any JobSet may be created.
func isRefused(file manifest.File, document []byte) bool {
	GinkgoHelper()
	_, refused := refusal[file.Gate]
	return refused && (file.Gate != "ElasticJobSet" ||
		slices.ContainsFunc(typed(document).Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool { return rjob.Elastic != nil }))
}

// serve puts webhooks with these gates in place for one spec.
func serve(g gates.Set) {
	GinkgoHelper()
	cluster.ServeWebhooks(g)
	DeferCleanup(func() { cluster.ServeWebhooks(allOn) })
}

var _ = Describe("The line that names a feature gate", func() {
	It("names for each gate at least one manifest", func() {
		named := map[string]bool{}
		for _, file := range files {
			named[file.Gate] = true
		}
		for gate := range refusal {
			Expect(named).To(HaveKey(gate))
		}
	})

	for _, gate := range slices.Sorted(maps.Keys(refusal)) {
		It("W33, W51: is true: with all gates on but "+gate+", its manifests are refused", func(ctx SpecContext) {
			serve(allBut(gate))
			u := newUser(ctx)
			for _, file := range files {
				if file.Gate != gate {
					continue
				}
				for _, document := range jobSets(file) {
					if !isRefused(file, document) {
						continue
					}
					err := u.Create(ctx, u.object(document), client.DryRunAll)
					Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%s: %v", file.Path, err)
					Expect(err).To(MatchError(ContainSubstring(refusal[gate])), file.Path)
				}
			}
		})
	}

	It("is nowhere missing: with all gates off, manifests without one are taken", func(ctx SpecContext) {
		serve(allOff)
		u := newUser(ctx)
		for _, file := range files {
			for _, document := range jobSets(file) {
				if isRefused(file, document) {
					continue
				}
				Expect(u.Create(ctx, u.object(document), client.DryRunAll)).To(Succeed(), file.Path)
			}
		}
	})
})

var _ = Describe("Each patch of the manifests", func() {
	for _, file := range files {
		if file.PatchOf == "" {
			continue
		}
		It("changes the JobSet it is for: "+file.Path, func(ctx SpecContext) {
			u := newUser(ctx)
			before := u.stores(ctx, jobSetAt(file.PatchOf))

			after := before.DeepCopy()
			Expect(u.patches(ctx, after, file)).To(Succeed())

			Expect(after.Generation).To(BeNumerically(">", before.Generation), "the patch changes nothing")
		})

		It("needs the gate it names: "+file.Path, func(ctx SpecContext) {
			serve(allBut(file.Gate))
			u := newUser(ctx)
			js := u.stores(ctx, jobSetAt(file.PatchOf))

			err := u.patches(ctx, js, file)

			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring("field is immutable")))
		})
	}

	It("W91: of elastic makes four workers of two", func(ctx SpecContext) {
		u := newUser(ctx)
		file := fileAt("examples/elastic/scale-to-4.yaml")
		js := u.stores(ctx, jobSetAt(file.PatchOf))
		Expect(u.patches(ctx, js, file)).To(Succeed())
		Expect(js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism).To(HaveValue(BeEquivalentTo(4)))
		Expect(js.Spec.ReplicatedJobs[0].Template.Spec.Completions).To(HaveValue(BeEquivalentTo(4)))
	})
})

func (u *user) patches(ctx context.Context, js *jobset.JobSet, file manifest.File) error {
	return u.Patch(ctx, js, client.RawPatch(types.JSONPatchType, file.Patch))
}
