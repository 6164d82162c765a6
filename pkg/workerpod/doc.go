/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package workerpod knows what a worker Pod of a JobSet with restartStrategy
// InPlaceRestart looks like. It is the one place that does: admission checks
// against it and quotes it, examples and tests are built by it.
//
//	Pod, restartPolicy Never
//	├── init containers of the user          run first, again after every restart
//	├── init container "agent", Always       its start reports the epoch; its startup
//	│     exit 64        -> agent alone      probe passes when the group stands: the barrier
//	│     any other exit -> all containers
//	└── workers, Never                       start behind the barrier
//	      exit 0         -> done
//	      exit Y, Z      -> the Pod fails    for the Job controller: Y fails the Job,
//	      any other exit -> all containers   Z gets a new Pod
//
// The agent restarts everything on any exit but 64, not on its restart exit
// code alone: after a kill it would otherwise come back beside a worker of an
// older epoch.
package workerpod
