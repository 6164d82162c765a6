/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package useragent returns the user agent with which this program appears in the logs of the API server.
package useragent

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"sigs.k8s.io/jobset/pkg/version"
)

const (
	unknown      = "unknown"
	commitLength = 7
)

// Default returns the user agent of this build on this platform.
func Default() string {
	return build(version.GitVersion, version.GitCommit, runtime.GOOS, runtime.GOARCH)
}

// build leaves out pre-release suffixes, so that requests of one release count as one client.
func build(gitVersion, gitCommit, goos, goarch string) string {
	release, _, _ := strings.Cut(gitVersion, "-")
	commit := gitCommit[:min(len(gitCommit), commitLength)]
	return fmt.Sprintf("jobset/%s (%s/%s) %s", cmp.Or(release, unknown), goos, goarch, cmp.Or(commit, unknown))
}
