/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/pkg/restarts"
)

// validateOutput refuses forms of a report that do not exist.
func validateOutput(output string) error {
	switch output {
	case "table", "json", "yaml":
		return nil
	}
	return fmt.Errorf("--output is %q, it must be table, json or yaml", output)
}

// validateLimited does so for a report that has a limit.
func validateLimited(output string, limit int) error {
	if err := validateOutput(output); err != nil {
		return err
	}
	if limit < 0 {
		return fmt.Errorf("--limit is %d, it must be 0, which means all, or more", limit)
	}
	return nil
}

// write writes a report in a form that validateOutput took, with nothing in it that a terminal would obey.
func write(out io.Writer, output string, report any, table func() string) error {
	var text []byte
	var err error
	switch output {
	case "json":
		text, err = json.MarshalIndent(report, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(report)
	default:
		text = []byte(table())
	}
	if err == nil {
		_, err = io.WriteString(out, restarts.Printable(string(text)))
	}
	return err
}
