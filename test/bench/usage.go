/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// apiServer is how the API server is called among processes.
const apiServer = "kube-apiserver"

// nodesAndAgents is this process, which has the simulated nodes and the agents in it.
const nodesAndAgents = "bench"

// managerUse is what the manager says of itself, since it started.
type managerUse struct {
	cpu, bytes, objects, wakes, resident float64
}

// usage is what everything has used up to a moment, or in some time.
type usage struct {
	manager     managerUse
	cpu         map[string]float64 // seconds by process
	jobSetBytes float64
}

// less subtracts another usage this many times. What resides is not summed up over time and stays.
func (u usage) less(other usage, times float64) usage {
	rest := usage{
		manager: managerUse{
			cpu:      u.manager.cpu - times*other.manager.cpu,
			bytes:    u.manager.bytes - times*other.manager.bytes,
			objects:  u.manager.objects - times*other.manager.objects,
			wakes:    u.manager.wakes - times*other.manager.wakes,
			resident: u.manager.resident,
		},
		cpu:         map[string]float64{},
		jobSetBytes: u.jobSetBytes - times*other.jobSetBytes,
	}
	for name, seconds := range u.cpu {
		rest.cpu[name] = seconds - times*other.cpu[name]
	}
	return rest
}

// times multiplies a usage.
func (u usage) times(factor float64) usage { return u.less(u, 1-factor) }
