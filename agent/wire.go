/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// The parts of the API that the agent uses, as JSON. Importing the API package
// would add 3.8 MB to the binary (see the package comment); wire_test.go checks that
// these match it.
const (
	jobSetGroupVersion = "jobset.x-k8s.io/v1alpha2"
	jobSetNameKey      = "jobset.sigs.k8s.io/jobset-name"
	jobSetUIDKey       = "jobset.sigs.k8s.io/jobset-uid"
	epochKey           = "jobset.sigs.k8s.io/epoch"
	strategyInPlace    = "InPlaceRestart"
	conditionDisabled  = "InPlaceRestartDisabled"
	conditionTrue      = "True"

	initialEventsEndKey = "k8s.io/initial-events-end"
)

// wireMeta is the part of an object's metadata that the agent reads.
type wireMeta struct {
	Name              string            `json:"name"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	DeletionTimestamp *string           `json:"deletionTimestamp"`
	Annotations       map[string]string `json:"annotations"`
}

// wirePod is the part of its own Pod that the agent reads, in the response to its report.
type wirePod struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
}

// wireJobSet is the part of a JobSet that the agent reads.
type wireJobSet struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		Suspend       bool `json:"suspend"`
		FailurePolicy struct {
			RestartStrategy string `json:"restartStrategy"`
			InPlaceRestart  struct {
				Progress *protocol.Progress `json:"progress"`

				PlannedStopGracePeriodSeconds int32  `json:"plannedStopGracePeriodSeconds"`
				PlannedStopSignal             string `json:"plannedStopSignal"`
			} `json:"inPlaceRestart"`
		} `json:"failurePolicy"`

		ReplicatedJobs []struct {
			Name     string `json:"name"`
			Replicas int32  `json:"replicas"`
			Template struct {
				Spec struct {
					Parallelism *int32 `json:"parallelism"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"replicatedJobs"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
		DeprecatedEpoch int32  `json:"deprecatedEpoch"`
		PlannedBreak    bool   `json:"plannedBreak"`
		SyncedEpoch     int32  `json:"syncedEpoch"`
		Restarts        int32  `json:"restarts"`
		InPlaceRestarts int32  `json:"inPlaceRestarts"`
		TerminalState   string `json:"terminalState"`

		LostNodes []struct {
			Node  string `json:"node"`
			Epoch int32  `json:"epoch"`
		} `json:"lostNodes"`

		ReplicatedJobsStatus []struct {
			Name          string `json:"name"`
			SyncedWorkers int32  `json:"syncedWorkers"`
			Address       string `json:"address"`
		} `json:"replicatedJobsStatus"`
	} `json:"status"`
}

// wireList is a list of JobSets.
type wireList struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []wireJobSet `json:"items"`
}

// wireEvent is one event of a watch.
type wireEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// wireStatus is the body of an error response of the API server.
type wireStatus struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Code    int    `json:"code"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
	} `json:"details"`
}

func (s wireStatus) asError() *statusError {
	return &statusError{code: s.Code, reason: s.Reason, message: s.Message, retryAfter: time.Duration(s.Details.RetryAfterSeconds) * time.Second}
}

// Place is where a Pod stands in its JobSet.
type Place struct {
	// ReplicatedJob is empty if it is not known.
	ReplicatedJob string
	// Jobs is the number of Jobs of the ReplicatedJob, Job the index of ours, Index that of the Pod in it.
	Jobs, Job, Index int
	// Master is the DNS name of rank 0 of the ReplicatedJob; empty if it has none.
	Master string
	// Node is the name of the node of the Pod; empty if it is not known.
	Node string
}

// isFirst reports whether the Pod has rank 0.
func (at Place) isFirst() bool { return at.ReplicatedJob != "" && at.Job == 0 && at.Index == 0 }

// world returns the place among the workers of a ReplicatedJob whose Jobs have so many each.
func (at Place) world(each int) protocol.World {
	size := at.Jobs * each
	if at.Job >= at.Jobs || at.Index >= each || size > math.MaxInt32 {
		return protocol.World{}
	}
	return protocol.World{Size: int32(size), Rank: int32(at.Job*each + at.Index), Master: at.Master}
}

// world returns the place of a Pod among the workers of its ReplicatedJob in the synced epoch.
func (o *wireJobSet) world(at Place) protocol.World {
	for _, status := range o.Status.ReplicatedJobsStatus {
		if status.Name != at.ReplicatedJob || at.Jobs < 1 {
			continue
		}
		if protocol.IsAddress(status.Address) {
			at.Master = status.Address
		}
		return at.world(int(status.SyncedWorkers) / at.Jobs)
	}
	return protocol.World{}
}

// outside returns the place of a Pod by the specification: outside of all epochs no status has the sizes (P34).
func (o *wireJobSet) outside(at Place) protocol.World {
	for i := range o.Spec.ReplicatedJobs {
		if o.Spec.ReplicatedJobs[i].Name == at.ReplicatedJob {
			return at.world(workersOf(o.Spec.ReplicatedJobs[i].Template.Spec.Parallelism))
		}
	}
	return protocol.World{}
}

// workersOf returns how many Pods a Job has at a time.
func workersOf(parallelism *int32) int {
	if parallelism == nil {
		return 1
	}
	return max(0, int(*parallelism))
}

// workers returns how many Pods the JobSet has at most at a time: from 0 to MaxInt32, since pauses are multiples of it (W141).
func (o *wireJobSet) workers() int {
	sum := 0
	for i := range o.Spec.ReplicatedJobs {
		each := workersOf(o.Spec.ReplicatedJobs[i].Template.Spec.Parallelism)
		sum = min(sum+max(0, int(o.Spec.ReplicatedJobs[i].Replicas))*each, math.MaxInt32)
	}
	return sum
}

// jobSet returns what Decide needs to know about an object, for the Pod at a place.
func (o *wireJobSet) jobSet(at Place) JobSet {
	js := JobSet{
		Exists:    true,
		UID:       o.Metadata.UID,
		Deleting:  o.Metadata.DeletionTimestamp != nil,
		Suspended: o.Spec.Suspend,
		Ended:     o.Status.TerminalState != "",
		InPlace:   o.Spec.FailurePolicy.RestartStrategy == strategyInPlace,
		// The schema forbids negative epochs; 0 is what absent ones mean.
		Deprecated: max(0, o.Status.DeprecatedEpoch),
		Synced:     max(0, o.Status.SyncedEpoch),
		Restarts:   o.Status.Restarts + o.Status.InPlaceRestarts,
		World:      o.world(at),
		Outside:    o.outside(at),
		Progress:   o.Spec.FailurePolicy.InPlaceRestart.Progress,
		Workers:    o.workers(),
	}
	if policy := o.Spec.FailurePolicy.InPlaceRestart; o.Status.PlannedBreak && policy.PlannedStopGracePeriodSeconds > 0 {
		js.PlannedStop = protocol.PlannedStop{GraceSeconds: policy.PlannedStopGracePeriodSeconds, Signal: policy.PlannedStopSignal}
	}
	for _, lost := range o.Status.LostNodes {
		if at.Node != "" && lost.Node == at.Node {
			js.LostIn = lost.Epoch
		}
	}
	for _, c := range o.Status.Conditions {
		if c.Type == conditionDisabled && c.Status == conditionTrue {
			js.Disabled = true
		}
	}
	return js
}

// errExit: how a worker ended, or what signs it gave, cannot be written, so it is left out.
var errExit = errors.New("the report of a worker cannot be encoded")

// statement is what a report says.
type statement struct {
	// epoch of the Pod; 0 if that is not said.
	epoch int32
	// exit is how a worker ended; nil if that is not said.
	exit *protocol.WorkerExit
	// address is that of the Pod, empty if it is not said. It goes with an epoch only.
	address string
	// progress is what signs a worker gave; nil if that is not said.
	progress *protocol.ProgressReport
	// where it is to be written.
	where where
}

// less returns what to say where a statement is refused, each time less: first without progress, which an older policy does
// not allow, and at last what the group waits for alone.
func (s statement) less() []statement {
	var less []statement
	if s.progress != nil {
		s.progress = nil
		less = append(less, s)
	}
	if s != s.bare() {
		less = append(less, s.bare())
	}
	return less
}

// bare returns the part that the group waits for.
func (s statement) bare() statement { return statement{epoch: s.epoch, where: s.where} }

// patch returns the merge patch that says it. It contains the annotations of what is said, and no other.
func (s statement) patch() ([]byte, error) {
	annotations, err := s.annotations()
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

func (s statement) annotations() (map[string]string, error) {
	annotations := map[string]string{}
	if s.epoch != 0 {
		annotations[epochKey] = strconv.Itoa(int(s.epoch))
		if s.address != "" {
			annotations[protocol.AddressKey] = s.address
		}
	}
	if s.exit != nil {
		value, err := s.exit.Encode()
		if err != nil {
			return nil, errors.Join(errExit, err)
		}
		annotations[protocol.WorkerExitKey] = value
	}
	if s.progress != nil {
		value, err := s.progress.Encode()
		if err != nil {
			return nil, errors.Join(errExit, err)
		}
		annotations[protocol.ProgressKey] = value
	}
	return annotations, nil
}
