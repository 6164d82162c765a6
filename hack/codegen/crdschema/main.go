/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command crdschema turns the schema of the JobSet CRD into the OpenAPI document
// that applyconfiguration-gen wants. From it the apply configurations know which
// lists are merged by which key: Extract functions and the fake clientset need that.
//
//	crdschema CRD.yaml > swagger.json
//
// The API server tracks field owners by the schema of the CRD, so the clients get
// the same one. What merging does not look at is left out, and what occurs more
// than once, like a container or a probe, becomes a definition of its own.
//
// k8s.io/code-generator has no tool for this: kube_codegen.sh passes such a document on to
// applyconfiguration-gen and leaves it to the caller to make one. Its gen_openapi writes Go code
// for our types alone, so a program of ours would have to link it with the definitions of every
// type in a Pod template, which only k8s.io/kubernetes has. The CRD has all merge keys already.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// root is the name that generators derive from the Go type JobSet.
const root = "io.k8s.sigs.jobset.api.jobset.v1alpha2.JobSet"

const version = "v1alpha2"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crdschema CRD.yaml > swagger.json")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crdschema:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	crd, err := schemaOf(content)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(map[string]any{
		"swagger":     "2.0",
		"info":        map[string]any{"title": "JobSet", "version": version},
		"paths":       map[string]any{},
		"definitions": definitions(crd),
	})
}

// schemaOf returns the schema that a CRD gives to our version.
func schemaOf(content []byte) (map[string]any, error) {
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					Root map[string]any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(content, &crd); err != nil {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == version && v.Schema.Root["properties"] != nil {
			return v.Schema.Root, nil
		}
	}
	return nil, errors.New("no schema of version " + version)
}

// definitions of the document: the root, and all that it refers to.
func definitions(crd map[string]any) map[string]any {
	tree := reduce(crd)
	// The CRD says of metadata only that it is an object.
	tree["properties"].(map[string]any)["metadata"] = objectMeta()
	s := &sharing{occurrences: map[string]int{}, names: map[string]string{}, definitions: map[string]any{}}
	s.count(tree)
	s.definitions[root] = s.replaceIn(tree)
	return s.definitions
}
