/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
)

// What users read on the site is held to what they find in the repository.
var pages = mustReadPages("site/content/en")

// mustReadPages panics: without pages there are no specs to fail.
func mustReadPages(dir string) []manifest.Page {
	found, err := manifest.Pages(root, dir)
	if err != nil {
		panic(err)
	}
	return found
}

var _ = Describe("Each manifest that a page of the site includes", func() {
	var included []string
	for _, page := range pages {
		included = append(included, page.Includes...)
	}
	slices.Sort(included)
	for _, path := range slices.Compact(included) {
		It("is taken by the API server as it is written: "+path, func(ctx SpecContext) {
			found, err := manifest.Walk(root, path)
			Expect(err).NotTo(HaveOccurred())
			Expect(found).To(HaveLen(1))
			file, u := found[0], newUser(ctx)
			if file.PatchOf != "" {
				js := u.stores(ctx, jobSetAt(file.PatchOf))
				Expect(u.patches(ctx, js, file)).To(Succeed())
				return
			}
			u.takes(ctx, file)
		})
	}
})

// Such a JobSet may leave out what the page does not speak of, so it is not applied.
var _ = Describe("Each JobSet that a page of the site contains", func() {
	for _, page := range pages {
		It("has only fields that there are: "+page.Path, func() {
			for _, fence := range page.Fences {
				var kind struct{ Kind string }
				if err := yaml.Unmarshal([]byte(fence), &kind); err != nil || kind.Kind != jobset.Kind {
					continue
				}
				Expect(yaml.UnmarshalStrict([]byte(fence), &jobset.JobSet{})).To(Succeed(), "in:\n%s", fence)
			}
		})
	}
})
