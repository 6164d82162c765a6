/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command mkimage writes a container image archive, as `docker save` does, from
// files and tar archives. It needs no Docker and no root, and the same input
// gives the same bytes: owners are root and times are fixed.
//
//	mkimage -out pause.tar -tag registry.k8s.io/pause:3.10 -file bin/pause=/pause -entrypoint /pause
//
// With -oci the archive is an OCI layout, which may hold the image for several architectures;
// {arch} in the source of a file stands for each:
//
//	mkimage -oci -arch amd64,arm64 -out pause.tar -tag registry.k8s.io/pause:3.10 -file bin/pause-{arch}=/pause -entrypoint /pause
package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"
)

// The time of every file and image, so that nothing depends on the clock.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

type options struct {
	out, tag, arch             string
	stopSignal, user           string
	layers, files, env, labels list
	entrypoint                 list
	skeleton, oci              bool
	created                    int64 // in seconds since 1970; 0 is epoch
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "", "archive to write")
	flag.StringVar(&o.tag, "tag", "", "name of the image")
	flag.StringVar(&o.arch, "arch", runtime.GOARCH, "architecture of the image; with -oci there may be several, separated by commas")
	flag.StringVar(&o.stopSignal, "stopsignal", "", "signal that stops the container")
	flag.StringVar(&o.user, "user", "", "user and group of the container, as UID:GID")
	flag.Var(&o.layers, "layer", "tar archive that becomes a layer, lowest first")
	flag.Var(&o.files, "file", "SOURCE=PATH of a file for the top layer; its mode is kept")
	flag.Var(&o.env, "env", "NAME=VALUE")
	flag.Var(&o.labels, "label", "NAME=VALUE")
	flag.Var(&o.entrypoint, "entrypoint", "one word of the entrypoint")
	flag.BoolVar(&o.skeleton, "skeleton", false, "add /tmp, /etc/passwd and /etc/nsswitch.conf")
	flag.BoolVar(&o.oci, "oci", false, "write an OCI layout")
	flag.Int64Var(&o.created, "created", 0, "when the image was created, in seconds since 1970 (default: a fixed time)")
	flag.Parse()
	if o.out == "" || o.tag == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := build(o); err != nil {
		fmt.Fprintln(os.Stderr, "mkimage:", err)
		os.Exit(1)
	}
}

// build writes beside the target first: an archive that is there is complete.
func build(o options) error {
	work, err := os.MkdirTemp(filepath.Dir(o.out), ".mkimage-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()

	part := filepath.Join(work, "image.tar")
	if o.oci {
		err = writeOCI(part, work, o)
	} else {
		err = writeDocker(part, work, o)
	}
	if err != nil {
		return err
	}
	return os.Rename(part, o.out)
}

func writeDocker(part, work string, o options) error {
	if strings.Contains(o.arch, ",") {
		return fmt.Errorf("-arch %s: an archive for Docker holds one architecture; add -oci for several", o.arch)
	}
	layers, err := writeLayers(work, o)
	if err != nil {
		return err
	}
	return create(part, func(w io.Writer) error { return writeImage(w, o, layers) })
}

// writeLayers returns the archives of all layers, lowest first; it writes the top one.
func writeLayers(work string, o options) ([]string, error) {
	layers := append([]string{}, o.layers...)
	if len(o.files) == 0 && !o.skeleton {
		return layers, nil
	}
	top := filepath.Join(work, "top.tar")
	return append(layers, top), create(top, func(w io.Writer) error { return writeLayer(w, o) })
}

func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// entry is one member of the top layer.
type entry struct {
	name   string // without a leading slash
	mode   int64
	dir    bool
	source string // file to copy; content is used if empty
	text   string
}

// entries lists the members of the top layer: every file after its directories.
func entries(o options) ([]entry, error) {
	all := map[string]entry{}
	add := func(e entry) {
		e.name = strings.TrimPrefix(path.Clean("/"+e.name), "/")
		for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = entry{name: dir, mode: 0o755, dir: true}
			}
		}
		all[e.name] = e
	}
	if o.skeleton {
		add(entry{name: "tmp", mode: 0o1777, dir: true})
		add(entry{name: "etc/passwd", mode: 0o644,
			text: "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"})
		add(entry{name: "etc/nsswitch.conf", mode: 0o644, text: "hosts: files dns\n"})
	}
	for _, f := range o.files {
		source, name, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("-file %s is not SOURCE=PATH", f)
		}
		info, err := os.Stat(source)
		if err != nil {
			return nil, err
		}
		add(entry{name: name, mode: int64(info.Mode().Perm()), source: source})
	}
	sorted := make([]entry, 0, len(all))
	for _, e := range all {
		sorted = append(sorted, e)
	}
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].name < sorted[j].name })
	return sorted, nil
}

func writeLayer(w io.Writer, o options) error {
	members, err := entries(o)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(w)
	for _, e := range members {
		switch {
		case e.dir:
			err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: e.name + "/", Mode: e.mode, ModTime: epoch})
		case e.source != "":
			err = addFile(tw, e.name, e.source, e.mode)
		default:
			err = addBytes(tw, e.name, []byte(e.text), e.mode)
		}
		if err != nil {
			return err
		}
	}
	return tw.Close()
}

func addBytes(tw *tar.Writer, name string, data []byte, mode int64) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data)), ModTime: epoch}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := tw.Write(data)
	return err
}

func addFile(tw *tar.Writer, name, source string, mode int64) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: info.Size(), ModTime: epoch}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return err
}

// writeImage writes the three parts that `docker load` and `ctr images import` read:
// the layers, the image's config, and a manifest that names both.
func writeImage(w io.Writer, o options, layers []string) error {
	tw := tar.NewWriter(w)
	var names, diffIDs []string
	for _, layer := range layers {
		sum, err := digest(layer)
		if err != nil {
			return err
		}
		names = append(names, sum+".tar")
		diffIDs = append(diffIDs, "sha256:"+sum)
		if err := addFile(tw, sum+".tar", layer, 0o644); err != nil {
			return err
		}
	}
	config, err := json.Marshal(imageConfig(o, diffIDs))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(config)
	configName := hex.EncodeToString(sum[:]) + ".json"
	if err := addBytes(tw, configName, config, 0o644); err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{
		{"Config": configName, "RepoTags": []string{o.tag}, "Layers": names},
	})
	if err != nil {
		return err
	}
	if err := addBytes(tw, "manifest.json", manifest, 0o644); err != nil {
		return err
	}
	return tw.Close()
}

func imageConfig(o options, diffIDs []string) map[string]any {
	labels := map[string]string{}
	for _, l := range o.labels {
		name, value, _ := strings.Cut(l, "=")
		labels[name] = value
	}
	config := map[string]any{"Env": o.env, "Labels": labels}
	if len(o.entrypoint) > 0 {
		config["Entrypoint"] = o.entrypoint
	}
	if o.user != "" {
		config["User"] = o.user
	}
	if o.stopSignal != "" {
		config["StopSignal"] = o.stopSignal
	}
	created := epoch
	if o.created != 0 {
		created = time.Unix(o.created, 0).UTC()
	}
	history := []map[string]any{}
	for range diffIDs {
		history = append(history, map[string]any{"created": created, "created_by": "hack/offline-kind/cmd/mkimage"})
	}
	return map[string]any{
		"architecture": o.arch,
		"os":           "linux",
		"created":      created,
		"config":       config,
		"rootfs":       map[string]any{"type": "layers", "diff_ids": diffIDs},
		"history":      history,
	}
}

func digest(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
