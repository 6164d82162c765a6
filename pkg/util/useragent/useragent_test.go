/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package useragent

import (
	"runtime"
	"testing"
)

func TestBuild(t *testing.T) {
	tests := map[string]struct {
		version, commit string
		want            string
	}{
		"a release (O18)": {
			version: "v0.13.0", commit: "0123456789abcdef", want: "jobset/v0.13.0 (linux/amd64) 0123456",
		},
		"a version is cut at its first dash (O18)": {
			version: "v0.13.0-rc.1-5-gabcdef", commit: "0123456", want: "jobset/v0.13.0 (linux/amd64) 0123456",
		},
		"a commit may be short (O18)": {version: "v1", commit: "01", want: "jobset/v1 (linux/amd64) 01"},
		"what is empty is unknown (O18)": {
			version: "", commit: "", want: "jobset/unknown (linux/amd64) unknown",
		},
		"a version of nothing but a suffix is unknown (O18)": {
			version: "-dirty", commit: "0123456", want: "jobset/unknown (linux/amd64) 0123456",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := build(tc.version, tc.commit, "linux", "amd64"); got != tc.want {
				t.Errorf("build() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDefault(t *testing.T) {
	want := "jobset/v0.0.0 (" + runtime.GOOS + "/" + runtime.GOARCH + ") abcd012"
	if got := Default(); got != want {
		t.Errorf("Default() = %q, want %q for a build without flags (O19)", got, want)
	}
}
