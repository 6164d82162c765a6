/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package version says which build of JobSet this is.
package version

import (
	"fmt"
	"runtime"
)

// Set when linking: -ldflags "-X sigs.k8s.io/jobset/pkg/version.GitVersion=v0.13.0 ...".
var (
	// GitVersion is the tag of the build.
	GitVersion = "v0.0.0-main"
	// GitCommit is the hash of its commit.
	GitCommit = "abcd01234"
	// AgentImage is the image of the agent of the build: the one that config/ names, which
	// hack/verify-images.sh checks, or that of a release.
	AgentImage = "jobset/agent:dev"
)

// Release is the minor release that the sources are of. A test compares it with the gates, the chart and config/.
const Release = "v0.13"

// String describes the build in one line.
func String() string {
	return fmt.Sprintf("jobset %s (commit %s, %s, %s/%s)", GitVersion, GitCommit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
