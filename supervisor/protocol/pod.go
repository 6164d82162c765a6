/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

// How a Pod sets up its supervisors and its agent. The Pod template is written by package
// workerpod of the manager.
const (
	// Dir is where the containers of a Pod mount the shared volume.
	Dir = "/jobset"
	// ImageBinary is the supervisor in the image of the agent: `ImageBinary install Dir` copies it to Binary in Dir.
	ImageBinary = "/supervisor"
	// InstallCommand is its first argument then.
	InstallCommand = "install"

	// DirEnv, of a supervisor, is the shared volume. Default: Dir.
	DirEnv = "JOBSET_SUPERVISOR_DIR"
	// ContainerEnv, of a supervisor, is the name of its container.
	ContainerEnv = "JOBSET_CONTAINER"
	// PassExitCodesEnv, of a supervisor, are exit codes that are left to Kubernetes (P68): codes from 1 to 255 and
	// ranges of them, with commas, such as "3,40-49". All but 3 are "1-2,4-255".
	PassExitCodesEnv = "JOBSET_PASS_EXIT_CODES"
	// StopSignalEnv, of a supervisor, is the number of the signal that ends its container as TERM does (P69b). Default: no other does.
	StopSignalEnv = "JOBSET_STOP_SIGNAL"
	// VariablesEnv, of a supervisor, are the variables that it sets when it starts its worker: NAME=VALUE with spaces
	// between them, where placeholders stand for what the run decides. Default: DefaultVariables.
	VariablesEnv = "JOBSET_VARIABLES"

	// WorkerContainersEnv holds the containers with a supervisor, with commas. Turns process mode on.
	// +reference=variables-of-agent-in-process-mode | none
	WorkerContainersEnv = "WORKER_CONTAINERS"
	// AgentDirEnv holds the volume that agent and supervisors share: `/jobset`.
	// +reference=variables-of-agent-in-process-mode | required
	AgentDirEnv = "SUPERVISOR_DIR"
	// StopGraceEnv holds `stopGracePeriodSeconds`. The time of a planned stop is read from the JobSet.
	//
	// It is the GraceSeconds of messages of the agent.
	// +reference=variables-of-agent-in-process-mode | `2`
	StopGraceEnv = "STOP_GRACE_SECONDS"

	// DefaultStopGraceSeconds is that of the API, which agents cannot import: it would add 3 MB to them.
	DefaultStopGraceSeconds = 2
	// MaxStopGraceSeconds is the most that may be set.
	MaxStopGraceSeconds = 3600
	// MaxSocketPath is how long the path of a Unix socket may be on Linux.
	MaxSocketPath = 107
)

// The placeholders in VariablesEnv. A variable with one that is not known is not set.
const (
	EpochPlaceholder    = "{epoch}"
	RestartsPlaceholder = "{restarts}"
	SizePlaceholder     = "{size}"
	RankPlaceholder     = "{rank}"
	MasterPlaceholder   = "{master}"

	// DefaultVariables are those of Pods that were built by a manager without VariablesEnv.
	DefaultVariables = EpochEnv + "=" + EpochPlaceholder + " " + RestartsEnv + "=" + RestartsPlaceholder + " " +
		WorldSizeEnv + "=" + SizePlaceholder + " " + RankEnv + "=" + RankPlaceholder
)
