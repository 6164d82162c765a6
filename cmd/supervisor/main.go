//go:build linux

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command supervisor is the first process of a worker's container in process mode.
package main

import (
	"os"

	"sigs.k8s.io/jobset/supervisor"
)

func main() {
	os.Exit(supervisor.Main(os.Args[1:]))
}
