/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"

	utilversion "k8s.io/apimachinery/pkg/util/version"

	"sigs.k8s.io/jobset/pkg/version"
)

// LeaseReportsFrom is the number of workers from which they report in Leases by Configuration: most groups of stories have fewer.
const LeaseReportsFrom int32 = 3

// Configuration is a file for the manager that config/default installs, with every field of the configuration.
func Configuration() string {
	return `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: {port: 9443, host: "", certDir: /tmp/k8s-webhook-server/serving-certs, clientCAFile: ""}
metrics: {bindAddress: ":8443", certDir: ""}
health: {healthProbeBindAddress: ":8081", readinessEndpointName: readyz, livenessEndpointName: healthz}
leaderElection: {leaderElect: true, leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s, resourceLock: leases, resourceName: 6d4f6a47.jobset.x-k8s.io, resourceNamespace: ""}
internalCertManagement: {enable: true, webhookServiceName: jobset-webhook-service, webhookSecretName: jobset-webhook-server-cert}
` + Sections()
}

// Sections are those of Configuration that do not depend on where the manager runs. The file is for the next release: a manager
// that was rolled back ignores what it does not know, also where it calls itself of this one.
func Sections() string {
	this := utilversion.MustParseGeneric(version.Release)
	return fmt.Sprintf(`release: v%d.%d
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]}
clientConnection: {qps: 400, burst: 400}
controller: {maxConcurrentReconciles: 4}
inPlaceRestart:
  agentImage: %s
  agentResources: {requests: {cpu: 5m, memory: 24Mi}, limits: {memory: 64Mi}}
  environment: Torch
  reports: Auto
  leaseReportsFrom: %d
  progress: {startSeconds: 900, stallSeconds: 900, maxExtensionSeconds: 3600, dumpSignal: USR1, dumpSeconds: 5, maxRestartsWithoutProgress: 50}
  lostNode: {replaceAfterSeconds: 3600}
  createAccess: true
  assemblyGracePeriod: 9m
  preparationGracePeriod: 50m
  forcefulDeletionGracePeriod: 8m
  notReadyGracePeriod: 2m
  quickFailureMaxPause: 0s
faultTolerance:
  gracePeriodMaximum: 12h
  admissionGracePeriod: 2m
  warmupGracePeriod: 8m
  failureGracePeriod: 8m
  retryPause: 30s
  retryLimit: 10
  deletionOnFailureGracePeriod: 1s
  forcefulDeletion: true
  forcefulDeletionGracePeriod: 9m
  successTTL: 24h
elasticAutoscaling: {interval: 10s, cooldownUp: 1m, cooldownDown: 1s, shrinkAfter: 3m, accelerators: [%s], reservePercent: 10}
nodeHealth:
  injectAntiAffinities: true
  monitorNodes: true
  resourceTaints: {%[5]s: [{key: example.com/health, value: BAD, effect: NoExecute}]}
featureGates:
  {InPlaceRestart: true, RestartJob: true, ElasticJobSet: true, ElasticAutoscaling: true, FaultTolerance: true, TLSOptions: true,
   ExecutionAttemptsTracking: true, MutablePodResourcesForSuspendedJobSets: true, JobSetActiveDeadlineSeconds: true}
`, this.Major(), this.Minor()+1, AgentImage, LeaseReportsFrom, Accelerator)
}
