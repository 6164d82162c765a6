/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Media types of https://github.com/opencontainers/image-spec.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// layout is an OCI layout that is being written: a directory of blobs, each named by its digest.
type layout struct{ blobs string }

// writeOCI writes the archive of a layout: an index of one image for each architecture.
func writeOCI(part, work string, o options) error {
	l := layout{blobs: filepath.Join(work, "blobs")}
	if err := os.Mkdir(l.blobs, 0o755); err != nil {
		return err
	}
	var manifests []descriptor
	for arch := range strings.SplitSeq(o.arch, ",") {
		manifest, err := l.addImage(work, o.forArch(arch))
		if err != nil {
			return fmt.Errorf("architecture %s: %w", arch, err)
		}
		manifest.Platform = map[string]string{"os": "linux", "architecture": arch}
		manifests = append(manifests, manifest)
	}
	index, err := l.addJSON(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests})
	if err != nil {
		return err
	}
	index.Annotations = map[string]string{
		"io.containerd.image.name":          o.tag,
		"org.opencontainers.image.ref.name": o.tag[strings.LastIndex(o.tag, ":")+1:],
	}
	return create(part, func(w io.Writer) error { return l.write(w, index) })
}

// forArch returns the options of the image for one architecture.
func (o options) forArch(arch string) options {
	o.arch, o.files = arch, slices.Clone(o.files)
	for i, file := range o.files {
		o.files[i] = strings.ReplaceAll(file, "{arch}", arch)
	}
	return o
}

// addImage adds layers, config and manifest of an image, and returns the manifest.
func (l layout) addImage(work string, o options) (descriptor, error) {
	layers, err := writeLayers(work, o)
	if err != nil {
		return descriptor{}, err
	}
	var diffIDs []string
	var compressed []descriptor
	for _, layer := range layers {
		sum, err := digest(layer)
		if err != nil {
			return descriptor{}, err
		}
		diffIDs = append(diffIDs, "sha256:"+sum)
		blob, err := l.addLayer(layer)
		if err != nil {
			return descriptor{}, err
		}
		compressed = append(compressed, blob)
	}
	config, err := l.addJSON(configType, imageConfig(o, diffIDs))
	if err != nil {
		return descriptor{}, err
	}
	return l.addJSON(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": compressed,
	})
}

// addLayer adds an archive, compressed.
func (l layout) addLayer(name string) (descriptor, error) {
	source, err := os.Open(name)
	if err != nil {
		return descriptor{}, err
	}
	defer func() { _ = source.Close() }()
	return l.add(layerType, func(w io.Writer) error {
		compressor := gzip.NewWriter(w) // its header has neither a name nor a time
		if _, err := io.Copy(compressor, source); err != nil {
			return err
		}
		return compressor.Close()
	})
}

func (l layout) addJSON(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return l.add(mediaType, func(w io.Writer) error { _, err := w.Write(text); return err })
}

func (l layout) add(mediaType string, write func(io.Writer) error) (descriptor, error) {
	part := filepath.Join(l.blobs, "part")
	if err := create(part, write); err != nil {
		return descriptor{}, err
	}
	sum, err := digest(part)
	if err != nil {
		return descriptor{}, err
	}
	info, err := os.Stat(part)
	if err != nil {
		return descriptor{}, err
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: info.Size()}, os.Rename(part, filepath.Join(l.blobs, sum))
}

// write writes the layout as an archive, with the one entry point that index.json names.
func (l layout) write(w io.Writer, index descriptor) error {
	entryPoint, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{index}})
	if err != nil {
		return err
	}
	tw := tar.NewWriter(w)
	if err := addBytes(tw, "oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644); err != nil {
		return err
	}
	if err := addBytes(tw, "index.json", entryPoint, 0o644); err != nil {
		return err
	}
	blobs, err := os.ReadDir(l.blobs) // sorted by name
	if err != nil {
		return err
	}
	for _, blob := range blobs {
		if err := addFile(tw, "blobs/sha256/"+blob.Name(), filepath.Join(l.blobs, blob.Name()), 0o644); err != nil {
			return err
		}
	}
	return tw.Close()
}
