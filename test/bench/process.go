/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"

	"sigs.k8s.io/jobset/test/process"
)

// cpuOfChildren says how many seconds of CPU the processes that this one started have used so far, by
// name. Those that have ended count no more.
func cpuOfChildren() (map[string]float64, error) {
	all, err := process.Children()
	used := map[string]float64{}
	for _, c := range all {
		used[c.Name] += c.CPU.Seconds()
	}
	return used, err
}

// residents is the resident memory of the processes that this one started, and of itself, in bytes by name.
func residents() (map[string]float64, error) {
	all, err := process.Children()
	if err != nil {
		return nil, err
	}
	of := map[string]float64{}
	for _, c := range append(all, process.Child{PID: os.Getpid(), Name: nodesAndAgents}) {
		bytes, err := process.Resident(c.PID)
		if err != nil {
			return nil, err
		}
		of[c.Name] += bytes
	}
	return of, nil
}
