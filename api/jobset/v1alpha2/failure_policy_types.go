/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

// JobSetRestartStrategy says how a JobSet restarts.
// +kubebuilder:validation:Enum=Recreate;BlockingRecreate;InPlaceRestart
type JobSetRestartStrategy string

const (
	// Recreate recreates each Job as soon as its predecessor is gone.
	Recreate JobSetRestartStrategy = "Recreate"
	// BlockingRecreate recreates Jobs when all their predecessors are gone.
	BlockingRecreate JobSetRestartStrategy = "BlockingRecreate"
	// InPlaceRestart restarts healthy worker Pods in place and recreates only
	// failed ones; no worker starts before the whole group is back. A failed
	// Job is handled as with Recreate. Feature gate InPlaceRestart, alpha.
	InPlaceRestart JobSetRestartStrategy = "InPlaceRestart"
)

// InPlaceRestartMode says what starts again in a worker Pod that restarts in place.
// +kubebuilder:validation:Enum=Process;Container
type InPlaceRestartMode string

const (
	// ProcessMode restarts the processes of the workers: a supervisor is the first
	// process of each container, and starts and stops the worker's program.
	ProcessMode InPlaceRestartMode = "Process"
	// ContainerMode restarts all containers of the Pod, by the action
	// RestartAllContainers. Needs Kubernetes 1.36 or newer.
	ContainerMode InPlaceRestartMode = "Container"
)

// WorkerEnvironment names a framework whose variables are set in the environment of workers.
// +kubebuilder:validation:Enum=Torch;Jax;None
type WorkerEnvironment string

const (
	// TorchEnvironment: the variables by which torchrun, or one process of PyTorch for
	// each container, finds the others of its ReplicatedJob.
	TorchEnvironment WorkerEnvironment = "Torch"
	// JaxEnvironment: the variables by which one process of JAX for each container finds
	// the others of its ReplicatedJob.
	JaxEnvironment WorkerEnvironment = "Jax"
	// NoEnvironment: only those of JobSet, even if the configuration of the manager says otherwise.
	NoEnvironment WorkerEnvironment = "None"
)

// FailurePolicyAction is what a rule does.
// +kubebuilder:validation:Enum=FailJobSet;RestartJobSet;RestartJobSetAndIgnoreMaxRestarts;RestartJob;RestartJobAndIgnoreMaxRestarts
type FailurePolicyAction string

const (
	// FailJobSet fails the JobSet immediately.
	// +reference=conditions | `Failed` | `*FailurePolicyAction` | True | A rule of the failure policy asked for it.
	FailJobSet FailurePolicyAction = "FailJobSet"
	// RestartJobSet recreates all Jobs, or fails the JobSet if maxRestarts is used up.
	// +reference=events-of-actions | `*FailurePolicyAction` | All Jobs are recreated, counted towards `maxRestarts`.
	RestartJobSet FailurePolicyAction = "RestartJobSet"
	// RestartJobSetAndIgnoreMaxRestarts recreates all Jobs and consumes nothing of maxRestarts.
	// +reference=events-of-actions | `*FailurePolicyAction` | All Jobs are recreated, not counted.
	RestartJobSetAndIgnoreMaxRestarts FailurePolicyAction = "RestartJobSetAndIgnoreMaxRestarts"
	// RestartJob recreates the failed Job alone. Feature gate RestartJob, alpha.
	// +reference=events-of-actions | `*FailurePolicyAction` | One Job is recreated, counted.
	RestartJob FailurePolicyAction = "RestartJob"
	// RestartJobAndIgnoreMaxRestarts recreates the failed Job alone and consumes
	// nothing of maxRestarts. Feature gate RestartJob, alpha.
	// +reference=events-of-actions | `*FailurePolicyAction` | One Job is recreated, not counted.
	RestartJobAndIgnoreMaxRestarts FailurePolicyAction = "RestartJobAndIgnoreMaxRestarts"
)

// FailurePolicy says what happens when a Job fails.
// +kubebuilder:validation:XValidation:rule="!has(self.inPlaceRestart) || has(self.restartStrategy) && self.restartStrategy == 'InPlaceRestart'",message="inPlaceRestart is read only if restartStrategy is InPlaceRestart: set that too, or remove inPlaceRestart"
type FailurePolicy struct {
	// maxRestarts is how many restarts are allowed before the JobSet fails:
	// status.restartsCountTowardsMax, status.inPlaceRestarts and restarts of single Jobs together.
	// +optional
	MaxRestarts int32 `json:"maxRestarts,omitempty"`

	// restartStrategy says how the JobSet restarts.
	// +optional
	// +kubebuilder:default=Recreate
	RestartStrategy JobSetRestartStrategy `json:"restartStrategy,omitempty"`

	// rules are tried in order; the first that matches a failed Job decides.
	// If none matches, the action is RestartJobSet. At most 100.
	// +optional
	Rules []FailurePolicyRule `json:"rules,omitempty"`

	// inPlaceRestart says more about restartStrategy InPlaceRestart.
	// +optional
	InPlaceRestart *InPlaceRestartPolicy `json:"inPlaceRestart,omitempty"`
}

// InPlaceRestartPolicy says more about restartStrategy InPlaceRestart.
type InPlaceRestartPolicy struct {
	// mode says what restarts in a worker Pod: Process, the processes of the workers, or
	// Container, all containers of the Pod. Process requires a command in each container, and
	// excludes tty, stdin, postStart, and liveness and startup probes, which would act on a
	// worker that is held. If it is empty, it is set on creation: to Process if all templates
	// allow it, otherwise to Container. Absent in JobSets of older versions, which means
	// Container.
	// +optional
	Mode InPlaceRestartMode `json:"mode,omitempty"`

	// stopGracePeriodSeconds is how long a worker may take to end after SIGTERM before
	// SIGKILL, whenever its group restarts. Only in mode Process, where it defaults to 2;
	// in mode Container the kubelet always gives 2 seconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	StopGracePeriodSeconds *int32 `json:"stopGracePeriodSeconds,omitempty"`

	// plannedStopGracePeriodSeconds is how long a worker may take to end when its group restarts for
	// a change of its size, for Jobs that join it, or to move Pods off sick nodes: nothing has failed
	// in these cases, so the workers can save their state. Each gets plannedStopSignal once, all at the
	// same time. From 1 to 300. Absent: stopGracePeriodSeconds, as for every other restart. Only in mode
	// Process.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	PlannedStopGracePeriodSeconds *int32 `json:"plannedStopGracePeriodSeconds,omitempty"`

	// plannedStopSignal is the signal of such a stop: TERM, USR1 or USR2. Empty means TERM. Only with
	// plannedStopGracePeriodSeconds. Programs under torchrun need TERM: other signals end torchrun.
	// +optional
	// +kubebuilder:validation:Enum=TERM;USR1;USR2
	PlannedStopSignal PlannedStopSignal `json:"plannedStopSignal,omitempty"`

	// recreatePodOnExitCodes are exit codes of workers that get a new Pod, perhaps on
	// another node, instead of a restart in place, for example because a worker finds its
	// devices broken. At most 200, from 1 to 255, each once. Codes that podFailurePolicy of
	// a Job acts on are left to that policy and must not be listed here. Only in Pods to which
	// the manager adds the agent.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=255
	RecreatePodOnExitCodes []int32 `json:"recreatePodOnExitCodes,omitempty"`

	// environment names a framework whose variables are set for workers, in addition to those of
	// JobSet: Torch, so that torchrun or a PyTorch program needs no arguments for size, rank and
	// address; Jax, for jax.distributed.initialize. A variable that a container sets itself keeps
	// its value, but with Torch none may begin with PET_, and with Jax none may be one of
	// JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID. In mode Container only if the size and the rank of a worker are known when its
	// Pod is created. Empty: what the configuration of the manager says, which is None by default.
	// +optional
	Environment WorkerEnvironment `json:"environment,omitempty"`

	// progress says when a running worker is considered to hang; it is then restarted with its
	// group like a worker that failed. The worker gives signs of life by the protocol of sd_notify(3),
	// or in the file that JOBSET_PROGRESS_FILE names. Absent: workers are not watched. Only in mode
	// Process. May be changed at any time; running workers keep the deadlines of their start.
	// +optional
	Progress *ProgressPolicy `json:"progress,omitempty"`

	// lostNode replaces a worker whose node stopped answering as soon as its group waits for nobody else, instead
	// of after the toleration and the grace period of its Pod, minutes later. Absent: off. May be changed at any time.
	// +optional
	LostNode *LostNodePolicy `json:"lostNode,omitempty"`

	// warmStart starts a second copy of each worker's program while the first one runs. It
	// waits at a gate with its imports done and passes the gate at the next restart in place. For
	// that the program reads the file that JOBSET_GATE names once, before it uses a device, a
	// port, a lock or a file. Until then memory for two programs is needed; a program that never
	// reads its gate is started as if warmStart were absent. Absent: off. Only in mode Process.
	// +optional
	WarmStart *WarmStartPolicy `json:"warmStart,omitempty"`
}

// PlannedStopSignal is a signal at which a program saves its state and ends.
type PlannedStopSignal string

const (
	// PlannedStopTERM is SIGTERM.
	PlannedStopTERM PlannedStopSignal = "TERM"
	// PlannedStopUSR1 is SIGUSR1.
	PlannedStopUSR1 PlannedStopSignal = "USR1"
	// PlannedStopUSR2 is SIGUSR2.
	PlannedStopUSR2 PlannedStopSignal = "USR2"
)

// WarmStartPolicy turns warm start on. It has no fields.
type WarmStartPolicy struct{}

// LostNodePolicy says when a worker on a silent node is replaced by force. A node is silent if its Node object is gone, or
// if its kubelet has not renewed its Lease for 25 seconds, or five eighths of what the Lease lasts if that is longer.
type LostNodePolicy struct {
	// replaceAfterSeconds is how long after the start of a group restart such a worker is replaced, if all workers on
	// other nodes have come back, or, in faultTolerance, how long after the end of its grace period. Setting it is a
	// promise that a worker that is cut off from its peers stops, or computes nothing that counts, within this time. In
	// inPlaceRestart it defaults to progress.stallSeconds + dumpSeconds + 15 if stallSeconds is set; otherwise it is
	// required. From 1 to 3600. 0: off, also where the configuration of the manager has a default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	ReplaceAfterSeconds *int32 `json:"replaceAfterSeconds,omitempty"`
}

// ProgressPolicy has the deadlines of workers that give signs of life; they apply to each container separately.
// Only time in which the supervisor could run counts, so a frozen node is not a hang.
type ProgressPolicy struct {
	// startSeconds is how long a worker may take from its start to its first sign. 0 or absent: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartSeconds *int32 `json:"startSeconds,omitempty"`

	// stallSeconds is how long a worker may take from one sign to the next: at least 5. 0 or absent: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StallSeconds *int32 `json:"stallSeconds,omitempty"`

	// maxExtensionSeconds bounds by how much a worker may extend a deadline with EXTEND_TIMEOUT_USEC,
	// counted from its last sign. Defaults to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=3600
	MaxExtensionSeconds *int32 `json:"maxExtensionSeconds,omitempty"`

	// dumpSignal is sent, before a worker that hangs is killed, to each of its processes that catches the
	// signal, so that it writes its stacks to its log: USR1, USR2 or QUIT. Empty: none.
	// +optional
	// +kubebuilder:validation:Enum=USR1;USR2;QUIT
	DumpSignal DumpSignal `json:"dumpSignal,omitempty"`

	// dumpSeconds is how long these processes have to do so: from 1 to 60, 2 by default. Only with dumpSignal.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	DumpSeconds *int32 `json:"dumpSeconds,omitempty"`

	// maxRestartsWithoutProgress limits restarts without progress: the JobSet fails, with reason NoProgress, after
	// this many consecutive group restarts that count towards maxRestarts and ended an epoch in which workers reported
	// steps, but no higher step than before. Workers have to report their steps. 0 or absent: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRestartsWithoutProgress *int32 `json:"maxRestartsWithoutProgress,omitempty"`
}

// DumpSignal is a signal at which a program writes its stacks.
type DumpSignal string

const (
	// DumpSignalUSR1 is SIGUSR1.
	DumpSignalUSR1 DumpSignal = "USR1"
	// DumpSignalUSR2 is SIGUSR2.
	DumpSignalUSR2 DumpSignal = "USR2"
	// DumpSignalQUIT is SIGQUIT.
	DumpSignalQUIT DumpSignal = "QUIT"
)

// FailurePolicyRule is an action and the failed Jobs it applies to. A Job must
// pass all three filters; an empty filter passes every Job.
type FailurePolicyRule struct {
	// name of the rule, unique in the policy: 1 to 128 bytes that match
	// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$. Defaults to failurePolicyRule<index>.
	Name string `json:"name"`

	// action to take.
	Action FailurePolicyAction `json:"action"`

	// onJobFailureReasons are reasons of the Job's Failed condition:
	// BackoffLimitExceeded, DeadlineExceeded, FailedIndexes,
	// MaxFailedIndexesExceeded or PodFailurePolicy.
	// +optional
	OnJobFailureReasons []string `json:"onJobFailureReasons,omitempty"`

	// onJobFailureMessagePatterns are RE2 expressions, one of which must be
	// found in the message of the Job's Failed condition.
	// +optional
	OnJobFailureMessagePatterns []string `json:"onJobFailureMessagePatterns,omitempty"`

	// targetReplicatedJobs are the ReplicatedJobs the Job may belong to.
	// +optional
	// +listType=atomic
	TargetReplicatedJobs []string `json:"targetReplicatedJobs,omitempty"`
}
