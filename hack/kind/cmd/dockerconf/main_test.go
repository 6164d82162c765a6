/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestWithAndWithout(t *testing.T) {
	for name, test := range map[string]struct{ before, added, removed string }{
		"no file": {``,
			`{"default-runtime":"x","runtimes":{"x":{"path":"/x"}}}`,
			`{"default-runtime":"runc"}`},
		"settings": {`{"mtu":1400}`,
			`{"mtu":1400,"default-runtime":"x","runtimes":{"x":{"path":"/x"}}}`,
			`{"mtu":1400,"default-runtime":"runc"}`},
		"other runtime": {`{"runtimes":{"y":{"path":"/y"}}}`,
			`{"default-runtime":"x","runtimes":{"x":{"path":"/x"},"y":{"path":"/y"}}}`,
			`{"default-runtime":"runc","runtimes":{"y":{"path":"/y"}}}`},
	} {
		added, err := with([]byte(test.before), "x", "/x")
		if err != nil || !same(t, added, test.added) {
			t.Errorf("%s: want %s, got %s %v", name, test.added, added, err)
		}
		again, err := with(added, "x", "/x")
		if err != nil || string(again) != string(added) {
			t.Errorf("%s: twice is not like once: %s %v", name, again, err)
		}
		removed, err := without(added, "x")
		if err != nil || !same(t, removed, test.removed) {
			t.Errorf("%s: want %s after removal, got %s %v", name, test.removed, removed, err)
		}
	}
}

func TestWithoutLeavesAnotherDefault(t *testing.T) {
	const before = `{"default-runtime":"nvidia"}`
	if got, err := without([]byte(before), "x"); err != nil || !same(t, got, before) {
		t.Errorf("want %s, got %s %v", before, got, err)
	}
}

func TestWithRefuses(t *testing.T) {
	for _, before := range []string{`{"default-runtime":"nvidia"}`, `{`, `{"runtimes":7}`} {
		if got, err := with([]byte(before), "x", "/x"); err == nil {
			t.Errorf("%s: want an error, got %s", before, got)
		}
	}
}

func same(t *testing.T, got []byte, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	return reflect.DeepEqual(a, b)
}
