/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const (
	// TokenVolumeName is the volume with the agent's own token.
	TokenVolumeName = "jobset-agent-token"
	// TokenPath is where a container finds its token, unless a kubeconfig says otherwise.
	TokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"

	tokenSeconds int64 = 3600
	// agentUser is the user ID of the agent if that of the Pod is 0.
	agentUser int64 = 65532
)

// Inject returns the Pod template of a Job with an agent added (P50): the agent and its
// token, and, depending on the mode of the failure policy, a probe and rules by which the
// containers restart in place, or a supervisor in each of them (P61). Exit codes that
// podFailurePolicy acts on, and recreatePodOnExitCodes of the failure policy, do not restart
// workers in place. Workers find in their environment where they stand (P120).
//
// Fields that the template sets keep their values. A template that holds an agent is
// returned unchanged.
func Inject(job *batchv1.Job, policy *jobset.FailurePolicy, with Injection, at Place) corev1.PodTemplateSpec {
	out := *job.Spec.Template.DeepCopy()
	spec := &out.Spec
	if HoldsAgent(spec) {
		return out
	}
	spec.RestartPolicy = cmp.Or(spec.RestartPolicy, corev1.RestartPolicyNever)
	spec.ServiceAccountName = serviceAccount(spec) // required in a Pod with a token volume
	env := environmentOf(policy, with, at, spec)
	if ModeOf(policy) == jobset.ProcessMode {
		injectProcess(job, policy, with, env, spec)
		AllowEviction(&out)
	} else {
		injectContainer(job, policy, with, env, spec)
	}
	spec.Volumes = append(spec.Volumes, tokenVolume())
	return out
}

// injectContainer adds the agent and the rules by which all containers of a Pod restart.
func injectContainer(job *batchv1.Job, policy *jobset.FailurePolicy, with Injection, env environment, spec *corev1.PodSpec) {
	rules := restarts{failures: NewPodFailures(job.Spec.PodFailurePolicy), action: corev1.ContainerRestartRuleActionRestartAllContainers, recreate: RecreatePodOn(policy)}
	for i := range spec.Containers {
		worker := &spec.Containers[i]
		if len(worker.RestartPolicyRules) == 0 {
			worker.RestartPolicyRules = rules.of(worker.Name)
		}
		setDefault(&worker.RestartPolicy, corev1.ContainerRestartPolicyNever)
		env.addFixed(worker)
	}
	spec.InitContainers = append(spec.InitContainers, injectedAgent(spec, job.Name, with))
}

// RecreatePodOn returns the exit codes on which a failure policy asks for a new Pod.
func RecreatePodOn(policy *jobset.FailurePolicy) []int32 {
	return inPlaceOf(policy).RecreatePodOnExitCodes
}

func injectedAgent(spec *corev1.PodSpec, jobName string, with Injection) corev1.Container {
	resources := agentResources(spec, with)
	port := freePort(spec, jobName)
	agent := Agent(Options{AgentImage: with.Image, Resources: &resources, BarrierPort: port})
	agent.SecurityContext = injectedSecurity(spec)
	if spec.HostNetwork {
		// Two Pods on a node cannot share a port. If it is declared, the scheduler keeps them apart and reports why.
		agent.Ports = []corev1.ContainerPort{{Name: "barrier", ContainerPort: port, HostPort: port}}
	}
	agent.VolumeMounts = []corev1.VolumeMount{{Name: TokenVolumeName, MountPath: TokenPath, ReadOnly: true}}
	return agent
}

// injectedSecurity returns the security context of an added agent. It sets no user, because clusters
// may assign one, unless the agent would run as root.
func injectedSecurity(spec *corev1.PodSpec) *corev1.SecurityContext {
	sc := restricted()
	sc.RunAsUser = nil
	if spec.SecurityContext != nil && ptr.Deref(spec.SecurityContext.RunAsUser, agentUser) == 0 {
		sc.RunAsUser = ptr.To(agentUser)
	}
	sc.SeccompProfile = seccompProfile(spec)
	return sc
}

// tokenVolume returns the volume that the API server adds to other Pods, here for the agent alone:
// the author of the template decides whether workers have a token.
func tokenVolume() corev1.Volume {
	return corev1.Volume{Name: TokenVolumeName, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: corev1.ServiceAccountTokenKey, ExpirationSeconds: ptr.To(tokenSeconds)}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: corev1.ServiceAccountRootCAKey, Path: corev1.ServiceAccountRootCAKey}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path:     corev1.ServiceAccountNamespaceKey,
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}}}
}
