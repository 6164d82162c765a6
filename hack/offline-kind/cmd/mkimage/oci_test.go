/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// layoutOf reads an archive and checks that every blob has the digest that it is named by.
func layoutOf(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	members := read(t, data)
	for name, content := range members {
		if sum, ok := strings.CutPrefix(name, "blobs/sha256/"); ok {
			if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
				t.Errorf("%s has the digest %x", name, got)
			}
		}
	}
	return members
}

// follow returns the blob of a descriptor as JSON.
func follow[T any](t *testing.T, members map[string][]byte, d descriptor) (value T) {
	t.Helper()
	blob, ok := members["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
	if !ok || int64(len(blob)) != d.Size {
		t.Fatalf("the archive does not have %+v", d)
	}
	if err := json.Unmarshal(blob, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

type index struct{ Manifests []descriptor }

type manifest struct {
	Config descriptor
	Layers []descriptor
}

type config struct {
	Architecture, OS, Created string
	Rootfs                    struct {
		DiffIDs []string `json:"diff_ids"`
	}
	Config struct{ Entrypoint []string }
}

func TestAnOCILayoutHoldsAnImageForEachArchitecture(t *testing.T) {
	dir := t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		if err := os.WriteFile(filepath.Join(dir, "program-"+arch), []byte("for "+arch), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := options{
		out: filepath.Join(dir, "image.tar"), tag: "example.com:5000/a:v1", arch: "amd64,arm64", oci: true, created: 1,
		files: list{filepath.Join(dir, "program-{arch}") + "=/program"}, entrypoint: list{"/program"},
	}
	if err := build(o); err != nil {
		t.Fatal(err)
	}
	members := layoutOf(t, o.out)
	if got := string(members["oci-layout"]); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", got)
	}
	var top index
	if err := json.Unmarshal(members["index.json"], &top); err != nil {
		t.Fatal(err)
	}
	if got := top.Manifests[0].Annotations; got["io.containerd.image.name"] != o.tag || got["org.opencontainers.image.ref.name"] != "v1" {
		t.Errorf("the image is named %v", got)
	}
	images := follow[index](t, members, top.Manifests[0]).Manifests
	if len(images) != 2 {
		t.Fatalf("images: %+v", images)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		m := follow[manifest](t, members, images[i])
		c := follow[config](t, members, m.Config)
		if images[i].Platform["architecture"] != arch || c.Architecture != arch || c.OS != "linux" || c.Created != "1970-01-01T00:00:01Z" {
			t.Errorf("image %d is for %v, its config %+v", i, images[i].Platform, c)
		}
		layer := uncompressed(t, members["blobs/sha256/"+strings.TrimPrefix(m.Layers[0].Digest, "sha256:")])
		if got := sha256.Sum256(layer); c.Rootfs.DiffIDs[0] != "sha256:"+hex.EncodeToString(got[:]) {
			t.Errorf("the layer is not %v", c.Rootfs.DiffIDs)
		}
		if got := string(read(t, layer)["program"]); got != "for "+arch {
			t.Errorf("/program is %q", got)
		}
	}
}

func uncompressed(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestTheSameFilesGiveTheSameOCILayout(t *testing.T) {
	var archives [2][]byte
	for i := range archives {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "program"), []byte("#!"), 0o755); err != nil {
			t.Fatal(err)
		}
		o := options{out: filepath.Join(dir, "image.tar"), tag: "a:b", arch: "amd64", oci: true, files: list{filepath.Join(dir, "program") + "=/program"}}
		if err := build(o); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(o.out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same files gave different layouts")
	}
}

func TestAnArchiveForDockerHoldsOneArchitecture(t *testing.T) {
	err := build(options{out: filepath.Join(t.TempDir(), "image.tar"), tag: "a:b", arch: "amd64,arm64"})
	if err == nil || !strings.Contains(err.Error(), "add -oci") {
		t.Errorf("got %v, want an error that says what to do", err)
	}
}
