/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package python runs the unit tests of the Python package with the JobSets of the examples.
package python

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
)

func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the Python package is NOT tested: there is no python3; install it, for example with: apt-get install python3-minimal")
	}
	t.Run("P143 P144: the unit tests of sdk/python", func(t *testing.T) {
		readAll(t)
		// -B: it leaves no compiled files behind.
		command := exec.Command(python, "-B", "-m", "unittest", "discover", "--start-directory", "tests", "--verbose")
		command.Env = append(os.Environ(), "JOBSET_EXAMPLES="+examples(t))
		if output, err := command.CombinedOutput(); err != nil || strings.Contains(string(output), "skipped") {
			t.Errorf("%v, and nothing may be skipped:\n%s", err, output)
		}
	})
}

// Python writes versions differently: 0.13.0-alpha.0 is 0.13.0a0, and 0.13.0-rc.1 is 0.13.0rc1.
func TestTheVersionIsThatOfTheChart(t *testing.T) {
	version := func(path, pattern string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		match := regexp.MustCompile(pattern).FindSubmatch(text)
		if match == nil {
			t.Fatalf("%s has no version", path)
		}
		return string(match[1])
	}
	chart := version("../../charts/jobset/Chart.yaml", `(?m)^version: (.+)$`)
	want := strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(chart)
	if got := version("pyproject.toml", `(?m)^version = "(.+)"$`); got != want {
		t.Errorf("the version in sdk/python/pyproject.toml is %s, want %s, as that of the chart is %s", got, want, chart)
	}
}

// readAll reads what Python reads, so that the result of this test is not taken from Go's cache after a change.
func readAll(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".py" {
			return err
		}
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// examples writes all JobSets of the manifests into a file, since Python itself reads no YAML.
func examples(t *testing.T) string {
	t.Helper()
	files, err := manifest.Walk("../..", "examples", "config/samples")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	for _, file := range files {
		for i, document := range file.Documents {
			object := &unstructured.Unstructured{}
			if file.PatchOf == "" && object.UnmarshalJSON(document) == nil && object.GetKind() == jobset.Kind {
				all[fmt.Sprintf("%s %d", file.Path, i)] = document
			}
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "examples.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
