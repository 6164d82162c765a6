/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/test/process"
)

// Rendering is what a kustomization makes, by kind and name.
type Rendering map[string]*unstructured.Unstructured

// Render renders a kustomization of the repository.
func Render(kustomization string) Rendering {
	GinkgoHelper()
	output, err := process.Kubectl(context.Background(), Assets(), "", "kustomize", filepath.Join(Root(), kustomization))
	Expect(err).NotTo(HaveOccurred())
	r := Rendering{}
	for _, document := range strings.Split(output, "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
		r[object.GetKind()+" "+object.GetName()] = object
	}
	return r
}

// Rendered reads an object that has to be there into one of its type.
func Rendered[T any](r Rendering, key string) T {
	GinkgoHelper()
	var typed T
	Expect(r).To(HaveKey(key))
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(r[key].Object, &typed)).To(Succeed())
	return typed
}
