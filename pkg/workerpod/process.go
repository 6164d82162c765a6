/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"path"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// SupervisorName is that of the volume that agent and supervisors share. Versions before had an init container of that name, too.
const SupervisorName = "jobset-supervisor"

// reservedEnv are variables of a worker in process mode that are not its author's.
var reservedEnv = []string{
	protocol.DirEnv, protocol.ContainerEnv, protocol.PassExitCodesEnv, protocol.EpochEnv, protocol.RestartsEnv, protocol.WorldSizeEnv, protocol.RankEnv,
	protocol.VariablesEnv, protocol.StopSignalEnv,
}

// injectProcess adds what process mode needs (P61) to a template without an agent: a supervisor as
// the first process of each worker, since images of workers do not have it in a volume of the Pod; and the
// agent, a sidecar like any other, which restarts alone. The agent installs the supervisor in its postStart
// hook: the kubelet starts no further container before it has ended, and no container is needed for it (P75).
func injectProcess(job *batchv1.Job, policy *jobset.FailurePolicy, with Injection, env environment, spec *corev1.PodSpec) {
	rules := restarts{failures: NewPodFailures(job.Spec.PodFailurePolicy), action: corev1.ContainerRestartRuleActionRestart,
		recreate: append(slices.Clone(RecreatePodOn(policy)), protocol.ExitLeave)}
	names := make([]string, len(spec.Containers))
	for i := range spec.Containers {
		worker := &spec.Containers[i]
		names[i] = worker.Name
		worker.RestartPolicyRules = rules.of(worker.Name)
		worker.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
		supervise(worker)
		env.addAtStart(worker)
		if policy.InPlaceRestart.WarmStart != nil {
			worker.Env = append(worker.Env, corev1.EnvVar{Name: protocol.WarmStartEnv, Value: protocol.WarmStartOn})
		}
		if !with.takesContainerPolicies() {
			worker.RestartPolicyRules, worker.RestartPolicy = nil, nil
		}
		worker.VolumeMounts = append(worker.VolumeMounts, programMount(), meetingMount(), ownMount(worker.Name))
	}
	agent := corev1.Container{
		Name:  DefaultAgentName,
		Image: with.Image,
		Env: slices.Concat(Options{}.agentEnv(), placeEnv(env.Master), []corev1.EnvVar{
			{Name: protocol.WorkerContainersEnv, Value: strings.Join(names, ",")},
			{Name: protocol.AgentDirEnv, Value: protocol.Dir},
			{Name: protocol.StopGraceEnv, Value: strconv.Itoa(int(StopGraceSeconds(policy)))},
		}, with.reportsEnv(env.All)),
		Resources:       agentResources(spec, with),
		RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
		SecurityContext: injectedSecurity(spec),
		VolumeMounts:    []corev1.VolumeMount{{Name: TokenVolumeName, MountPath: TokenPath, ReadOnly: true}, {Name: SupervisorName, MountPath: protocol.Dir}},
		Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{
			Exec: &corev1.ExecAction{Command: []string{protocol.ImageBinary, protocol.InstallCommand, protocol.Dir}},
		}},
	}
	spec.InitContainers = append(spec.InitContainers, agent)
	spec.Volumes = append(spec.Volumes, sharedVolume())
}

// sharedVolumeSize is far above what is stored there: two copies of the supervisor while it is installed, 6 MB, and files of
// some bytes. Of a Pod that writes more the kubelet evicts this one (P61c). It is no memory, which would count
// against the limits of the containers.
const sharedVolumeSize = 64 << 20

func sharedVolume() corev1.Volume {
	return corev1.Volume{Name: SupervisorName, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(sharedVolumeSize, resource.BinarySI)},
	}}
}

// EvictableVolumesKey lists the local volumes that do not keep a cluster autoscaler from moving a Pod.
const EvictableVolumesKey = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"

// AllowEviction adds the volume of the supervisor to that list, whatever else the author has put there (P61d).
func AllowEviction(pod *corev1.PodTemplateSpec) {
	if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == SupervisorName }) {
		return
	}
	volumes := SupervisorName
	if listed := pod.Annotations[EvictableVolumesKey]; listed != "" {
		if slices.Contains(strings.Split(listed, ","), SupervisorName) {
			return
		}
		volumes = listed + "," + volumes
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[EvictableVolumesKey] = volumes
}

// programMount is the part of the shared volume that workers execute. Only the agent has the root of the volume:
// whoever may write there can put another program in the place of the supervisor of its neighbours.
func programMount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: SupervisorName, MountPath: path.Join(protocol.Dir, protocol.BinDir), SubPath: protocol.BinDir, ReadOnly: true}
}

// meetingMount is the part where supervisors meet the agent. To connect to its socket takes no right to write there.
func meetingMount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: SupervisorName, MountPath: path.Join(protocol.Dir, protocol.RunDir), SubPath: protocol.RunDir, ReadOnly: true}
}

// ownMount is the part that a worker has for itself (P61a): what a neighbour could write would be taken for what its supervisor
// wrote. Kubelets make it, for whatever user the container has.
func ownMount(container string) corev1.VolumeMount {
	part := path.Join(protocol.OwnDir, container)
	return corev1.VolumeMount{Name: SupervisorName, MountPath: path.Join(protocol.Dir, part), SubPath: part}
}

// placeEnv tells an agent where its Pod stands, so that it can tell its workers their rank (P102).
func placeEnv(master string) []corev1.EnvVar {
	env := []corev1.EnvVar{
		fromField(ReplicatedJobEnv, "metadata.labels['"+jobset.ReplicatedJobNameKey+"']"),
		fromField(ReplicasEnv, "metadata.labels['"+jobset.ReplicatedJobReplicas+"']"),
		fromField(JobIndexEnv, "metadata.labels['"+jobset.JobIndexKey+"']"),
		fromField(PodAddressEnv, "status.podIP"),
		fromField(NodeNameEnv, "spec.nodeName"),
		fromField(PodIndexEnv, "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']"),
	}
	if master != "" {
		env = append(env, corev1.EnvVar{Name: MasterNameEnv, Value: master})
	}
	return env
}

// reportsEnv tells an agent of so many where to report, if not on its Pod (P150).
func (with Injection) reportsEnv(workers int64) []corev1.EnvVar {
	if with.LeasesUnread || with.LeaseReportsFrom == 0 || workers < with.LeaseReportsFrom {
		return nil
	}
	return []corev1.EnvVar{fromField(PodUIDEnv, "metadata.uid"), {Name: ReportsEnv, Value: protocol.ReportsLease}}
}

// ReportsInLease reports whether the agent that was added to a Pod template is to report in a Lease.
func ReportsInLease(spec *corev1.PodSpec) bool {
	for i := range spec.InitContainers {
		agent := &spec.InitContainers[i]
		if at := FindEnv(agent, ReportsEnv); at >= 0 && agent.Env[at].Value == protocol.ReportsLease {
			return true
		}
	}
	return false
}

// supervisor is where a container finds it.
var supervisor = path.Join(protocol.Dir, protocol.Binary)

// Supervised reports whether a supervisor is the first process of a container.
func Supervised(worker *corev1.Container) bool {
	return len(worker.Command) > 0 && worker.Command[0] == supervisor
}

// supervise puts a supervisor before the command of a worker, whose restart rules are set.
func supervise(worker *corev1.Container) {
	worker.Command = append([]string{supervisor, "--"}, worker.Command...)
	worker.Env = append(worker.Env,
		corev1.EnvVar{Name: protocol.DirEnv, Value: protocol.Dir},
		corev1.EnvVar{Name: protocol.ContainerEnv, Value: worker.Name})
	worker.Env = append(worker.Env, stopSignalEnv(worker)...)
	if pass := passedCodes(worker.RestartPolicyRules); pass != "" {
		worker.Env = append(worker.Env, corev1.EnvVar{Name: protocol.PassExitCodesEnv, Value: pass})
	}
}

// passedCodes are those with which a supervisor ends as its worker did, since Kubernetes acts on them (P68).
func passedCodes(rules []corev1.ContainerRestartRule) string {
	actions := Actions(rules)
	passed := func(code int32) bool {
		return code <= maxExitCode && code != protocol.ExitLeave && actions[code] == ""
	}
	var ranges []string
	for first := int32(1); first <= maxExitCode; first++ {
		if !passed(first) {
			continue
		}
		last := first
		for passed(last + 1) {
			last++
		}
		text := strconv.Itoa(int(first))
		if last > first {
			text += "-" + strconv.Itoa(int(last))
		}
		ranges, first = append(ranges, text), last
	}
	return strings.Join(ranges, ",")
}

// StopGraceSeconds returns how long a worker in process mode has between SIGTERM and SIGKILL.
func StopGraceSeconds(policy *jobset.FailurePolicy) int32 {
	return ptr.Deref(inPlaceOf(policy).StopGracePeriodSeconds, jobset.DefaultStopGracePeriodSeconds)
}

// PlannedStopSeconds returns how long a worker has to end at a planned stop, 0 if no stop is planned (P142).
func PlannedStopSeconds(policy *jobset.FailurePolicy) int32 {
	if ModeOf(policy) != jobset.ProcessMode {
		return 0
	}
	return ptr.Deref(policy.InPlaceRestart.PlannedStopGracePeriodSeconds, 0)
}
