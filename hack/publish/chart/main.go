/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command chart keeps charts/jobset in step with config/. What both installs
// must say alike is written once, in config/, and copied into the chart:
//
//	crds/                     the CRD, byte for byte
//	templates/rbac            roles and bindings, see generated.go
//	templates/webhook         the webhook configurations
//	templates/agent-access    rights of agents, and the policy that narrows them
//	templates/prometheus      the alerts
//	templates/grafana         the dashboard
//
// The rest of the chart is written by hand; drift_test.go compares what both
// installs make of it, object by object.
//
//	chart update   writes the files
//	chart verify   fails if a file is not what it would write, and says which
//
// It reads config/ through kustomize, so that patches count.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const usage = "usage: chart [--root=DIR] [--kustomize=FILE] update|verify"

func main() {
	root := flag.String("root", "../../..", "the repository")
	kustomize := flag.String("kustomize", "", "the kustomize command (default: bin/tools/kustomize of the repository)")
	flag.Parse()
	if *kustomize == "" {
		*kustomize = filepath.Join(*root, "bin", "tools", "kustomize")
	}
	if err := run(*root, *kustomize, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(root, kustomize string, args []string) error {
	if len(args) != 1 || (args[0] != "update" && args[0] != "verify") {
		return errors.New(usage)
	}
	files, err := generate(root, kustomize)
	if err != nil {
		return err
	}
	stale, err := staleFiles(root, files)
	if err != nil {
		return err
	}
	if args[0] == "update" {
		return write(root, files, stale)
	}
	if wrong := append(differing(root, files), stale...); len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("the chart is behind config/; fix with: make update-chart\n  %s", strings.Join(wrong, "\n  "))
	}
	return nil
}

// generate returns all that is copied, by its path in the repository.
func generate(root, kustomize string) (map[string][]byte, error) {
	const crd = "jobset.x-k8s.io_jobsets.yaml"
	files := map[string][]byte{}
	var err error
	if files[chartDir+"/crds/"+crd], err = os.ReadFile(filepath.Join(root, "config/components/crd/bases", crd)); err != nil {
		return nil, fmt.Errorf("reading the CRD: %w", err)
	}
	sources := map[string][]object{}
	for _, template := range templates {
		if _, ok := sources[template.source]; !ok {
			if sources[template.source], err = buildKustomization(kustomize, filepath.Join(root, template.source)); err != nil {
				return nil, err
			}
		}
		path := chartDir + "/templates/" + template.file
		if files[path], err = template.render(sources[template.source]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return files, nil
}

// differing lists the files that are missing or have other contents.
func differing(root string, files map[string][]byte) []string {
	var paths []string
	for path, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || !bytes.Equal(got, want) {
			paths = append(paths, path)
		}
	}
	return paths
}

// staleFiles lists files that say they are generated, and are generated no more.
func staleFiles(root string, files map[string][]byte) ([]string, error) {
	var stale []string
	err := filepath.WalkDir(filepath.Join(root, chartDir, "templates"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if _, ok := files[filepath.ToSlash(relative)]; !ok && bytes.Contains(content, []byte(marker)) {
			stale = append(stale, filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for generated files: %w", err)
	}
	return stale, nil
}

func write(root string, files map[string][]byte, stale []string) error {
	for _, path := range differing(root, files) {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		if err := os.WriteFile(file, files[path], 0o644); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		fmt.Println("wrote", path)
	}
	for _, path := range stale {
		if err := os.Remove(filepath.Join(root, path)); err != nil {
			return fmt.Errorf("removing what is generated no more: %w", err)
		}
		fmt.Println("removed", path)
	}
	return nil
}
