/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// standardLibrary is how vulnerability databases call the library of Go.
const standardLibrary = "stdlib"

// module is a module in a binary. The zero version is that of JobSet itself.
type module struct{ path, version, sum string }

func (m module) String() string { return strings.TrimSpace(m.path + " " + m.version) }

// build is what a binary says about itself, as `go version -m` prints it.
type build struct {
	file, goVersion string
	platform        string // such as linux/amd64
	path, main      string // of the package and of its module
	modules         []module
}

func readBuild(file string) (build, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return build{}, fmt.Errorf("reading which modules are in %s: %w", file, err)
	}
	b := build{file: file, goVersion: info.GoVersion, path: info.Path, main: info.Main.Path}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	b.platform = settings["GOOS"] + "/" + settings["GOARCH"]
	b.modules = append(b.modules, module{path: standardLibrary, version: strings.TrimPrefix(info.GoVersion, "go")})
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		b.modules = append(b.modules, module{path: dep.Path, version: dep.Version, sum: dep.Sum})
	}
	return b, nil
}

// readBuilds reads some binaries, and lists the modules of all of them, each once.
func readBuilds(files []string) ([]build, []module, error) {
	builds, all := []build{}, map[module]bool{}
	for _, file := range files {
		b, err := readBuild(file)
		if err != nil {
			return nil, nil, err
		}
		builds = append(builds, b)
		for _, m := range b.modules {
			all[m] = true
		}
	}
	return builds, slices.SortedFunc(maps.Keys(all), func(a, b module) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.version, b.version))
	}), nil
}

// sources finds where Go keeps the sources of modules.
type sources struct{ cache, root string }

func findSources() (sources, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return sources{}, fmt.Errorf("asking go where it keeps modules: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		return sources{}, fmt.Errorf("go env printed %q, want two directories", out)
	}
	return sources{cache: lines[0], root: lines[1]}, nil
}

// directory of a module. In the cache capital letters are written as ! and the small letter.
func (s sources) directory(m module) string {
	if m.path == standardLibrary {
		return s.root
	}
	var name strings.Builder
	for _, letter := range m.path + "@" + m.version {
		if unicode.IsUpper(letter) {
			name.WriteByte('!')
		}
		name.WriteRune(unicode.ToLower(letter))
	}
	return filepath.Join(s.cache, name.String())
}
