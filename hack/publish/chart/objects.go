/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// object is a Kubernetes object as YAML has it.
type object map[string]any

func (o object) kind() string { return o.text("kind") }
func (o object) name() string { return o.text("metadata", "name") }

// id names an object in messages and tables.
func (o object) id() string { return o.kind() + " " + o.name() }

func (o object) text(path ...string) string {
	value, _, _ := unstructured.NestedString(o, path...)
	return value
}

func (o object) texts(path ...string) map[string]string {
	values, _, _ := unstructured.NestedStringMap(o, path...)
	return values
}

// parse reads YAML documents; those without content, such as comments, are left out.
func parse(content []byte) ([]object, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var objects []object
	for {
		var next object
		switch err := decoder.Decode(&next); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("reading YAML: %w", err)
		case len(next) > 0:
			objects = append(objects, next)
		}
	}
}

func buildKustomization(kustomize, dir string) ([]object, error) {
	if _, err := os.Stat(kustomize); err != nil {
		return nil, fmt.Errorf("there is no %s; build it with: hack/build-tool.sh kustomize", kustomize)
	}
	command := exec.Command(kustomize, "build", dir)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("kustomize build %s: %w: %s", dir, err, stderr.Bytes())
	}
	return parse(stdout.Bytes())
}
