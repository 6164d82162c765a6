/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"syscall"

	"sigs.k8s.io/jobset/test/process"
)

// apiServer is how the API server is called among processes.
const apiServer = "kube-apiserver"

// nodesAndAgents is this process, which has the simulated nodes and the agents in it.
const nodesAndAgents = "bench"

// managerUse is what the manager says of itself, since it started.
type managerUse struct {
	cpu, bytes, objects, wakes float64
}

// usage is what everything has used up to a moment, or in some time.
type usage struct {
	manager     managerUse
	cpu         map[string]float64 // seconds by process
	jobSetBytes float64
}

// less subtracts another usage this many times.
func (u usage) less(other usage, times float64) usage {
	rest := usage{
		manager: managerUse{
			cpu:     u.manager.cpu - times*other.manager.cpu,
			bytes:   u.manager.bytes - times*other.manager.bytes,
			objects: u.manager.objects - times*other.manager.objects,
			wakes:   u.manager.wakes - times*other.manager.wakes,
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

const (
	// filesWanted is for an API server to which 10,000 agents come back at once.
	filesWanted = 100_000
	// filesOfHeld is how many files this process has open for a worker that is held in container mode: the connection
	// of its agent, the port of its barrier, and both ends of a probe that waits.
	filesOfHeld = 4
	// filesOfRest is more than all else has open.
	filesOfRest = 1000
)

// raiseOpenFiles raises the limit of open files, which what is started inherits. Not everybody may.
func raiseOpenFiles() {
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: filesWanted, Max: filesWanted})
}

// portsSuffice says whether so many barriers can have ports that are real. Otherwise they are in memory.
func portsSuffice(workers int) bool {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return err != nil || uint64(workers*filesOfHeld+filesOfRest) <= limit.Cur
}
