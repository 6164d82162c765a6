/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/pkg/features"
)

// TestUpgradesUseEveryField: a field that the configuration lacks is one with which nobody has upgraded or gone back.
func TestUpgradesUseEveryField(t *testing.T) {
	written := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(Configuration()), &written); err != nil {
		t.Fatal(err)
	}
	for _, path := range fieldsOf(reflect.TypeFor[configapi.Configuration](), nil) {
		if !has(written, path) {
			t.Errorf("P59 O14: Configuration has no %s", strings.Join(path, "."))
		}
	}
	for name := range features.New().GetAll() {
		if strings.HasPrefix(string(name), "All") {
			continue // AllAlpha and AllBeta are groups of gates
		}
		if !has(written, []string{"featureGates", string(name)}) {
			t.Errorf("P59 O41: Configuration does not set gate %s", name)
		}
	}
}

func TestUpgradesHaveAValidConfiguration(t *testing.T) {
	cfg, err := config.Decode([]byte(Configuration()))
	if err != nil {
		t.Fatal(err)
	}
	if errs := config.Validate(cfg); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	if !config.Later(cfg) {
		t.Errorf("P59 O14: release is %s, want a later one than that of the sources, which a manager that was rolled back reads", cfg.Release)
	}
}

// fieldsOf are the paths of all fields of a struct and of the structs in it that are settings of the manager.
func fieldsOf(of reflect.Type, path []string) (all [][]string) {
	for i := range of.NumField() {
		name, options, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		kind := of.Field(i).Type
		if options == "inline" { // kind and apiVersion, without which nothing is decoded, or settings of the struct itself
			if strings.Contains(kind.PkgPath(), "/config/v1alpha1") && strings.Contains(kind.PkgPath(), "jobset") {
				all = append(all, fieldsOf(kind, path)...)
			}
			continue
		}
		at := append(slices.Clone(path), name)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Struct && strings.Contains(kind.PkgPath(), "/config/") {
			all = append(all, fieldsOf(kind, at)...)
			continue
		}
		all = append(all, at)
	}
	return all
}

func has(in map[string]any, path []string) bool {
	value, there := in[path[0]]
	if len(path) == 1 {
		return there
	}
	deeper, _ := value.(map[string]any)
	return has(deeper, path[1:])
}
