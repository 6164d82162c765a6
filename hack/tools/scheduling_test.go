/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tools checks what needs a newer Kubernetes API than the product is built with.
package tools

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestSchedulingObjectsDecode covers the objects of Kubernetes 1.37 in the examples, which the API
// server of the integration tests does not know: each field exists.
func TestSchedulingObjectsDecode(t *testing.T) {
	kinds := map[string]func() any{
		"Workload": func() any { return &schedulingv1beta1.Workload{} },
		"PodGroup": func() any { return &schedulingv1beta1.PodGroup{} },
	}
	files, err := filepath.Glob("../../examples/workload-aware/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal(document, &meta); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			into, ok := kinds[meta.Kind]
			if !ok || meta.APIVersion != schedulingv1beta1.SchemeGroupVersion.String() {
				continue
			}
			seen[meta.Kind] = true
			if err := yaml.UnmarshalStrict(document, into()); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if len(seen) != len(kinds) {
		t.Errorf("found only %v", seen)
	}
}
