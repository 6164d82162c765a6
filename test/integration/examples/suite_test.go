/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package examples creates every manifest that users are shown on a real API
// server, and the Jobs and Pods that come of it, so that no example rots.
package examples

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/features"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
	"sigs.k8s.io/jobset/test/integration/framework"
)

func TestExamples(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Examples")
}

const root = "../../.."

var (
	cluster *framework.Cluster
	files   = mustWalk("examples", "config/samples")
	allOn   = gatesWith(map[string]bool{"AllAlpha": true, "AllBeta": true})
	allOff  = gatesWith(map[string]bool{"AllAlpha": false, "AllBeta": false})
)

var _ = BeforeSuite(func() {
	cluster = framework.Start(allOn)
})

// mustWalk panics: without files there are no specs to fail.
func mustWalk(dirs ...string) []manifest.File {
	found, err := manifest.Walk(root, dirs...)
	if err != nil {
		panic(err)
	}
	return found
}

func gatesWith(settings map[string]bool) gates.Set {
	gate := features.New()
	if err := gate.SetFromMap(settings); err != nil {
		panic(err)
	}
	return features.Snapshot(gate)
}

// allBut is all gates but one.
func allBut(name string) gates.Set {
	return gatesWith(map[string]bool{"AllAlpha": true, "AllBeta": true, name: false})
}

// user writes as kubectl would: unknown fields are errors.
type user struct{ *framework.User }

func newUser(ctx context.Context) *user {
	u := &user{cluster.NewUser(ctx)}
	u.Client = client.WithFieldValidation(u.Client, "Strict")
	return u
}

// object reads a document into the user's namespace, if its kind has namespaces.
func (u *user) object(document []byte) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(object.UnmarshalJSON(document)).To(Succeed())
	namespaced, err := u.IsObjectNamespaced(object)
	Expect(err).NotTo(HaveOccurred(), "the API server serves no %s", object.GroupVersionKind())
	if namespaced {
		object.SetNamespace(u.Space)
	}
	return object
}

// creates an object, and sees to it that no other spec finds it.
func (u *user) creates(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(u.Create(ctx, object)).To(Succeed())
	if object.GetNamespace() == "" {
		DeferCleanup(func(ctx SpecContext) { Expect(u.Delete(ctx, object)).To(Succeed()) })
	}
}

// rehearses the creation of an object, and returns it as it would be stored.
func (u *user) rehearses(ctx context.Context, object client.Object) client.Object {
	GinkgoHelper()
	stored := object.DeepCopyObject().(client.Object)
	Expect(u.Create(ctx, stored, client.DryRunAll)).To(Succeed())
	return stored
}

func (u *user) serves(object *unstructured.Unstructured) bool {
	GinkgoHelper()
	_, err := u.IsObjectNamespaced(object)
	if !apimeta.IsNoMatchError(err) {
		Expect(err).NotTo(HaveOccurred())
	}
	return err == nil
}

func read(document []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(document); err != nil {
		panic(err)
	}
	return object
}

// jobSets are the documents of a file that are JobSets, those inside of
// workflows included.
func jobSets(file manifest.File) [][]byte {
	var found [][]byte
	for _, document := range file.Documents {
		object := read(document)
		if object.GetKind() == jobset.Kind && strings.HasPrefix(object.GetAPIVersion(), jobset.GroupVersion.Group+"/") {
			found = append(found, document)
		}
		found = append(found, embedded(object)...)
	}
	return found
}

// fileAt is the file of a path.
func fileAt(path string) manifest.File {
	GinkgoHelper()
	at := slices.IndexFunc(files, func(file manifest.File) bool { return file.Path == path })
	Expect(at).To(BeNumerically(">=", 0), "there is no %s", path)
	return files[at]
}

// jobSetAt is the only JobSet of the file of a path.
func jobSetAt(path string) []byte {
	GinkgoHelper()
	found := jobSets(fileAt(path))
	Expect(found).To(HaveLen(1), path)
	return found[0]
}

// typed reads a JobSet; unknown fields are the API server's to find.
func typed(document []byte) *jobset.JobSet {
	GinkgoHelper()
	js := &jobset.JobSet{}
	Expect(json.Unmarshal(document, js)).To(Succeed())
	return js
}
