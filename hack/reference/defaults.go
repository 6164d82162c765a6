/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

// configurationDefaults are what the code makes of an empty configuration, by TYPE.FIELD in Go
// names, ready to be shown.
func configurationDefaults(manager *source) (map[string]string, error) {
	cfg := &configapi.Configuration{}
	configapi.SetDefaults_Configuration(cfg)
	defaults := map[string]string{}
	if err := collect(reflect.ValueOf(cfg).Elem(), defaults); err != nil {
		return nil, err
	}
	// These two are defaults of the manager and not of the configuration that it reads.
	for field, name := range map[string]string{
		"Controller.MaxConcurrentReconciles": "defaultConcurrentReconciles",
		"InPlaceRestart.AssemblyGracePeriod": "defaultAssemblyGracePeriod",
	} {
		c := manager.constant(name)
		if c == nil {
			return nil, fmt.Errorf("%s has no constant %s, the default of %s; name the new one in hack/reference/defaults.go", manager.dir, name, field)
		}
		value := c.value.ExactString()
		if strings.HasSuffix(field, "Period") {
			nanoseconds, err := time.ParseDuration(value + "ns")
			if err != nil {
				return nil, fmt.Errorf("constant %s of %s is no duration: %w", name, manager.dir, err)
			}
			value = nanoseconds.String()
		}
		defaults[field] = code(value)
	}
	return defaults, nil
}

// collect walks over structs of the configuration API. Those of other packages are shown whole.
func collect(v reflect.Value, defaults map[string]string) error {
	ours := reflect.TypeFor[configapi.Configuration]().PkgPath()
	for i := range v.NumField() {
		goField, value := v.Type().Field(i), reflect.Indirect(v.Field(i))
		if goField.Anonymous || !value.IsValid() || value.Kind() != reflect.Struct && v.Field(i).IsZero() {
			continue
		}
		name := v.Type().Name() + "." + goField.Name
		switch {
		case value.Kind() != reflect.Struct:
			defaults[name] = code(fmt.Sprint(value.Interface()))
		case value.Type().PkgPath() == ours:
			if err := collect(value, defaults); err != nil {
				return err
			}
		default:
			shown, err := settings(value.Interface())
			if err != nil {
				return fmt.Errorf("showing the default of %s: %w", name, err)
			}
			defaults[name] = shown
		}
	}
	return nil
}

// settings shows a struct by the fields that are set, as in YAML.
func settings(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", fmt.Errorf("decoding: %w", err)
	}
	var shown []string
	for _, name := range sortedKeys(fields) {
		if fields[name] != "" {
			shown = append(shown, code(fmt.Sprintf("%s: %v", name, fields[name])))
		}
	}
	return strings.Join(shown, ", "), nil
}

// checkDefaults fails if the comment of a field names another default than the code sets.
func checkDefaults(src *source, defaults map[string]string) error {
	for _, name := range sortedKeys(src.types) {
		fields, err := fieldsOf(src.types[name])
		if err != nil {
			return fmt.Errorf("%s: %w", src.dir, err)
		}
		for _, f := range fields {
			set, ok := defaults[name+"."+f.goName]
			_, says, found := strings.Cut(f.comment.text(), "Default: ")
			if !ok || !found {
				continue
			}
			says = strings.Trim(strings.TrimSuffix(says, "."), `"`)
			if set != code(says) && !sameDuration(set, says) {
				return fmt.Errorf("%s: the comment of field %s of %s says default %q, the code sets %s; correct one of them", src.dir, f.goName, name, says, set)
			}
		}
	}
	return nil
}

func sameDuration(set, says string) bool {
	x, errX := time.ParseDuration(strings.Trim(set, "`"))
	y, errY := time.ParseDuration(says)
	return errX == nil && errY == nil && x == y
}
