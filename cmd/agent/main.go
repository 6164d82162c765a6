/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command agent runs in every worker Pod of a JobSet that restarts in place.
package main

import (
	"os"

	"sigs.k8s.io/jobset/agent"
)

func main() {
	os.Exit(agent.Main(os.Args[1:]))
}
