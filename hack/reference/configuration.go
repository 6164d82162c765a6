/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"k8s.io/component-base/featuregate"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/features" //nolint:depguard // documents the gates; decides nothing by them
)

const (
	configDir   = "api/config/v1alpha1"
	managerDir  = "cmd/manager"
	featuresDir = "pkg/features"
)

func configurationPage(root string) (map[string]string, error) {
	src, err := readSource(root, configDir)
	if err != nil {
		return nil, err
	}
	manager, err := readSource(root, managerDir)
	if err != nil {
		return nil, err
	}
	defaults, err := configurationDefaults(manager)
	if err != nil {
		return nil, err
	}
	if err := checkDefaults(src, defaults); err != nil {
		return nil, err
	}
	sections := typeSections{src: src, apiVersion: configapi.GroupVersion.String(), defaults: defaults}
	types, err := sections.render("Configuration")
	if err != nil {
		return nil, err
	}
	gateSource, err := readSource(root, featuresDir)
	if err != nil {
		return nil, err
	}
	gates, err := gateTable(gateSource, features.New().GetAll())
	if err != nil {
		return nil, err
	}
	help, err := managerHelp(root)
	if err != nil {
		return nil, err
	}
	flags, err := flagTable(help)
	if err != nil {
		return nil, err
	}
	return map[string]string{"types": types, "gates": gates, "flags": flags}, nil
}

// gateTable is the table of feature gates, but for those that stand for many, such as AllAlpha.
func gateTable(src *source, specs map[featuregate.Feature]featuregate.FeatureSpec) (string, error) {
	gates := table{head: []string{"gate", "stage", "default", "meaning"}}
	for _, name := range sortedKeys(specs) {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		i := slices.IndexFunc(src.consts, func(c *constDecl) bool { return c.text() == string(name) })
		if i < 0 || src.consts[i].comment.text() == "" {
			return "", fmt.Errorf("%s: feature gate %s has no constant with a comment; add a comment that says what it allows", src.dir, name)
		}
		spec := specs[name]
		stage := strings.ToLower(string(spec.PreRelease))
		if stage == "" {
			stage = "GA"
		}
		value := code(fmt.Sprint(spec.Default))
		if spec.LockToDefault {
			value += ", locked"
		}
		gates.add(code(string(name)), stage, value, escape(src.consts[i].comment.about(string(name))))
	}
	return gates.String(), nil
}

// managerHelp is what the manager prints about its flags: package main cannot be imported.
func managerHelp(root string) (string, error) {
	command := exec.CommandContext(context.Background(), "go", "run", "./"+managerDir, "--help")
	command.Dir = root
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("running %s --help: %w: %s", managerDir, err, output.String())
	}
	return output.String(), nil
}

// flagTable is the table of flags in the format of package flag:
//
//	-name type
//	  	Usage, of one line or more. (default value)
func flagTable(help string) (string, error) {
	flags := table{head: []string{"flag", "value", "meaning"}}
	var name, kind string
	var usage []string
	flush := func() error {
		if name == "" {
			return nil
		}
		if len(usage) == 0 {
			return fmt.Errorf("flag --%s of the manager says nothing about itself; give it a usage text", name)
		}
		flags.add(code("--"+name), kind, escape(strings.Join(usage, " ")))
		return nil
	}
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		head, isFlag := strings.CutPrefix(line, "  -")
		if !isFlag {
			if text := strings.TrimSpace(line); text != "" {
				usage = append(usage, text)
			}
			continue
		}
		if err := flush(); err != nil {
			return "", err
		}
		name, kind, _ = strings.Cut(head, " ")
		usage = nil
		if kind == "" {
			kind = "bool"
		}
	}
	if err := flush(); err != nil {
		return "", err
	}
	if len(flags.rows) == 0 {
		return "", errors.New("the manager says nothing about flags; see flagTable in hack/reference")
	}
	return flags.String(), nil
}
