/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

const repository = "../../.."

// release is one way to install the chart.
type release struct {
	name      string // jobset, if empty
	namespace string // jobset-system, if empty
	values    string // what is set, as YAML
	apis      []string
}

// files renders the chart: contents by path in the chart. It fails where `helm install` would
// before it talks to a cluster: for values that the schema refuses, and in templates.
func (r release) files(t *testing.T) (map[string]string, error) {
	t.Helper()
	chart, err := loader.LoadDir(filepath.Join(repository, chartDir))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict([]byte(r.values), &values); err != nil {
		t.Fatalf("the values of the test are no YAML: %v", err)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), r.apis...)
	options := chartutil.ReleaseOptions{Name: r.name, Namespace: r.namespace, Revision: 1, IsInstall: true}
	if options.Name == "" {
		options.Name = "jobset"
	}
	if options.Namespace == "" {
		options.Namespace = "jobset-system"
	}
	all, err := chartutil.ToRenderValues(chart, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

// objects renders the chart, and fails the test if it does not render.
func (r release) objects(t *testing.T) []object {
	t.Helper()
	files, err := r.files(t)
	if err != nil {
		t.Fatal(err)
	}
	var objects []object
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		found, err := parse([]byte(files[path]))
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, files[path])
		}
		objects = append(objects, found...)
	}
	return objects
}

// ids lists objects as kind and name, with the namespace in front if it is not that of the release.
func ids(objects []object) []string {
	var all []string
	for _, o := range objects {
		id := o.id()
		if namespace := o.text("metadata", "namespace"); namespace != "" && namespace != "jobset-system" {
			id = namespace + ": " + id
		}
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// find returns the one object with an id, or nil.
func find(t *testing.T, objects []object, id string) object {
	t.Helper()
	var found object
	for _, o := range objects {
		if o.id() != id {
			continue
		}
		if found != nil {
			t.Fatalf("there are two of %s", id)
		}
		found = o
	}
	return found
}

// decode turns an object into its type; a field that the type does not have fails the test.
func decode[T any](t *testing.T, o object, id string) *T {
	t.Helper()
	if o == nil {
		t.Fatalf("there is no %s", id)
	}
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	into := new(T)
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return into
}

// get renders the chart and returns one object of it by its type.
func get[T any](t *testing.T, r release, id string) *T {
	t.Helper()
	return decode[T](t, find(t, r.objects(t), id), id)
}

// wantError fails the test unless the error has all the texts.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error is %v, want %q in it", err, text)
		}
	}
}
