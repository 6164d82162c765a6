/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RestartKind is what was restarted.
type RestartKind string

const (
	// RestartedInPlace: the containers of all workers, in their Pods.
	RestartedInPlace RestartKind = "InPlace"
	// RestartedAllJobs: all Jobs were recreated.
	RestartedAllJobs RestartKind = "AllJobs"
	// RestartedJob: single Jobs were recreated.
	RestartedJob RestartKind = "Job"
	// RestartedByReset: all Jobs were recreated, of a JobSet with faultTolerance.
	RestartedByReset RestartKind = "Reset"
)

// RestartRecord is one restart. Nothing is decided by it.
type RestartRecord struct {
	// kind is InPlace, AllJobs, Job, or Reset.
	// +kubebuilder:validation:MaxLength=16
	Kind RestartKind `json:"kind"`

	// epoch of the workers that restarted in place.
	// +optional
	Epoch int32 `json:"epoch,omitempty"`

	// attempt is status.restarts with this restart, if all Jobs were recreated.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`

	// count is how many single Jobs were recreated within a minute. The cause is that of the first. Absent means 1.
	// +optional
	Count int32 `json:"count,omitempty"`

	// reason is that of the condition RestartingJobSet.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// cause is what failed first, or why nothing had to.
	Cause RestartCause `json:"cause"`

	// planned says that nothing failed.
	// +optional
	Planned bool `json:"planned,omitempty"`

	// began is when the restart was decided.
	Began metav1.MicroTime `json:"began"`

	// notBefore is until when the workers of a group wait, after failures in quick succession.
	// +optional
	NotBefore *metav1.Time `json:"notBefore,omitempty"`

	// ended is when all workers were released, or all Jobs were ready. It stays absent if the JobSet was suspended or ended
	// before that, and for single Jobs.
	// +optional
	Ended *metav1.MicroTime `json:"ended,omitempty"`

	// workers is how many restarted in place.
	// +optional
	Workers int64 `json:"workers,omitempty"`

	// starts is how they started again, with warm start. It is known one restart later.
	// +optional
	Starts *RestartStarts `json:"starts,omitempty"`

	// suspect says, of a group that hung, which worker stood out, and why, or that none did.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Suspect string `json:"suspect,omitempty"`
}

// RestartCauseType is how something failed.
type RestartCauseType string

const (
	// CauseExited: a container ended.
	CauseExited RestartCauseType = "Exited"
	// CauseSilent: a worker gave no sign after its last one.
	CauseSilent RestartCauseType = "Silent"
	// CauseNeverSigned: a worker gave no sign since its start.
	CauseNeverSigned RestartCauseType = "NeverSigned"
	// CauseTriggered: a worker said that it hangs.
	CauseTriggered RestartCauseType = "Triggered"
	// CauseDeleted: a Pod was deleted.
	CauseDeleted RestartCauseType = "Deleted"
	// CauseFailed: a Pod failed as a whole.
	CauseFailed RestartCauseType = "Failed"
	// CauseSandboxLost: a Pod lost its sandbox, as when its node restarts.
	CauseSandboxLost RestartCauseType = "SandboxLost"
	// CauseCannotRestart: a Pod could not restart in place.
	CauseCannotRestart RestartCauseType = "CannotRestart"
	// CauseUnseen: a worker restarted and its end was not seen.
	CauseUnseen RestartCauseType = "Unseen"
	// CauseLost: a Job lacks a worker.
	CauseLost RestartCauseType = "Lost"
	// CauseJobFailed: a Job failed.
	CauseJobFailed RestartCauseType = "JobFailed"
	// CauseOther: see message.
	CauseOther RestartCauseType = "Other"
)

// RestartCause is what failed first, as far as it was seen.
type RestartCause struct {
	// type is Exited, Silent, NeverSigned, Triggered, Deleted, Failed, SandboxLost, CannotRestart, Unseen, Lost, JobFailed, or Other.
	// +kubebuilder:validation:MaxLength=32
	Type RestartCauseType `json:"type"`

	// job that failed, or lacks a worker.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Job string `json:"job,omitempty"`

	// pod that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Pod string `json:"pod,omitempty"`

	// node on which it ran.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// container that ended.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// exitCode of the container. A code above 128 is 128 plus the number of the signal that ended it.
	// +optional
	ExitCode int32 `json:"exitCode,omitempty"`

	// reason is the kubelet's, such as OOMKilled, that of a disruption, or the agent's if the Pod could not restart in place.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// silentSeconds is for how long the worker had given no sign.
	// +optional
	SilentSeconds int32 `json:"silentSeconds,omitempty"`

	// step is the last that the worker told.
	// +optional
	Step int64 `json:"step,omitempty"`

	// message is the cause if it has no fields of its own, such as Pods that were missing for too long.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// RestartStarts is how the workers of an epoch were started.
type RestartStarts struct {
	// warm workers were started from a standby.
	Warm int32 `json:"warm"`

	// cold workers were started without one.
	Cold int32 `json:"cold"`

	// warmSign is how long the last warm one took from its start to its first sign, absent if none gave one.
	// +optional
	WarmSign *metav1.Duration `json:"warmSign,omitempty"`

	// coldSign is the same of cold ones.
	// +optional
	ColdSign *metav1.Duration `json:"coldSign,omitempty"`
}
