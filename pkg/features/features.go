/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package features declares the feature gates of the manager. Only commands and
// their wiring import it; decisions take a gates.Set.
package features

import (
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"

	"sigs.k8s.io/jobset/pkg/gates"
)

const (
	// InPlaceRestart allows `restartStrategy: InPlaceRestart`: healthy worker Pods restart in place, and only failed Pods are recreated.
	//
	// KEP-467, alpha, off.
	// +reference=gates | alpha | `false`
	InPlaceRestart featuregate.Feature = "InPlaceRestart"

	// RestartJob allows the failure policy actions that restart a single Job: `RestartJob` and `RestartJobAndIgnoreMaxRestarts`.
	//
	// KEP-262, alpha, off.
	// +reference=gates | alpha | `false`
	RestartJob featuregate.Feature = "RestartJob"

	// ElasticJobSet allows `parallelism` and `completions` of Indexed Jobs to change while the JobSet lives.
	//
	// KEP-463, alpha, off.
	// +reference=gates | alpha | `false`
	ElasticJobSet featuregate.Feature = "ElasticJobSet"

	// FaultTolerance allows `spec.faultTolerance`: an unhealthy JobSet is reset, after a pause and up to a limit.
	//
	// Alpha, off.
	// +reference=gates | alpha | `false`
	FaultTolerance featuregate.Feature = "FaultTolerance"

	// ElasticAutoscaling lets the manager change the sizes of elastic ReplicatedJobs by what the cluster has free. Needs `ElasticJobSet`.
	//
	// Alpha, off.
	// +reference=gates | alpha | `false`
	ElasticAutoscaling featuregate.Feature = "ElasticAutoscaling"

	// ExecutionAttemptsTracking counts each execution of a JobSet, also those after a suspension, in `status.executionAttempts` and an
	// annotation of its Jobs and Pods.
	//
	// KEP-1282, alpha, off.
	// +reference=gates | alpha | `false`
	ExecutionAttemptsTracking featuregate.Feature = "ExecutionAttemptsTracking"

	// MutablePodResourcesForSuspendedJobSets allows requests and limits of containers to change while a JobSet is suspended. Before
	// Kubernetes 1.36, the API server needs its gate `MutablePodResourcesForSuspendedJobs`.
	//
	// KEP-1150, alpha, off.
	// +reference=gates | alpha | `false`
	MutablePodResourcesForSuspendedJobSets featuregate.Feature = "MutablePodResourcesForSuspendedJobSets"

	// JobSetActiveDeadlineSeconds allows `spec.activeDeadlineSeconds`: a JobSet that is active for longer fails.
	//
	// KEP-1186, alpha, off.
	// +reference=gates | alpha | `false`
	JobSetActiveDeadlineSeconds featuregate.Feature = "JobSetActiveDeadlineSeconds"

	// TLSOptions lets `tls` of the configuration set the TLS version and cipher suites of the servers.
	//
	// GA, on, cannot be turned off.
	// +reference=gates | GA | `true`, locked
	TLSOptions featuregate.Feature = "TLSOptions"
)

// New returns the gates of the manager at their defaults. Each command has its
// own: there is no process-wide gate, so tests can run with different gates.
func New() featuregate.MutableVersionedFeatureGate {
	gate := featuregate.NewVersionedFeatureGate(utilversion.MustParse("0.13"))
	if err := gate.AddVersioned(defaults); err != nil {
		panic(err) // the table below contradicts itself
	}
	return gate
}

var defaults = map[featuregate.Feature]featuregate.VersionedSpecs{
	InPlaceRestart:     newAlpha(),
	RestartJob:         newAlpha(),
	ElasticJobSet:      newAlpha(),
	FaultTolerance:     newAlpha(),
	ElasticAutoscaling: newAlpha(),

	ExecutionAttemptsTracking:              newAlpha(),
	MutablePodResourcesForSuspendedJobSets: newAlpha(),
	JobSetActiveDeadlineSeconds:            newAlpha(),

	TLSOptions: {
		{Version: utilversion.MustParse("0.13"), Default: true, LockToDefault: true, PreRelease: featuregate.GA},
	},
}

// newAlpha is how a gate begins: off by default.
func newAlpha() featuregate.VersionedSpecs {
	return featuregate.VersionedSpecs{{Version: utilversion.MustParse("0.13"), Default: false, PreRelease: featuregate.Alpha}}
}

// Snapshot returns the gates as the value that decisions take.
func Snapshot(gate featuregate.FeatureGate) gates.Set {
	return gates.Set{
		InPlaceRestart:     gate.Enabled(InPlaceRestart),
		RestartJob:         gate.Enabled(RestartJob),
		ElasticJobSet:      gate.Enabled(ElasticJobSet),
		FaultTolerance:     gate.Enabled(FaultTolerance),
		ElasticAutoscaling: gate.Enabled(ElasticAutoscaling),

		ExecutionAttemptsTracking:              gate.Enabled(ExecutionAttemptsTracking),
		MutablePodResourcesForSuspendedJobSets: gate.Enabled(MutablePodResourcesForSuspendedJobSets),
		JobSetActiveDeadlineSeconds:            gate.Enabled(JobSetActiveDeadlineSeconds),
	}
}
