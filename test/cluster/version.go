/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/client-go/discovery"
)

// The minor versions of Kubernetes from which it restarts single containers by their rules, and all containers of a Pod.
const (
	RestartRules         = 35
	RestartAllContainers = 36
)

// Minor returns the minor version of an API server. That of a vendor may end in a plus.
func Minor(server discovery.ServerVersionInterface) (int, error) {
	info, err := server.ServerVersion()
	if err != nil {
		return 0, fmt.Errorf("asking the API server for its version: %w", err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(info.Minor, "+"))
	if err != nil {
		return 0, fmt.Errorf("the minor version of the API server is %q: %w", info.Minor, err)
	}
	return minor, nil
}

// Lacks is why a spec is left out on an older cluster: `make test-minors` counts these texts.
func Lacks(minor, version int, what string) string {
	return fmt.Sprintf("1.%d lacks %s, which 1.%d has", minor, what, version)
}
