/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// read gives the members of a tar archive by name; directories end in a slash.
func read(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	members := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return members
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(epoch) {
			t.Errorf("%s: owner %d:%d, time %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		if members[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuild(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := options{
		tag: "example.com/a:b", arch: "amd64", skeleton: true,
		files: list{program + "=/usr/bin/program"}, env: list{"A=b"}, entrypoint: list{"/usr/bin/program"}, user: "65532:65532",
	}
	var archives [2][]byte
	for i := range archives {
		o.out = filepath.Join(dir, "image.tar")
		if err := build(o); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(o.out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same input gave different images")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".mkimage-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	image := read(t, archives[0])
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(image["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest) != 1 || len(manifest[0].Layers) != 1 || manifest[0].RepoTags[0] != o.tag {
		t.Fatalf("manifest: %+v", manifest)
	}
	for _, part := range []string{`"Entrypoint":["/usr/bin/program"]`, `"User":"65532:65532"`} {
		if config := string(image[manifest[0].Config]); !strings.Contains(config, part) {
			t.Errorf("config lacks %s: %s", part, config)
		}
	}
	layer := read(t, image[manifest[0].Layers[0]])
	for _, name := range []string{"tmp/", "etc/passwd", "usr/", "usr/bin/", "usr/bin/program"} {
		if _, ok := layer[name]; !ok {
			t.Errorf("the layer lacks %s", name)
		}
	}
}

func TestBuildWithoutSource(t *testing.T) {
	dir := t.TempDir()
	o := options{out: filepath.Join(dir, "image.tar"), tag: "a", files: list{filepath.Join(dir, "none") + "=/none"}}
	if err := build(o); err == nil {
		t.Error("want an error for a file that is not there")
	}
	if _, err := os.Stat(o.out); err == nil {
		t.Error("an incomplete image is there")
	}
}
