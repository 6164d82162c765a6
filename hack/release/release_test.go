/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, mode os.FileMode, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return file
}

func contents(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnArchiveHasTheSameBytesWhateverTheModesAndTheDirectory(t *testing.T) {
	var archives []string
	for _, modes := range [][2]os.FileMode{{0o644, 0o755}, {0o600, 0o700}} {
		dir := t.TempDir()
		write(t, modes[0], "text", dir, "in", "b")
		write(t, modes[1], "program", dir, "in", "a", "program")
		out := filepath.Join(dir, "out.tar.gz")
		if err := run([]string{"archive", "-out=" + out, "-time=17", filepath.Join(dir, "in")}); err != nil {
			t.Fatal(err)
		}
		archives = append(archives, contents(t, out))
	}
	if archives[0] != archives[1] {
		t.Error("the archives differ")
	}
	r, err := gzip.NewReader(strings.NewReader(archives[0]))
	if err != nil {
		t.Fatal(err)
	}
	type member struct {
		name string
		mode int64
		at   int64
	}
	var got []member
	for r := tar.NewReader(r); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, member{h.Name, h.Mode, h.ModTime.Unix()})
	}
	if want := []member{{"a/program", 0o755, 17}, {"b", 0o644, 17}}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
}

func TestTheBillOfMaterialsOfABinaryNamesItsModulesWithTheirLicences(t *testing.T) {
	self, err := os.Executable() // a Go binary like any other
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "sbom.json")
	if err := run([]string{"sbom", "-out=" + out, "-time=17", "-version=v1.2.3", self}); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal([]byte(contents(t, out)), &d); err != nil {
		t.Fatal(err)
	}
	if d.SPDXVersion != "SPDX-2.3" || d.CreationInfo.Created != "1970-01-01T00:00:17Z" {
		t.Errorf("document %s of %s", d.SPDXVersion, d.CreationInfo.Created)
	}
	ids := map[string]bool{documentID: true}
	for _, p := range d.Packages {
		if ids[p.SPDXID] {
			t.Errorf("two packages have the identifier %s", p.SPDXID)
		}
		ids[p.SPDXID] = true
	}
	for _, r := range d.Relationships {
		if !ids[r.Element] || !ids[r.Related] {
			t.Errorf("%+v relates what is not there", r)
		}
	}
	if at := slices.IndexFunc(d.Packages, func(p spdxPackage) bool { return p.Name == standardLibrary }); at < 0 || d.Packages[at].LicenseDeclared != "BSD-3-Clause" {
		t.Errorf("the library of Go is not listed, or not with its licence: %+v", d.Packages)
	}
}

func TestIdentifiersOfModulesHaveAllowedLettersOnlyAndDiffer(t *testing.T) {
	seen := map[string]module{}
	for _, m := range []module{
		{path: "example.com/a-b", version: "v1.0.0+incompatible"}, {path: "example.com/a/b", version: "v1.0.0+incompatible"},
		{path: "example.com/a_b", version: "v1.0.0"}, {path: "example.com/a/b", version: "v1.0.0"},
	} {
		id := idOf(m)
		if strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" || seen[id] != (module{}) {
			t.Errorf("%s has the identifier %s, as %s", m, id, seen[id])
		}
		seen[id] = m
	}
}

func TestModulesAreFoundInTheCacheOfGo(t *testing.T) {
	s := sources{cache: "/cache", root: "/go"}
	for m, want := range map[module]string{
		{path: "github.com/BurntSushi/toml", version: "v1.0.0"}: "/cache/github.com/!burnt!sushi/toml@v1.0.0",
		{path: standardLibrary, version: "1.26.0"}:              "/go",
	} {
		if got := s.directory(m); got != want {
			t.Errorf("%s is in %s, want %s", m, got, want)
		}
	}
}

func TestTheManifestOfThePluginHasTheSumOfEachArchive(t *testing.T) {
	dir := t.TempDir()
	archives := []string{write(t, 0o644, "a", dir, "kubectl-jobset-linux-arm64.tar.gz"), write(t, 0o644, "b", dir, "kubectl-jobset-darwin-amd64.tar.gz")}
	out := filepath.Join(dir, "jobset.yaml")
	args := []string{"krew", "-out=" + out, "-version=v1.2.3", "-url=https://example.com/v1.2.3", "-homepage=https://example.com"}
	if err := run(append(args, archives...)); err != nil {
		t.Fatal(err)
	}
	text := contents(t, out)
	for _, want := range []string{
		"version: v1.2.3\n", "{os: darwin, arch: amd64}", "uri: https://example.com/v1.2.3/kubectl-jobset-linux-arm64.tar.gz",
		"sha256: ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the manifest lacks %q:\n%s", want, text)
		}
	}
	if err := run(append(args, write(t, 0o644, "", dir, "other.tar.gz"))); err == nil {
		t.Error("an archive with another name was accepted")
	}
}

func TestReleaseNotesAreTheSectionOfTheVersion(t *testing.T) {
	const changelog = "# Changelog\n\nLinks.\n\n## v0.2.0 (not released yet)\n\n### New\n\n- A, see [how it\n  works](site/a.md) and [Go](https://go.dev).\n\n## v0.1.0\n\n- B.\n"
	for version, want := range map[string]string{
		"v0.2.0": "### New\n\n- A, see how it\n  works and [Go](https://go.dev).\n",
		"v0.1.0": "- B.\n",
	} {
		if got, err := sectionOf(changelog, version); err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q", version, got, err, want)
		}
	}
	if _, err := sectionOf(changelog, "v0.2"); err == nil || !strings.Contains(err.Error(), `"## v0.2"`) {
		t.Errorf("got %v, want an error that names the missing heading", err)
	}
}

func TestASubcommandSaysWhatItNeeds(t *testing.T) {
	for _, args := range [][]string{{}, {"other"}, {"sbom"}, {"notes", "CHANGELOG.md"}, {"krew", "-out=x", "a"}} {
		if err := run(args); err == nil {
			t.Errorf("release %v is no error", args)
		}
	}
	if err := run([]string{"sbom", "-out=" + filepath.Join(t.TempDir(), "x"), write(t, 0o755, "#!/bin/sh\n", t.TempDir(), "script")}); err == nil {
		t.Error("a script has no modules")
	}
}
