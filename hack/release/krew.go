/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

var archiveName = regexp.MustCompile(`^kubectl-jobset-([a-z]+)-([a-z0-9]+)\.tar\.gz$`)

// krewManifest is described on https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest.
var krewManifest = template.Must(template.New("krew").Parse(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: jobset
spec:
  version: {{ .Version }}
  homepage: {{ .Homepage }}
  shortDescription: Show what a JobSet becomes, and how it restarts
  description: |
    kubectl jobset inject shows the Jobs that a manifest becomes, with their agents.
    kubectl jobset restarts shows the state of a group that restarts in place, who is
    missing and why, how many restarts are left, and what caused the last ones.
    kubectl jobset elastic shows the sizes of elastic jobs, kubectl jobset dashboard all
    of it on a local web page.
    The plugin only reads.
  platforms:
{{- range .Platforms }}
  - selector:
      matchLabels: {os: {{ .OS }}, arch: {{ .Arch }}}
    uri: {{ .URL }}
    sha256: {{ .Sum }}
    bin: kubectl-jobset
    files:
    - {from: kubectl-jobset, to: .}
    - {from: LICENSE, to: .}
    - {from: THIRD-PARTY-LICENSES, to: .}
{{- end }}
`))

type platform struct{ OS, Arch, URL, Sum string }

// krew writes the manifest of the plugin for some archives, which say in their names what they are for.
func krew(o options) (err error) {
	if o.version == "" || o.url == "" || o.homepage == "" {
		return errors.New("krew: -version, -url and -homepage are needed")
	}
	var platforms []platform
	for _, file := range slices.Sorted(slices.Values(o.args)) {
		name := filepath.Base(file)
		parts := archiveName.FindStringSubmatch(name)
		if parts == nil {
			return fmt.Errorf("krew: %s is not named kubectl-jobset-OS-ARCH.tar.gz", name)
		}
		sum, err := sumOf(file)
		if err != nil {
			return err
		}
		platforms = append(platforms, platform{OS: parts[1], Arch: parts[2], URL: strings.TrimSuffix(o.url, "/") + "/" + name, Sum: sum})
	}
	file, err := os.Create(o.out)
	if err != nil {
		return fmt.Errorf("creating the manifest: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return krewManifest.Execute(file, map[string]any{"Version": o.version, "Homepage": o.homepage, "Platforms": platforms})
}
