/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const rest = " S 42 5 5 0 -1 4194560 900 0 3 0 150 25 0 0 20 0 9 0 123"
	for name, tc := range map[string]struct {
		text     string
		wantName string
		wantErr  bool
	}{
		"a usual name":                 {text: "7 (etcd)" + rest, wantName: "etcd"},
		"a name with a space and a )":  {text: "7 (a) b)" + rest, wantName: "a) b"},
		"no name":                      {text: "7 etcd" + rest, wantErr: true},
		"cut off before the CPU times": {text: "7 (etcd) S 42 5", wantErr: true},
		"no number":                    {text: "7 (etcd)" + strings.Replace(rest, "150", "x", 1), wantErr: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, parent, cpu, err := parseStat([]byte(tc.text))
			if (err != nil) != tc.wantErr {
				t.Fatalf("parseStat() error = %v, want one: %t", err, tc.wantErr)
			}
			if err == nil && (got != tc.wantName || parent != 42 || cpu != 1750*time.Millisecond) {
				t.Errorf("parseStat() = %q, %d, %s, want %q, 42, 1.75s", got, parent, cpu, tc.wantName)
			}
		})
	}
}

func TestWhatThisProcessHolds(t *testing.T) {
	before, err := Files(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // opened for reading
	if after, err := Files(os.Getpid()); err != nil || after != before+1 {
		t.Errorf("Files() = %d, %v, want %d", after, err, before+1)
	}
	if bytes, err := Resident(os.Getpid()); err != nil || bytes < 1<<20 {
		t.Errorf("Resident() = %.0f, %v, want at least a MiB", bytes, err)
	} else if peak, err := PeakResident(os.Getpid()); err != nil || peak < bytes {
		t.Errorf("PeakResident() = %.0f, %v, want at least the %.0f of now", peak, err, bytes)
	}
}
