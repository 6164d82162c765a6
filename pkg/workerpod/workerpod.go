/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// DefaultAgentName is the name of the agent container.
const DefaultAgentName = "jobset-agent"

// BackoffLimit is what the Job needs so that recreated Pods never fail it: failures are counted by the JobSet.
const BackoffLimit int32 = math.MaxInt32

// Options say what an agent cannot know. The zero value lacks only the image.
type Options struct {
	// AgentImage is the image of the agent.
	AgentImage string
	// BarrierPort is where the agent serves the barrier. Defaults to DefaultBarrierPort.
	// Pods on the host network need a free one.
	BarrierPort int32
	// Resources of the agent. Defaults to a small request and a memory limit.
	Resources *corev1.ResourceRequirements
}

// DefaultJob fills in what InPlaceRestart wants of a Job and can only be one way (P51).
func DefaultJob(job *batchv1.JobSpec) {
	setDefault(&job.BackoffLimit, BackoffLimit)
	setDefault(&job.PodReplacementPolicy, batchv1.Failed)
	setDefault(&job.CompletionMode, jobset.DefaultCompletionMode)
	DefaultSize(job, 1)
	job.Template.Spec.RestartPolicy = cmp.Or(job.Template.Spec.RestartPolicy, jobset.DefaultInPlaceRestartPolicy)
}

// mostCounted is how many completions a Job may have that counts each index without such a limit.
const mostCounted = 100_000

// CountEachIndex makes the Job controller count the failures of each index by itself, so that a Pod that is lost does not double the
// wait for the next one of another index, and never give one up (P170). Only Indexed Jobs may have this, and above mostCounted
// indexes the API server asks for a limit of those that are given up.
func CountEachIndex(job *batchv1.JobSpec) {
	if ptr.Deref(job.CompletionMode, "") == batchv1.IndexedCompletion && ptr.Deref(job.Completions, 1) <= mostCounted {
		setDefault(&job.BackoffLimitPerIndex, BackoffLimit)
	}
}

// DefaultSize makes completions and parallelism follow one another.
func DefaultSize(job *batchv1.JobSpec, workers int32) {
	workers = ptr.Deref(job.Parallelism, ptr.Deref(job.Completions, workers))
	setDefault(&job.Completions, workers)
	setDefault(&job.Parallelism, workers)
}

// Agent returns the agent container of a Pod in container mode. An agent that templates bring is made of it, too.
func Agent(opts Options) corev1.Container {
	agent := corev1.Container{
		Name: DefaultAgentName, Image: opts.AgentImage, Env: opts.agentEnv(),
		RestartPolicyRules: RestartAllUnless(ConfigExitCode), SecurityContext: restricted(),
		StartupProbe: StartupProbe(cmp.Or(opts.BarrierPort, DefaultBarrierPort)),
	}
	setDefault(&agent.RestartPolicy, corev1.ContainerRestartPolicyAlways)
	agent.Resources.Requests, agent.Resources.Limits = opts.resources()
	return agent
}

// StartupProbe returns the probe that holds the workers until the barrier
// lifts. It waits on the server side: a probe by ticks would release the
// worker up to a second later. It never gives up by itself, a group may wait
// for its last member for as long as the cluster needs.
func StartupProbe(port int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: BarrierPath + "?wait=50",
			Port: intstr.FromInt32(port),
		}},
		TimeoutSeconds:   60,
		PeriodSeconds:    1,
		FailureThreshold: 1000000,
	}
}

// agentEnv takes the name and the UID of the JobSet from the labels of the
// Pod, so that one manifest works under any name, generateName included.
func (o Options) agentEnv() []corev1.EnvVar {
	env := []corev1.EnvVar{
		fromField(NamespaceEnv, "metadata.namespace"),
		fromField(PodNameEnv, "metadata.name"),
		fromField(JobSetNameEnv, "metadata.labels['"+jobset.JobSetNameKey+"']"),
		fromField(JobSetUIDEnv, "metadata.labels['"+jobset.JobSetUIDKey+"']"),
	}
	if o.BarrierPort != 0 {
		env = append(env, corev1.EnvVar{Name: BarrierPortEnv, Value: strconv.Itoa(int(o.BarrierPort))})
	}
	return env
}

// resources has no CPU limit: throttled to a tenth of a core the agent would
// take half a second to report, and thousands of agents wait for the last one.
func (o Options) resources() (requests, limits corev1.ResourceList) {
	r := configapi.DefaultAgentResources()
	if o.Resources != nil {
		r = *o.Resources.DeepCopy()
	}
	return r.Requests, r.Limits
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

func restricted() *corev1.SecurityContext {
	sc := &corev1.SecurityContext{
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	setDefault(&sc.RunAsNonRoot, true)
	setDefault(&sc.RunAsUser, int64(65532))
	setDefault(&sc.ReadOnlyRootFilesystem, true)
	setDefault(&sc.AllowPrivilegeEscalation, false)
	return sc
}

// seccompProfile leaves it to the Pod, as long as it speaks for all of its
// containers: a profile of the agent's own delays every start, by more than a
// second where 20 Pods share two cores. Where the containers bring their own,
// the agent must not be the one that Pod Security refuses.
func seccompProfile(spec *corev1.PodSpec) *corev1.SeccompProfile {
	if spec.SecurityContext != nil && spec.SecurityContext.SeccompProfile != nil {
		return nil
	}
	for i := range spec.Containers {
		if sc := spec.Containers[i].SecurityContext; sc != nil && sc.SeccompProfile != nil {
			return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
		}
	}
	return nil
}

// setDefault fills an absent field.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// sorted returns each code once, ascending, as the Job API demands.
func sorted(codes []int32) []int32 {
	out := slices.Clone(codes)
	slices.Sort(out)
	return slices.Compact(out)
}
