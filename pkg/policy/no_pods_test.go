/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// ofPods are the types in which the API shows Pods. Templates of Jobs are what was asked for, and may be read.
var ofPods = map[reflect.Type]bool{
	reflect.TypeFor[corev1.Pod](): true, reflect.TypeFor[corev1.PodList](): true, reflect.TypeFor[corev1.PodStatus](): true,
	reflect.TypeFor[corev1.PodSpec](): true, reflect.TypeFor[corev1.PodCondition](): true, reflect.TypeFor[corev1.ContainerStatus](): true,
	reflect.TypeFor[corev1.ContainerState](): true, reflect.TypeFor[corev1.ContainerStateTerminated](): true,
}

// TestDecisionsSeeNoPods: what goes into a decision, and what comes out, holds the facts of Pods and no Pod, nor does a parameter or a
// field in between. So no decision can read what the cache does not keep, and what wakes no JobSet.
func TestDecisionsSeeNoPods(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{reflect.TypeFor[batchv1.JobTemplateSpec](): true, reflect.TypeFor[batchv1.JobSpec](): true}
	var walk func(of reflect.Type, path string)
	walk = func(of reflect.Type, path string) {
		if ofPods[of] {
			t.Errorf("%s is a %s", path, of)
		}
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Map:
			walk(of.Key(), path+" key")
			walk(of.Elem(), path)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(of.Elem(), path)
		case reflect.Struct:
			for i := range of.NumField() {
				walk(of.Field(i).Type, path+"."+of.Field(i).Name)
			}
		}
	}
	walk(reflect.TypeFor[Input](), "Input")
	walk(reflect.TypeFor[Plan](), "Plan")
	walk(reflect.TypeFor[view.View](), "view")

	names := map[string]bool{}
	for of := range ofPods {
		names[of.Name()] = of != reflect.TypeFor[corev1.PodSpec]()
	}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := filepath.Glob("internal/*/*.go")
	if err != nil || len(rooms) < 50 {
		t.Fatalf("only %d files of rooms were found: %v", len(rooms), err)
	}
	paths = append(paths, rooms...)
	set := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok && of.Name == "corev1" && names[s.Sel.Name] {
					t.Errorf("%s uses corev1.%s", set.Position(n.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}
