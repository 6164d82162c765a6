/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
)

// The environment variables of an agent.
const (
	// envNamespace holds the namespace of Pod and JobSet: `metadata.namespace`.
	// +reference=variables-of-agent | required
	envNamespace = "NAMESPACE"
	// envPodName holds the only Pod that the agent writes: `metadata.name`.
	// +reference=variables-of-agent | required
	envPodName = "POD_NAME"
	// envJobSetName holds the only JobSet that it reads: `metadata.labels['jobset.sigs.k8s.io/jobset-name']`.
	// +reference=variables-of-agent | required
	envJobSetName = "JOBSET_NAME"
	// envJobSetUID: with another UID a JobSet of that name counts as absent: `metadata.labels['jobset.sigs.k8s.io/jobset-uid']`.
	// +reference=variables-of-agent | that of the first JobSet read, until the report returns the label of the Pod
	envJobSetUID = "JOBSET_UID"
	// envRestartExitCode asks for a restart of the Pod in place: 1 to 255, not 64. The rule of the agent's container has to cover it.
	// +reference=variables-of-agent | `88`
	envRestartExitCode = "RESTART_POD_IN_PLACE_EXIT_CODE"
	// envBarrierPort holds the TCP port of the startup probe, which has to name the same.
	// +reference=variables-of-agent | `8080`
	envBarrierPort = "BARRIER_PORT"
	// envBarrierAddress holds the IP address of the startup probe.
	// +reference=variables-of-agent | all addresses
	envBarrierAddress = "BARRIER_ADDRESS"
	// envKubeconfig holds the path of one kubeconfig file.
	// +reference=variables-of-agent | the service account of the Pod
	envKubeconfig = "KUBECONFIG"
	// envReports holds `Pod`, or in process mode `Lease`; set by `reports` of the manager.
	// +reference=variables-of-agent | `Pod`
	envReports = "JOBSET_REPORTS"
	// envPodUID holds the owner of the Lease: `metadata.uid`.
	// +reference=variables-of-agent | required for `Lease`
	envPodUID = "POD_UID"

	// Of process mode are these, and those of package protocol.

	// envReplicatedJob holds the name of the ReplicatedJob: `metadata.labels['jobset.sigs.k8s.io/replicatedjob-name']`.
	// +reference=variables-of-agent-in-process-mode | no `JOBSET_WORLD_SIZE`, `JOBSET_RANK`
	envReplicatedJob = "REPLICATED_JOB_NAME"
	// envReplicas holds the number of its Jobs: `metadata.labels['jobset.sigs.k8s.io/replicatedjob-replicas']`.
	// +reference=variables-of-agent-in-process-mode | `1`
	envReplicas = "REPLICATED_JOB_REPLICAS"
	// envJobIndex holds the index of the Job among them: `metadata.labels['jobset.sigs.k8s.io/job-index']`.
	// +reference=variables-of-agent-in-process-mode | `0`
	envJobIndex = "JOB_INDEX"
	// envPodIndex holds the index of the Pod in the Job: `metadata.annotations['batch.kubernetes.io/job-completion-index']`.
	// +reference=variables-of-agent-in-process-mode | `0`
	envPodIndex = "JOB_COMPLETION_INDEX"
	// envNodeName: workers that still run on a node on which they were replaced (`lostNode`) are killed without a grace period:
	// `spec.nodeName`.
	// +reference=variables-of-agent-in-process-mode | none
	envNodeName = "NODE_NAME"
	// envPodAddress: reported by rank 0 if it is IPv4: `status.podIP`.
	// +reference=variables-of-agent-in-process-mode | none
	envPodAddress = "POD_IP"
	// envMasterName holds the DNS name of the first Pod of the ReplicatedJob, for `JOBSET_MASTER_ADDR` without a reported address.
	// +reference=variables-of-agent-in-process-mode | none
	envMasterName = "MASTER_NAME"
)

const (
	defaultRestartExitCode = 88
	defaultBarrierPort     = 8080
)

// Config holds the settings of an agent, which come from its environment.
type Config struct {
	// Namespace of the Pod and of its JobSet.
	Namespace string
	// PodName is the only Pod the agent ever writes.
	PodName string
	// JobSetName is the only JobSet the agent ever reads.
	JobSetName string
	// JobSetUID, when set, makes a JobSet of the same name but another UID count as absent.
	// When empty, the UID of the first JobSet read takes its place until the Pod's own label is known.
	JobSetUID string
	// RestartExitCode ends the process when the Pod must restart in place; 0 means 88.
	RestartExitCode int
	// BarrierPort and BarrierAddress are where the startup probe is answered; no address means all.
	BarrierPort    int
	BarrierAddress string
	// Kubeconfig is a path; empty means the service account of the Pod.
	Kubeconfig string
	// Containers are those that run workers, in process mode; empty means container mode.
	Containers []string
	// SupervisorDir is where agent and supervisors find each other.
	SupervisorDir string
	// Place is where the Pod stands in its JobSet, in process mode.
	Place Place
	// Address is that of the Pod, if the others need it because it has rank 0 (P122).
	Address string
	// ReportsInLease: reports go to a Lease, whose owner is the Pod with PodUID (P151).
	ReportsInLease bool
	PodUID         string
	// StopGrace is how long a worker may take to end when it is told to.
	StopGrace time.Duration
}

// FromEnv reads a Config. The error joins one setting.Error per wrong variable.
func FromEnv(lookup func(string) (string, bool)) (Config, error) {
	env := environment{setting.Env{Lookup: lookup}}
	cfg := Config{
		Namespace:       env.name(envNamespace, "metadata.namespace", validation.IsDNS1123Label),
		PodName:         env.name(envPodName, "metadata.name", validation.IsDNS1123Subdomain),
		JobSetName:      env.name(envJobSetName, "metadata.labels['"+jobSetNameKey+"']", validation.IsDNS1123Subdomain),
		JobSetUID:       env.Get(envJobSetUID),
		RestartExitCode: env.Number(envRestartExitCode, defaultRestartExitCode, 1, 255),
		Kubeconfig:      env.Get(envKubeconfig),
	}
	if cfg.Containers = env.containers(); len(cfg.Containers) > 0 {
		cfg.SupervisorDir = env.directory()
		cfg.Place = env.place()
		// An address of IPv6 is not told: programs write it in more than one way, and the DNS name serves.
		if address := env.Get(envPodAddress); cfg.Place.isFirst() && protocol.IsAddress(address) {
			cfg.Address = address
		}
		cfg.ReportsInLease, cfg.PodUID = env.reports()
		cfg.StopGrace = time.Duration(env.Number(protocol.StopGraceEnv, protocol.DefaultStopGraceSeconds, 0, protocol.MaxStopGraceSeconds)) * time.Second
	} else {
		cfg.BarrierPort = env.Number(envBarrierPort, defaultBarrierPort, 1, 65535)
		cfg.BarrierAddress = env.barrierAddress()
	}
	if cfg.RestartExitCode == setting.ExitCode {
		env.Reject(envRestartExitCode, fmt.Sprintf("is %d, which the agent uses for wrong settings", setting.ExitCode),
			"set another code from 1 to 255, or leave it out for "+strconv.Itoa(defaultRestartExitCode))
	}
	if err := env.Err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// environment reads what only an agent has.
type environment struct{ setting.Env }

func (e *environment) name(variable, fieldPath string, check func(string) []string) string {
	value := e.Get(variable)
	// Names become parts of a URL path, so only valid names may pass.
	if problems := check(value); value == "" {
		e.Reject(variable, "is not set", fromField(fieldPath))
	} else if len(problems) > 0 {
		e.Reject(variable, fmt.Sprintf("is %q: %s", value, strings.Join(problems, ", ")), fromField(fieldPath))
	}
	return value
}

func fromField(path string) string {
	return "let the agent's env take it from the downward API, fieldPath " + path
}

// reports reads where reports go. Only the manager that built the Pod knows whether it reads Leases, so its word is needed, and all that
// the Lease is known by.
func (e *environment) reports() (inLease bool, podUID string) {
	switch where := e.Get(envReports); where {
	case "", protocol.ReportsPod:
		return false, ""
	case protocol.ReportsLease:
	default:
		e.Reject(envReports, fmt.Sprintf("is %q", where), "set "+protocol.ReportsPod+" or "+protocol.ReportsLease+", or leave it out for "+protocol.ReportsPod)
		return false, ""
	}
	for _, needed := range [][2]string{{envPodUID, "metadata.uid"}, {envJobSetUID, "metadata.labels['" + jobSetUIDKey + "']"}} {
		if e.Get(needed[0]) == "" {
			e.Reject(needed[0], "is not set, but "+envReports+" is "+protocol.ReportsLease, fromField(needed[1]))
		}
	}
	return true, e.Get(envPodUID)
}

// place reads where the Pod stands in its JobSet. An agent that does not know it tells its workers nothing about it.
func (e *environment) place() Place {
	return Place{
		ReplicatedJob: e.Get(envReplicatedJob),
		Jobs:          e.Number(envReplicas, 1, 1, math.MaxInt32),
		Job:           e.Number(envJobIndex, 0, 0, math.MaxInt32),
		Index:         e.Number(envPodIndex, 0, 0, math.MaxInt32),
		Master:        e.master(),
		Node:          e.Get(envNodeName),
	}
}

// master reads the name that workers get as the address of rank 0.
func (e *environment) master() string {
	name := e.Get(envMasterName)
	if problems := validation.IsDNS1123Subdomain(name); name != "" && len(problems) > 0 {
		e.Reject(envMasterName, fmt.Sprintf("is %q: %s", name, strings.Join(problems, ", ")),
			"set the DNS name of the first Pod of the ReplicatedJob, or leave it out")
	}
	return name
}

func (e *environment) barrierAddress() string {
	text := e.Get(envBarrierAddress)
	if _, err := netip.ParseAddr(text); text != "" && err != nil {
		e.Reject(envBarrierAddress, fmt.Sprintf("is %q, which is not an IP address", text),
			"set an address of the Pod, or leave it out for all addresses")
	}
	return text
}

// containers reads the names that select process mode.
func (e *environment) containers() []string {
	text := e.Get(protocol.WorkerContainersEnv)
	if text == "" {
		return nil
	}
	names := strings.Split(text, ",")
	for i, name := range names {
		problems := validation.IsDNS1123Label(name)
		if slices.Contains(names[:i], name) {
			problems = append(problems, "it is listed twice")
		}
		if len(problems) > 0 {
			e.Reject(protocol.WorkerContainersEnv, fmt.Sprintf("has the container %q: %s", name, strings.Join(problems, ", ")),
				"set the names of all regular containers of the Pod, separated by commas, or leave it out if they have no supervisor")
		}
	}
	return names
}

func (e *environment) directory() string {
	fix := "set the path at which a volume is mounted that all containers of the Pod share, such as " + protocol.Dir
	path := e.Directory(protocol.AgentDirEnv, protocol.Socket, protocol.MaxSocketPath, fix)
	if path == "" {
		e.Reject(protocol.AgentDirEnv, "is not set, but "+protocol.WorkerContainersEnv+" is", fix)
	}
	return path
}
