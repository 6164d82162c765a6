/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"strconv"
	"time"
)

// What the agent knows of the API, on the wire. Importing the API package and its types
// would add 3.8 MB to the binary (see the package comment); wire_test.go holds these
// equal to it instead.
const (
	jobSetGroupVersion = "jobset.x-k8s.io/v1alpha2"
	jobSetNameKey      = "jobset.sigs.k8s.io/jobset-name"
	epochKey           = "jobset.sigs.k8s.io/epoch"
	disableKey         = "jobset.sigs.k8s.io/disable-in-place-restart"
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

// wireJobSet is the part of a JobSet that the agent reads.
type wireJobSet struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		FailurePolicy struct {
			RestartStrategy string `json:"restartStrategy"`
		} `json:"failurePolicy"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
		DeprecatedEpoch int32 `json:"deprecatedEpoch"`
		SyncedEpoch     int32 `json:"syncedEpoch"`
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

// wireStatus is how the API server says that something went wrong.
type wireStatus struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Code    int    `json:"code"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
	} `json:"details"`
}

func (s wireStatus) retryAfter() time.Duration {
	return time.Duration(s.Details.RetryAfterSeconds) * time.Second
}

// jobSet is what Decide wants to know of an object.
func (o *wireJobSet) jobSet() JobSet {
	_, annotated := o.Metadata.Annotations[disableKey]
	js := JobSet{
		Exists:               true,
		UID:                  o.Metadata.UID,
		Deleting:             o.Metadata.DeletionTimestamp != nil,
		InPlace:              o.Spec.FailurePolicy.RestartStrategy == strategyInPlace,
		DisabledByAnnotation: annotated,
		// The schema forbids negative epochs; 0 is what absent ones mean.
		Deprecated: max(0, o.Status.DeprecatedEpoch),
		Synced:     max(0, o.Status.SyncedEpoch),
	}
	for _, c := range o.Status.Conditions {
		if c.Type == conditionDisabled && c.Status == conditionTrue {
			js.DisabledByGate = true
		}
	}
	return js
}

// epochPatch is the merge patch that reports an epoch: it names nothing but the one annotation.
func epochPatch(epoch int32) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{epochKey: strconv.Itoa(int(epoch))}},
	})
}
