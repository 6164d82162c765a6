/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

var options = workerpod.Options{AgentImage: "agent:v1", ServiceAccountName: "jobset-agent"}

func userPod() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "download", Image: "download"}},
		Containers:     []corev1.Container{{Name: "worker", Image: "worker"}},
	}}
}

func restartAll(unless ...int32) []corev1.ContainerRestartRule {
	return []corev1.ContainerRestartRule{{
		Action:    "RestartAllContainers",
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: "NotIn", Values: unless},
	}}
}

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}

// wantPod is userPod as a worker of an in-place group: the pod shape, spelled out.
func wantPod() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy:      "Never",
		ServiceAccountName: "jobset-agent",
		InitContainers: []corev1.Container{{Name: "download", Image: "download"}, {
			Name: "jobset-agent", Image: "agent:v1",
			RestartPolicy:      ptr.To(corev1.ContainerRestartPolicyAlways),
			RestartPolicyRules: restartAll(64),
			Env: []corev1.EnvVar{
				field("NAMESPACE", "metadata.namespace"),
				field("POD_NAME", "metadata.name"),
				field("JOBSET_NAME", "metadata.labels['jobset.sigs.k8s.io/jobset-name']"),
				field("JOBSET_UID", "metadata.labels['jobset.sigs.k8s.io/jobset-uid']"),
			},
			StartupProbe: &corev1.Probe{
				ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/barrier-is-lifted?wait=50", Port: intstr.FromInt32(8080)}},
				TimeoutSeconds: 60, PeriodSeconds: 1, FailureThreshold: 1000000,
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("32Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("64Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532),
				ReadOnlyRootFilesystem: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		Containers: []corev1.Container{{
			Name: "worker", Image: "worker",
			RestartPolicy:      ptr.To(corev1.ContainerRestartPolicyNever),
			RestartPolicyRules: restartAll(0),
		}},
	}}
}

func TestPrepare(t *testing.T) {
	cases := map[string]struct {
		template func(t *corev1.PodTemplateSpec)
		opts     func(o *workerpod.Options)
		want     func(t *corev1.PodTemplateSpec)
	}{
		"a Pod of the user becomes a worker of the group": {},
		"the port reaches agent and probe": {
			opts: func(o *workerpod.Options) { o.BarrierPort = 9000 },
			want: func(p *corev1.PodTemplateSpec) {
				agent := &p.Spec.InitContainers[1]
				agent.Env = append(agent.Env, corev1.EnvVar{Name: "BARRIER_PORT", Value: "9000"})
				agent.StartupProbe.HTTPGet.Port = intstr.FromInt32(9000)
			},
		},
		"what the user set wins, also against the options": {
			template: func(p *corev1.PodTemplateSpec) {
				p.Spec.RestartPolicy, p.Spec.ServiceAccountName = "OnFailure", "mine"
				p.Spec.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyOnFailure)
				p.Spec.Containers[0].RestartPolicyRules = restartAll(0, 42)
			},
			want: func(p *corev1.PodTemplateSpec) {
				p.Spec.RestartPolicy, p.Spec.ServiceAccountName = "OnFailure", "mine"
				p.Spec.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyOnFailure)
				p.Spec.Containers[0].RestartPolicyRules = restartAll(0, 42)
			},
		},
		"an agent that is there by name is completed where it stands": {
			template: func(p *corev1.PodTemplateSpec) {
				p.Spec.InitContainers = append([]corev1.Container{{Name: "jobset-agent", Image: "mine", Env: []corev1.EnvVar{{Name: "BARRIER_PORT", Value: "1"}}}}, p.Spec.InitContainers...)
			},
			want: func(p *corev1.PodTemplateSpec) {
				inits := p.Spec.InitContainers
				inits[0], inits[1] = inits[1], inits[0]
				inits[0].Image = "mine"
				inits[0].Env = append([]corev1.EnvVar{{Name: "BARRIER_PORT", Value: "1"}}, inits[0].Env...)
				inits[0].StartupProbe.HTTPGet.Port = intstr.FromInt32(1)
			},
		},
		"an ordinary init container that reads JOBSET_NAME stays what it is": {
			template: func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[0].Env = []corev1.EnvVar{{Name: "JOBSET_NAME"}} },
			want:     func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[0].Env = []corev1.EnvVar{{Name: "JOBSET_NAME"}} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template, opts, want := userPod(), options, wantPod()
			for _, change := range []func(){
				func() { apply(tc.template, template) }, func() { apply(tc.opts, &opts) }, func() { apply(tc.want, want) },
			} {
				change()
			}
			before := template.DeepCopy()
			got := workerpod.Prepare(template, opts)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Pod (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, template); diff != "" {
				t.Errorf("Prepare changed its argument:\n%s", diff)
			}
			if diff := cmp.Diff(got, workerpod.Prepare(got, opts)); diff != "" {
				t.Errorf("Prepare twice (-once +twice):\n%s", diff)
			}
		})
	}
}

func apply[T any](change func(*T), to *T) {
	if change != nil {
		change(to)
	}
}

func TestPrepareJob(t *testing.T) {
	t.Run("P51: the Job gets the defaults of admission, and its Pods the agent", func(t *testing.T) {
		want := &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Parallelism: ptr.To[int32](4), Completions: ptr.To[int32](4),
			BackoffLimit: ptr.To[int32](2147483647), CompletionMode: ptr.To(batchv1.IndexedCompletion), PodReplacementPolicy: ptr.To(batchv1.Failed),
			Template: *wantPod(),
		}}
		got := workerpod.PrepareJob(&batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](4), Template: *userPod()}}, options)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Job (-want +got):\n%s", diff)
		}
	})
}

func TestPreparedIsAdmitted(t *testing.T) {
	for name, opts := range map[string]workerpod.Options{
		"P41, P42: with the smallest options": {AgentImage: "agent", ServiceAccountName: "sa"},
		"P41, P42: with every option": {
			AgentImage: "agent", BarrierPort: 9000, ServiceAccountName: "sa", Resources: &corev1.ResourceRequirements{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := &jobset.JobSet{}
			js.Name = "js"
			js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 1}
			js.Spec.ReplicatedJobs = []jobset.ReplicatedJob{{
				Name: "workers", GroupName: "default", Replicas: 2,
				Template: *workerpod.PrepareJob(&batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: *userPod()}}, opts),
			}}
			on := gates.Set{InPlaceRestart: true}
			if errs := validation.Create(js, on); len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
			if warnings := validation.Warnings(js, on); len(warnings) > 0 {
				t.Errorf("warned: %q", warnings)
			}
		})
	}
}

func TestActionOn(t *testing.T) {
	rule := func(action corev1.ContainerRestartRuleAction, op corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
		return corev1.ContainerRestartRule{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: op, Values: codes}}
	}
	rules := []corev1.ContainerRestartRule{{Action: "Restart"}, rule("Restart", "In", 1, 2), rule("Odd", "Nonsense", 1), rule("RestartAllContainers", "NotIn", 64)}
	for name, tc := range map[string]struct {
		code int32
		want corev1.ContainerRestartRuleAction
	}{
		"the first rule that matches decides": {2, "Restart"},
		"NotIn takes the rest":                {88, "RestartAllContainers"},
		"no rule matches":                     {64, ""},
		"zero is a code as any other":         {0, "RestartAllContainers"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := workerpod.ActionOn(rules, tc.code); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAgentIsAsRestrictedAsItsNeighbours(t *testing.T) {
	profile := &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	worker := corev1.Container{Name: "worker", SecurityContext: &corev1.SecurityContext{SeccompProfile: profile}}
	for name, tc := range map[string]struct {
		pod  corev1.PodSpec
		want *corev1.SeccompProfile
	}{
		"P42: nobody has a profile":    {corev1.PodSpec{Containers: []corev1.Container{{Name: "worker"}}}, nil},
		"P42: the Pod has one for all": {corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SeccompProfile: profile}, Containers: []corev1.Container{worker}}, nil},
		"P42: each worker has its own": {corev1.PodSpec{Containers: []corev1.Container{{Name: "helper"}, worker}}, profile},
		"P42: a given context of the agent stays": {corev1.PodSpec{Containers: []corev1.Container{worker}, InitContainers: []corev1.Container{{
			Name: workerpod.DefaultAgentName, SecurityContext: &corev1.SecurityContext{}}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			agent := workerpod.Prepare(&corev1.PodTemplateSpec{Spec: tc.pod}, workerpod.Options{}).Spec.InitContainers[0]
			if diff := cmp.Diff(tc.want, agent.SecurityContext.SeccompProfile); diff != "" {
				t.Errorf("seccompProfile (-want +got):\n%s", diff)
			}
		})
	}
}
