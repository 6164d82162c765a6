/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command pymodels turns the schema of the JobSet CRD into the Python module
// sdk/python/jobset/v1alpha2.py, which has a dataclass for each object.
//
//	pymodels CRD.yaml api/jobset/v1alpha2 > v1alpha2.py
//
// Fields, types and descriptions are those of the CRD. What it does not have comes from
// the Go types: the names of the classes, so that they are those of the reference, and the order of the fields.
package main

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

const version = "v1alpha2"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pymodels CRD.yaml DIRECTORY-OF-THE-API > v1alpha2.py")
		os.Exit(2)
	}
	module, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pymodels:", err)
		os.Exit(1)
	}
	fmt.Print(module)
}

func run(crd, api string) (string, error) {
	content, err := os.ReadFile(crd)
	if err != nil {
		return "", err
	}
	definition, err := parseCRD(content)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", crd, err)
	}
	types, err := parseTypes(api)
	if err != nil {
		return "", fmt.Errorf("reading the Go types of %s: %w", api, err)
	}
	c := &collector{types: types, seen: map[string]bool{}}
	if err := c.collect(definition.kind, definition.schema); err != nil {
		return "", err
	}
	return module(definition, c.classes), nil
}

// crd is what a module says of a kind.
type crd struct {
	group, kind, plural string
	schema              schema
}

func parseCRD(content []byte) (crd, error) {
	var read struct {
		Spec struct {
			Group string
			Names struct{ Kind, Plural string }

			Versions []struct {
				Name   string
				Schema struct {
					Root schema `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(content, &read); err != nil {
		return crd{}, err
	}
	for _, v := range read.Spec.Versions {
		if v.Name == version {
			return crd{read.Spec.Group, read.Spec.Names.Kind, read.Spec.Names.Plural, v.Schema.Root}, nil
		}
	}
	return crd{}, fmt.Errorf("no version %s", version)
}

// schema is what models need of an OpenAPI schema.
type schema struct {
	Type        string
	Format      string
	Description string
	Required    []string
	Properties  map[string]schema
	Items       *schema
	Values      *schema `yaml:"additionalProperties"`
	Enum        []string
	Default     any
	Minimum     *int64
	Maximum     *int64
	MaxItems    *int64 `yaml:"maxItems"`
}
