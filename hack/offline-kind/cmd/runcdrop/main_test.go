//go:build linux

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBounding(t *testing.T) {
	held, err := bounding("Name:\tx\nCapBnd:\t000001fffeffffff\nCapAmb:\t0\n")
	if err != nil {
		t.Fatal(err)
	}
	if held["CAP_SYS_RESOURCE"] || !held["CAP_SYS_ADMIN"] || !held["CAP_CHECKPOINT_RESTORE"] {
		t.Errorf("want all but CAP_SYS_RESOURCE, got %v", held)
	}
	if _, err := bounding("Name:\tx\n"); err == nil {
		t.Error("want an error without CapBnd")
	}
}

func TestRequests(t *testing.T) {
	for args, want := range map[string]string{
		"--root /r create --bundle /b --pid-file /p id": "/b/config.json",
		"--root /r run --bundle=/b id":                  "/b/config.json",
		"exec --process /tmp/p --detach id":             "/tmp/p",
		"delete --force id":                             "",
	} {
		if got := strings.Join(requests(strings.Fields(args)), " "); got != want {
			t.Errorf("%s: want %q, got %q", args, want, got)
		}
	}
}

func TestEdit(t *testing.T) {
	held := map[string]bool{"CAP_KILL": true}
	for name, test := range map[string]struct{ before, after string }{
		"container":      {`{"process":{"capabilities":{"bounding":["CAP_KILL","CAP_BPF"]}}}`, `{"process":{"capabilities":{"bounding":["CAP_KILL"]}}}`},
		"process":        {`{"capabilities":{"permitted":["CAP_BPF"]},"n":9007199254740993}`, `{"capabilities":{"permitted":[]},"n":9007199254740993}`},
		"nothing to do":  {`{ "capabilities": {"permitted": ["CAP_KILL"]} }`, `{ "capabilities": {"permitted": ["CAP_KILL"]} }`},
		"no capability":  {`{"process": {}}`, `{"process": {}}`},
		"unknown to us":  {`{"capabilities":{"bounding":["CAP_NEW"]}}`, `{"capabilities":{"bounding":[]}}`},
		"nothing wanted": {`{"capabilities":null}`, `{"capabilities":null}`},
	} {
		file := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(file, []byte(test.before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := edit(file, held); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != test.after {
			t.Errorf("%s: want %s, got %s %v", name, test.after, got, err)
		}
	}
	if err := edit(filepath.Join(t.TempDir(), "none"), held); err != nil {
		t.Errorf("a missing file is left to runc, got %v", err)
	}
}

func TestCapabilityOrder(t *testing.T) {
	if len(capabilities) != 41 || slices.Index(capabilities, "CAP_SYS_RESOURCE") != 24 {
		t.Errorf("want 41 capabilities and CAP_SYS_RESOURCE as bit 24, got %d and %d",
			len(capabilities), slices.Index(capabilities, "CAP_SYS_RESOURCE"))
	}
}
