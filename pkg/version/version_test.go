/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package version

import (
	"strings"
	"testing"
)

func TestVersionOfABuildWithoutFlags(t *testing.T) {
	if GitVersion != "v0.0.0-main" || GitCommit != "abcd01234" {
		t.Errorf("version is %s, commit is %s, want the defaults (O19)", GitVersion, GitCommit)
	}
	if AgentImage != "jobset/agent:dev" {
		t.Errorf("the image of the agent is %s, want that of config/ (O19)", AgentImage)
	}
	if got := String(); !strings.HasPrefix(got, "jobset v0.0.0-main (commit abcd01234, go") {
		t.Errorf("String() = %q", got)
	}
}
