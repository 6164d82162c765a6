/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

const (
	leaderPod   = leaderJob + ".template.spec"
	leaderAgent = leaderPod + ".initContainers[0]"
	leaderEpoch = leaderJob + ".template.metadata.annotations[jobset.sigs.k8s.io/epoch]"
)

func withEpoch(epoch string) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		job(js, 0).Template.Annotations = map[string]string{jobset.EpochKey: epoch}
	}
}

func TestInPlaceJobsThatWouldRunForEver(t *testing.T) {
	recreate := func(js *jobset.JobSet) { js.Spec.FailurePolicy.RestartStrategy = jobset.Recreate }
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P41: the epoch in a Pod template": {
			gates: gateOn, mut: withEpoch("1"),
			want: []violation{forbidden(leaderEpoch, "counts as back before it runs; remove it")},
		},
		"P41: the epoch in a Pod template of another strategy is nobody's report": {
			gates: gateOn, mut: func(js *jobset.JobSet) { withEpoch("1")(js); recreate(js) },
		},
		"P41: the epoch on the Job says nothing": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Template.Annotations = map[string]string{jobset.EpochKey: "1"}
			},
		},
		"P41: a time to live of a Job": {
			gates: gateOn, mut: func(js *jobset.JobSet) { job(js, 0).TTLSecondsAfterFinished = ptr.To[int32](0) },
			want: []violation{forbidden(leaderJob+".ttlSecondsAfterFinished", "set spec.ttlSecondsAfterFinished of the JobSet")},
		},
		"P41: a time to live of a Job with another strategy is only warned of": {
			gates: gateOn, mut: func(js *jobset.JobSet) { job(js, 0).TTLSecondsAfterFinished = ptr.To[int32](0); recreate(js) },
		},
		"P41, P42, P44: all of it at once": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				withEpoch("x")(js)
				job(js, 0).TTLSecondsAfterFinished = ptr.To[int32](60)
				pod(js, 0).AutomountServiceAccountToken = ptr.To(false)
				agent := &pod(js, 0).InitContainers[0]
				agent.Env, agent.StartupProbe.HTTPGet.Port, agent.StartupProbe.FailureThreshold = agent.Env[:1], intstr.FromInt32(80), 3
			},
			want: []violation{
				forbidden(leaderJob+".ttlSecondsAfterFinished", ""),
				forbidden(leaderEpoch, ""),
				required(leaderAgent+".env", ""),
				invalid(leaderAgent+".startupProbe.httpGet.port", ""),
				invalid(leaderAgent+".startupProbe.failureThreshold", ""),
				invalid(leaderPod+".automountServiceAccountToken", ""),
			},
		},
	})
}

func TestEpochInATemplateThatIsChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after func(*jobset.JobSet)
		want          []violation
	}{
		"P41: added while suspended": {
			before: func(*jobset.JobSet) {}, after: withEpoch("1"),
			want: []violation{forbidden(leaderEpoch, "remove it")},
		},
		"P41: changed while suspended": {
			before: withEpoch("1"), after: withEpoch("2"),
			want: []violation{forbidden(leaderEpoch, "remove it")},
		},
		"P41: admitted by an older version, other fields change": {
			before: withEpoch("1"), after: func(js *jobset.JobSet) { pod(js, 0).NodeSelector = map[string]string{"pool": "a"} },
		},
		"P41: admitted by an older version and taken away": {
			before: withEpoch("1"), after: func(js *jobset.JobSet) { job(js, 0).Template.Annotations = nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := inPlaceJobSet()
			before.Spec.Suspend = ptr.To(true)
			tc.before(before)
			after := before.DeepCopy()
			tc.after(after)
			expect(t, tc.want, Update(before, after, gateOn))
			expect(t, tc.want, Update(before, after, gateOff))
		})
	}
}

func TestInPlaceAgentThatCouldNotWork(t *testing.T) {
	const lines = startupProbe
	mut := func(change func(agent *corev1.Container)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { change(&pod(js, 0).InitContainers[0]) }
	}
	env := func(name, value string) func(*jobset.JobSet) {
		return mut(func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value}) })
	}
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P42: no JOBSET_NAME": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.Env = c.Env[:2] }),
			want: []violation{required(leaderAgent+".env", "the agent requires JOBSET_NAME (fieldRef metadata.labels['jobset.sigs.k8s.io/jobset-name']); add them")},
		},
		"P42: variables from elsewhere cannot be seen": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.Env, c.EnvFrom = nil, []corev1.EnvFromSource{{}} }),
		},
		"P42: the UID may be missing": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.Env = c.Env[:3] }),
		},
		"P42: a probe that runs a program": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.StartupProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{}}
			}),
			want: []violation{required(leaderAgent+".startupProbe.httpGet", lines)},
		},
		"P42: a probe of another path": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.StartupProbe.HTTPGet.Path = "/healthz" }),
			want: []violation{invalid(leaderAgent+".startupProbe.httpGet.path", lines)},
		},
		"P42: the path without a wait is admitted": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.StartupProbe.HTTPGet.Path = workerpod.BarrierPath }),
		},
		"P42: a probe over TLS": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.StartupProbe.HTTPGet.Scheme = corev1.URISchemeHTTPS }),
			want: []violation{invalid(leaderAgent+".startupProbe.httpGet.scheme", "plain HTTP")},
		},
		"P42: a probe of another port": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.StartupProbe.HTTPGet.Port = intstr.FromInt32(9090) }),
			want: []violation{invalid(leaderAgent+".startupProbe.httpGet.port", "port 8080, which BARRIER_PORT sets")},
		},
		"P42: BARRIER_PORT moves the port": {
			gates: gateOn, mut: env(workerpod.BarrierPortEnv, "9090"),
			want: []violation{invalid(leaderAgent+".startupProbe.httpGet.port", "port 9090")},
		},
		"P42: BARRIER_PORT is no port": {
			gates: gateOn, mut: env(workerpod.BarrierPortEnv, "http"),
			want: []violation{invalid(leaderAgent+".env[4].value", "a number from 1 to 65535")},
		},
		"P42: a port that cannot be seen is not compared": {
			gates: gateOn, mut: env(workerpod.BarrierPortEnv, "$(OTHER)"),
		},
		"P42: a port by its name": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Ports = []corev1.ContainerPort{{Name: "barrier", ContainerPort: 8080}}
				c.StartupProbe.HTTPGet.Port = intstr.FromString("barrier")
			}),
		},
		"P42: a port by a name that nobody has": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.StartupProbe.HTTPGet.Port = intstr.FromString("barrier") }),
			want: []violation{invalid(leaderAgent+".startupProbe.httpGet.port", "use that port")},
		},
		"P42: a barrier of a second less than an hour": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.StartupProbe.FailureThreshold = 3599 }),
			want: []violation{invalid(leaderAgent+".startupProbe.failureThreshold", "must be at least 3600 seconds and is 3599")},
		},
		"P42: a barrier of an hour": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.StartupProbe.FailureThreshold, c.StartupProbe.PeriodSeconds = 360, 0
			}),
		},
		"P42: the defaults of a probe are half a minute": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.StartupProbe.FailureThreshold, c.StartupProbe.PeriodSeconds = 0, 0
			}),
			want: []violation{invalid(leaderAgent+".startupProbe.failureThreshold", "and is 30")},
		},
		"P42: a time that overflows 32 bits": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.StartupProbe.FailureThreshold, c.StartupProbe.PeriodSeconds = 1<<31-1, 1<<31-1
			}),
		},
		"P42: no token": {
			gates: gateOn, mut: func(js *jobset.JobSet) { pod(js, 0).AutomountServiceAccountToken = ptr.To(false) },
			want: []violation{invalid(leaderPod+".automountServiceAccountToken", "can never report")},
		},
		"P42: a token volume of its own": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				pod(js, 0).AutomountServiceAccountToken = ptr.To(false)
				pod(js, 0).InitContainers[0].VolumeMounts = []corev1.VolumeMount{{Name: "token", MountPath: workerpod.TokenPath}}
			},
		},
		"P42: a token volume that only the worker mounts": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				pod(js, 0).AutomountServiceAccountToken = ptr.To(false)
				pod(js, 0).Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "token", MountPath: workerpod.TokenPath}}
			},
			want: []violation{invalid(leaderPod+".automountServiceAccountToken", "into the agent at "+workerpod.TokenPath)},
		},
	})
}

func TestWarningsWithEveryStrategy(t *testing.T) {
	sizes := func(replicas, parallelism int32) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			leaderOnly(js)
			js.Spec.ReplicatedJobs[0].Replicas, job(js, 0).Parallelism = replicas, &parallelism
		}
	}
	huge := func(js *jobset.JobSet) {
		for range 8 {
			rj := replicatedJob("more", 1<<31-1, 1<<31-1)
			js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, rj)
		}
	}
	for name, tc := range map[string]struct {
		mut  func(*jobset.JobSet)
		want []string
	}{
		"W6: an ordinary one gives none": {mut: func(*jobset.JobSet) {}},
		"W6: no ReplicatedJob":           {mut: func(js *jobset.JobSet) { js.Spec.ReplicatedJobs = nil }, want: []string{"spec.replicatedJobs: is empty, so nothing will run"}},
		"W6: 10,000 Jobs of 10 Pods":     {mut: sizes(10_000, 10)},
		"W6: 10,001 Jobs":                {mut: sizes(10_001, 1), want: []string{"spec.replicatedJobs: asks for 10001 Jobs, more than 10000"}},
		"W6: 100,001 Pods":               {mut: sizes(1, 100_001), want: []string{"spec.replicatedJobs: asks for 100001 Pods at a time, more than 100000"}},
		"W6: counts beyond 64 bits do not come out small": {mut: huge, want: []string{
			"spec.replicatedJobs: asks for 17179869179 Jobs", "spec.replicatedJobs: asks for 8796093022213 Pods"}},
		"W6: a time to live of a Job": {
			mut:  func(js *jobset.JobSet) { job(js, 0).TTLSecondsAfterFinished = ptr.To[int32](60) },
			want: []string{leaderJob + ".ttlSecondsAfterFinished: a Job that completes and is deleted by it is created again"},
		},
		"W6: an extended resource of a whole Pod": {
			mut: func(js *jobset.JobSet) {
				pod(js, 0).Resources = &corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "nvidia.com/gpu": resource.MustParse("8")},
					Limits:   corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi"), "nvidia.com/gpu": resource.MustParse("8")},
				}
			},
			want: []string{leaderPod + ".resources: Kubernetes refuses nvidia.com/gpu for a whole Pod"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := plainJobSet()
			tc.mut(js)
			got := Warnings(js, gateOff)
			for i := range got {
				if i < len(tc.want) && strings.HasPrefix(got[i], tc.want[i]) && !strings.ContainsRune(got[i], '\n') {
					got[i] = tc.want[i]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
