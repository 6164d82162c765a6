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

func TestLikeBefore(t *testing.T) {
	for name, test := range map[string]struct{ before, now, want string }{
		"a file that named no default names none":      {`{"mtu":1400}`, `{"mtu":1400,"default-runtime":"runc"}`, `{"mtu":1400}`},
		"a file that named runc names it":              {`{"default-runtime":"runc"}`, `{"default-runtime":"runc"}`, `{"default-runtime":"runc"}`},
		"an empty object stays":                        {`{}`, `{"default-runtime":"runc"}`, `{}`},
		"a file that was not there goes":               {``, `{"default-runtime":"runc"}`, ``},
		"a file that was not there and has more stays": {``, `{"mtu":9000,"default-runtime":"runc"}`, `{"mtu":9000}`},
		"a default of somebody else stays":             {`{}`, `{"default-runtime":"nvidia"}`, `{"default-runtime":"nvidia"}`},
	} {
		got, err := likeBefore([]byte(test.now), []byte(test.before))
		if err != nil || (test.want == "") != (len(got) == 0) || len(got) > 0 && !same(t, got, test.want) {
			t.Errorf("%s: want %q, got %q %v", name, test.want, got, err)
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
