/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// oneLineJobSet restarts in place and brings no agent.
func oneLineJobSet() *jobset.JobSet {
	js := inPlaceJobSet()
	for i := range js.Spec.ReplicatedJobs {
		*pod(js, i) = corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{{Name: "worker", Image: "worker"}}}
	}
	return js
}

func onExitCodes(op batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: "Ignore", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "True"}}},
		{Action: "FailJob", OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: op, Values: codes}},
	}}
}

func recreateOn(codes ...int32) func(js *jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{RecreatePodOnExitCodes: codes}
	}
}

func TestInjection(t *testing.T) {
	const inits, codes = leaderPod + ".initContainers", "spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes"
	mut := func(change func(spec *corev1.PodSpec)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { change(pod(js, 0)) }
	}
	claimsToken := func(js *jobset.JobSet) {
		claim := corev1.PersistentVolumeClaim{}
		claim.Name = "jobset-agent-token"
		js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{Templates: []corev1.PersistentVolumeClaim{claim}}}
		pod(js, 0).Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: claim.Name, MountPath: "/data"}}
	}
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P50: a claim with the name of a volume that no Pod gets": {gates: gateOn, mut: claimsToken},
		"P50: a claim with the name of a volume that one Pod gets": {
			gates: gateOn, mut: func(js *jobset.JobSet) { claimsToken(js); pod(js, 1).InitContainers = nil },
			want: []violation{invalid("spec.volumeClaimPolicies[0].templates[0].metadata.name", "so rename this claim")},
		},
	})
	runCreate(t, oneLineJobSet, map[string]createCase{
		"P50: a template without an agent is admitted": {gates: gateOn},
		"P50: with the gate off nobody looks": {
			gates: gateOff, mut: mut(func(s *corev1.PodSpec) { s.Containers[0].Name = "jobset-agent" }),
			want: []violation{invalid("spec.failurePolicy.restartStrategy", "")},
		},
		"P55: without a token for the workers the agent has its own": {
			gates: gateOn, mut: mut(func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = ptr.To(false) }),
		},
		"P50: a sidecar with our name and nothing else": {
			gates: gateOn, mut: mut(func(s *corev1.PodSpec) {
				s.InitContainers = []corev1.Container{{Name: "jobset-agent", Image: "mine", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
			}),
			want: []violation{invalid(leaderAgent+".name", "remove or rename this container; or make it an agent of your own")},
		},
		"P50: an agent that is no sidecar": {
			gates: gateOn, mut: mut(func(s *corev1.PodSpec) {
				agent := workerpod.Agent(workerpod.Options{})
				agent.RestartPolicy, agent.RestartPolicyRules = nil, nil
				s.InitContainers = []corev1.Container{agent}
			}),
			want: []violation{
				required(leaderAgent+".restartPolicy", "remove this container, since an agent is added"),
				required(leaderAgent+".restartPolicyRules", ""),
			},
		},
		"P50: an init container that reads JOBSET_NAME is the user's": {
			gates: gateOn, mut: mut(func(s *corev1.PodSpec) {
				s.InitContainers = []corev1.Container{{Name: "setup", Env: []corev1.EnvVar{{Name: workerpod.JobSetNameEnv}}}}
			}),
		},
		"P50: a worker with the name of the agent": {
			gates: gateOn, mut: mut(func(s *corev1.PodSpec) { s.Containers[0].Name = "jobset-agent" }),
			want: []violation{invalid(leaderPod+".containers[0].name", "so rename this container")},
		},
		"P50: a volume with the name of the agent's": {
			gates: gateOn, mut: mut(func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "data"}, {Name: "jobset-agent-token"}} }),
			want: []violation{invalid(leaderPod+".volumes[1].name", "so rename this volume")},
		},
		"P50: a claim with the name of the agent's volume": {
			gates: gateOn, mut: claimsToken,
			want: []violation{invalid("spec.volumeClaimPolicies[0].templates[0].metadata.name", "so rename this claim")},
		},
		"P53: a code in both lists": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				recreateOn(41, 42)(js)
				job(js, 0).PodFailurePolicy = onExitCodes("In", 3, 42)
			},
			want: []violation{invalid(codes+"[1]", leaderJob+".podFailurePolicy.rules[1].onExitCodes acts on this exit code already: remove it from one of the two")},
		},
		"P53: a code that NotIn acts on": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				recreateOn(41, 42)(js)
				job(js, 0).PodFailurePolicy = onExitCodes("NotIn", 42)
			},
			want: []violation{invalid(codes+"[0]", "acts on this exit code already")},
		},
		"P53: codes that differ": {
			gates: gateOn, mut: func(js *jobset.JobSet) { recreateOn(41)(js); job(js, 0).PodFailurePolicy = onExitCodes("In", 3) },
		},
		"P53: a rule for another container": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				recreateOn(3)(js)
				job(js, 0).PodFailurePolicy = onExitCodes("In", 3)
				job(js, 0).PodFailurePolicy.Rules[1].OnExitCodes.ContainerName = ptr.To("download")
			},
		},
	})
}

func TestInCluster(t *testing.T) {
	const image = "agent"
	lacksAgent := required(leaderPod+".initContainers", "the manager adds it if inPlaceRestart.agentImage of its configuration names an image, and it names none; "+
		"set it there, or bring an agent here")
	const needs = "needs Kubernetes 1.36 or newer, and the API server was v1.35.9 when the manager started"
	old := invalid("spec.failurePolicy.inPlaceRestart.mode", needs)
	interactive := func(js *jobset.JobSet) *jobset.JobSet {
		pod(js, 0).Containers[0].TTY = true
		return js
	}
	process := func(js *jobset.JobSet) *jobset.JobSet {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
		return js
	}
	for name, tc := range map[string]struct {
		js      *jobset.JobSet
		cluster Cluster
		off     bool
		want    []violation
	}{
		"P52: a template without an agent, and an image for it":    {js: oneLineJobSet(), cluster: Cluster{AgentImage: image}},
		"P52: a template without an agent, and no image":           {js: oneLineJobSet(), want: []violation{lacksAgent}},
		"P52: templates that bring an agent need no image":         {js: inPlaceJobSet()},
		"P52: other strategies need no image":                      {js: plainJobSet(), cluster: Cluster{Server: version.MustParse("1.30.0")}},
		"P52: with the gate off the strategy is refused in a word": {js: oneLineJobSet(), off: true},
		"P57: 1.35 keeps such Pods off its nodes":                  {js: oneLineJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.35.9")}, want: []violation{old}},
		"P57: an agent of the author's changes nothing about that": {js: inPlaceJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.35.9-gke.1")}, want: []violation{old}},
		"P57: the message says what keeps the other mode away": {js: oneLineJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.35.9")},
			want: []violation{invalid(old.Field, "make mode Process possible, which needs no newer cluster ("+leaderPod+".containers[0].command of container worker is missing")}},
		"P57 P60: each thing that does": {js: interactive(oneLineJobSet()), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.35.9")},
			want: []violation{invalid(old.Field, "write the entrypoint of the image here; "+leaderPod+".containers[0].tty of container worker hands a terminal to one process, and every restart has a new one, remove it), or upgrade")}},
		"P57: or that nothing does": {js: processJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.35.9")},
			want: []violation{invalid(old.Field, "set mode: Process, which needs no newer cluster")}},
		"P57: process mode has no version":                           {js: process(processJobSet()), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.33.0")}},
		"P57: 1.36 is fine":                                          {js: oneLineJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.36.0")}},
		"P57: what was built before the release of 1.36 is fine too": {js: oneLineJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v1.36.0-beta.1+abc")}},
		"P57: and so is what comes after":                            {js: oneLineJobSet(), cluster: Cluster{AgentImage: image, Server: version.MustParseGeneric("v2.0.1")}},
		"P57, P52: both at once":                                     {js: oneLineJobSet(), cluster: Cluster{Server: version.MustParseGeneric("v1.35.9")}, want: []violation{old, lacksAgent}},
	} {
		t.Run(name, func(t *testing.T) {
			leaderOnly(tc.js)
			g := gateOn
			if tc.off {
				g = gateOff
			}
			expect(t, tc.want, InCluster(tc.js, g, tc.cluster))
		})
	}
}

func TestInjectedWarnings(t *testing.T) {
	helper := func(variables ...string) func(js *jobset.JobSet) {
		return func(js *jobset.JobSet) {
			c := corev1.Container{Name: "metrics", Image: "metrics", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
			for _, name := range variables {
				c.Env = append(c.Env, corev1.EnvVar{Name: name})
			}
			pod(js, 0).InitContainers = []corev1.Container{c}
		}
	}
	for name, tc := range map[string]struct {
		base func() *jobset.JobSet
		mut  func(js *jobset.JobSet)
		want []string // beginnings
	}{
		"P51: the ten lines give none":                    {base: oneLineJobSet},
		"P51: no restart at all":                          {base: oneLineJobSet, mut: func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts = 0 }, want: []string{"spec.failurePolicy.maxRestarts: is 0"}},
		"P53: codes for a new Pod give none":              {base: oneLineJobSet, mut: recreateOn(42)},
		"P50: a policy of the Pod is for init containers": {base: oneLineJobSet, mut: func(js *jobset.JobSet) { pod(js, 0).RestartPolicy = "OnFailure" }},
		"P50: a container with a policy of its own for a code": {base: oneLineJobSet, mut: func(js *jobset.JobSet) {
			recreateOn(42)(js)
			pod(js, 0).Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyOnFailure)
		}, want: []string{leaderPod + ".containers[0]: on some exit codes this container restarts alone"}},
		"P60a: a sidecar with a variable of an agent": {base: oneLineJobSet, mut: helper(workerpod.JobSetNameEnv)},
		"P60a: a sidecar with all of them": {
			base: oneLineJobSet, mut: helper(workerpod.NamespaceEnv, workerpod.PodNameEnv, workerpod.JobSetNameEnv),
			want: []string{leaderPod + ".initContainers[0]: has the variables of an agent, but neither a startup probe on /barrier-is-lifted nor a RestartAllContainers rule for exit code 88"},
		},
		"P53: codes for a new Pod of an author's template": {base: inPlaceJobSet, mut: recreateOn(42), want: []string{"spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes: does not apply to spec.replicatedJobs[0], whose template brings an agent"}},
	} {
		t.Run(name, func(t *testing.T) {
			js := tc.base()
			leaderOnly(js)
			if tc.mut != nil {
				tc.mut(js)
			}
			got := Warnings(js, gateOn)
			for i := range got {
				if i < len(tc.want) && strings.HasPrefix(got[i], tc.want[i]) {
					got[i] = tc.want[i]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
