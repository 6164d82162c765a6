/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// GitOps tools apply the same manifests again and again, and people do as soon as they change a label.
var _ = Describe("The JobSets of all manifests together, by kubectl", func() {
	// written returns each JobSet in a namespace of its own. A generated name cannot be applied.
	written := func(ctx SpecContext) []*unstructured.Unstructured {
		var all []*unstructured.Unstructured
		for _, file := range files {
			for _, document := range jobSets(file) {
				js := newUser(ctx).object(document)
				if js.GetName() == "" {
					js.SetName(strings.TrimRight(js.GetGenerateName(), "-"))
					js.SetGenerateName("")
				}
				all = append(all, js)
			}
		}
		Expect(len(all)).To(BeNumerically(">", 20))
		return all
	}
	stored := func(ctx SpecContext, all []*unstructured.Unstructured) []*unstructured.Unstructured {
		found := make([]*unstructured.Unstructured, len(all))
		for i, js := range all {
			found[i] = js.DeepCopy()
			Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(js), found[i])).To(Succeed())
		}
		return found
	}

	for _, how := range []struct {
		name    string
		options []string
	}{{"client-side", nil}, {"server-side", []string{"--server-side"}}} {
		It("W20a: are applied "+how.name+" twice, without a difference, and then with another label, suspended and with a TTL", func(ctx SpecContext) {
			all, dir := written(ctx), GinkgoT().TempDir()
			kubectl := func(command string) string {
				GinkgoHelper()
				return cluster.Kubectl(append([]string{command, "-f", dir}, how.options...)...)
			}
			save(all, dir)
			kubectl("apply")
			first := stored(ctx, all)

			Expect(kubectl("apply")).NotTo(ContainSubstring("created"))
			Expect(kubectl("diff")).To(BeEmpty())

			for i, js := range stored(ctx, all) {
				Expect(js.Object["spec"]).To(BeComparableTo(first[i].Object["spec"]), js.GetName())
			}
			for _, js := range all {
				changes(js)
			}
			save(all, dir)
			kubectl("apply")
			for i, js := range stored(ctx, all) {
				changes(first[i])
				Expect(js.GetLabels()).To(Equal(first[i].GetLabels()), js.GetName())
				Expect(js.Object["spec"]).To(BeComparableTo(first[i].Object["spec"]), js.GetName())
			}
		})
	}
})

// changes what may always change (W72 to W74).
func changes(js *unstructured.Unstructured) {
	GinkgoHelper()
	js.SetLabels(map[string]string{"team": "red"})
	Expect(unstructured.SetNestedField(js.Object, true, "spec", "suspend")).To(Succeed())
	Expect(unstructured.SetNestedField(js.Object, int64(60), "spec", "ttlSecondsAfterFinished")).To(Succeed())
}

// save writes JobSets into a directory.
func save(all []*unstructured.Unstructured, dir string) {
	GinkgoHelper()
	for i, js := range all {
		text, err := js.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.json", i)), text, 0o600)).To(Succeed())
	}
}
