/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// validateOutput refuses forms of a report that do not exist.
func validateOutput(output string) error {
	switch output {
	case "table", "json", "yaml":
		return nil
	}
	return fmt.Errorf("--output is %q, it must be table, json or yaml", output)
}

// encode writes a report in a form that validateOutput took.
func encode(output string, report any, table func() string) (string, error) {
	switch output {
	case "json":
		text, err := json.MarshalIndent(report, "", "  ")
		return string(text) + "\n", err
	case "yaml":
		text, err := yaml.Marshal(report)
		return string(text), err
	default:
		return table(), nil
	}
}
