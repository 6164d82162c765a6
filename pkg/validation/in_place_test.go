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
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

const leaderJob = "spec.replicatedJobs[0].template.spec"

func TestInPlaceGate(t *testing.T) {
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P41, P42: what package workerpod prepares is admitted": {gates: gateOn},
		"P40, W33: gate off": {
			gates: gateOff,
			want: []violation{invalid("spec.failurePolicy.restartStrategy", "InPlaceRestart cannot be set when InPlaceRestart feature gate is disabled: "+
				"start the manager with --feature-gates=InPlaceRestart=true")},
		},
		"W135: with the gate off nothing else is asked of the strategy": {
			gates: gateOff,
			mut:   func(js *jobset.JobSet) { job(js, 0).BackoffLimit = nil; pod(js, 0).InitContainers = nil },
			want:  []violation{invalid("spec.failurePolicy.restartStrategy", "")},
		},
		"W135: with the gate on other strategies are free": {
			gates: gateOn,
			mut: func(js *jobset.JobSet) {
				js.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
				job(js, 0).BackoffLimit = nil
				pod(js, 0).InitContainers = nil
			},
		},
	})
}

func TestInPlaceJobs(t *testing.T) {
	mut := func(change func(job *batchv1.JobSpec)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { change(job(js, 0)) }
	}
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P41, W48: no backoffLimit": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.BackoffLimit = nil }),
			want: []violation{invalid(leaderJob+".backoffLimit", "replicatedJob leader: must be set to 2147483647 (MaxInt32)")},
		},
		"P41, W48: another backoffLimit": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.BackoffLimit = ptr.To[int32](6) }),
			want: []violation{invalid(leaderJob+".backoffLimit", "replicatedJob leader: must be set to 2147483647 (MaxInt32)")},
		},
		"P41, W49: no podReplacementPolicy": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.PodReplacementPolicy = nil }),
			want: []violation{invalid(leaderJob+".podReplacementPolicy", "replicatedJob leader: must be set to Failed")},
		},
		"P41, W49: another podReplacementPolicy": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.PodReplacementPolicy = ptr.To(batchv1.TerminatingOrFailed) }),
			want: []violation{invalid(leaderJob+".podReplacementPolicy", "replicatedJob leader: must be set to Failed")},
		},
		"P41, W50, C273: completions and parallelism differ": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.Completions = ptr.To[int32](2) }),
			want: []violation{invalid(leaderJob+".completions", "replicatedJob leader: completions and parallelism must be set and equal")},
		},
		"P41, W50, C273: parallelism is absent": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.Parallelism = nil }),
			want: []violation{invalid(leaderJob+".completions", "completions and parallelism must be set and equal")},
		},
		"P41: NonIndexed": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.CompletionMode = ptr.To(batchv1.NonIndexedCompletion) }),
			want: []violation{invalid(leaderJob+".completionMode", "replicatedJob leader: must be set to Indexed")},
		},
		"P41: backoffLimitPerIndex": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) { j.BackoffLimitPerIndex = ptr.To[int32](1) }),
			want: []violation{forbidden(leaderJob+".backoffLimitPerIndex", "a failed index would never be replaced")},
		},
		"P41: maxFailedIndexes, and rules that fail an index": {
			gates: gateOn, mut: mut(func(j *batchv1.JobSpec) {
				j.MaxFailedIndexes = ptr.To[int32](1)
				j.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionIgnore}, {Action: batchv1.PodFailurePolicyActionFailIndex}}}
			}),
			want: []violation{
				forbidden(leaderJob+".maxFailedIndexes", "replicatedJob leader: must not be set"),
				forbidden(leaderJob+".podFailurePolicy.rules[1].action", "replicatedJob leader: must not be FailIndex when failurePolicy.restartStrategy is InPlaceRestart: a failed index would never be replaced"),
			},
		},
		"P41, P44: all at once, in every ReplicatedJob": {
			gates: gateOn,
			mut:   func(js *jobset.JobSet) { job(js, 0).BackoffLimit, job(js, 1).PodReplacementPolicy = nil, nil },
			want: []violation{
				invalid(leaderJob+".backoffLimit", "replicatedJob leader"),
				invalid("spec.replicatedJobs[1].template.spec.podReplacementPolicy", "replicatedJob workers"),
			},
		},
		"P18, W51, C290: RestartJob": {
			gates: gateOn,
			mut: func(js *jobset.JobSet) {
				js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "a", Action: jobset.FailJobSet},
					{Name: "b", Action: jobset.RestartJob}, {Name: "c", Action: jobset.RestartJobAndIgnoreMaxRestarts}}
			},
			want: []violation{
				invalid("spec.failurePolicy.rules[1].action", "must not restart a single Job"),
				invalid("spec.failurePolicy.rules[2].action", "must not restart a single Job"),
				unpathed("failure policy actions are not allowed"),
			},
		},
		"P18, W136, C290: RestartJob with its own gate on": {
			gates: gates.Set{InPlaceRestart: true, RestartJob: true},
			mut: func(js *jobset.JobSet) {
				js.Spec.FailurePolicy.Rules = []jobset.FailurePolicyRule{{Name: "a", Action: jobset.RestartJobAndIgnoreMaxRestarts}}
			},
			want: []violation{invalid("spec.failurePolicy.rules[0].action", "use RestartJobSet or RestartJobSetAndIgnoreMaxRestarts")},
		},
		"P19, C262: an order in container mode": {
			gates: gateOn,
			mut: func(js *jobset.JobSet) {
				js.Spec.StartupPolicy.StartupPolicyOrder = jobset.InOrder
				js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "leader", Status: jobset.DependencyReady}}
			},
			want: []violation{
				invalid("spec.startupPolicy.startupPolicyOrder", "must not be InOrder when failurePolicy.inPlaceRestart.mode is Container: Pods are ready only after the barrier is lifted"),
				invalid("spec.replicatedJobs[1].dependsOn[0].status", "must not be Ready when failurePolicy.inPlaceRestart.mode is Container: Pods are ready only after the barrier is lifted"),
			},
		},
		"P19: dependsOn Complete is accepted": {
			gates: gateOn,
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "leader", Status: jobset.DependencyComplete}}
			},
		},
	})
}

func TestInPlaceAgent(t *testing.T) {
	const inits = leaderJob + ".template.spec.initContainers"
	const agent = inits + "[0]"
	const ruleLines = "use RestartAllContainers on exit codes NotIn [64]"
	mut := func(change func(agent *corev1.Container)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { change(&pod(js, 0).InitContainers[0]) }
	}
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P50: no agent, one is added": {
			gates: gateOn, mut: func(js *jobset.JobSet) { pod(js, 0).InitContainers = nil },
		},
		"P50: ordinary init containers are no agent, one is added": {
			gates: gateOn, mut: func(js *jobset.JobSet) { pod(js, 0).InitContainers = []corev1.Container{{Name: "download"}} },
		},
		"P42: the agent is not a sidecar": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.RestartPolicy, c.RestartPolicyRules = nil, nil }),
			want: []violation{
				required(agent+".restartPolicy", "remove this container, since an agent is added to templates without one, or set restartPolicy: Always"),
				required(agent+".restartPolicyRules", ruleLines),
			},
		},
		"P42: the agent without rules and without a probe": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.RestartPolicyRules, c.StartupProbe = nil, nil }),
			want: []violation{
				required(agent+".restartPolicyRules", ruleLines),
				required(agent+".startupProbe", startupProbe),
			},
		},
		"P42, C277: a rule on another code": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.RestartPolicyRules = restartAllOn(1) }),
			want: []violation{invalid(agent+".restartPolicyRules", "exits with 88")},
		},
		"P42, C277: a rule that lets 137 pass": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.RestartPolicyRules = restartAllOn(88) }),
			want: []violation{invalid(agent+".restartPolicyRules", "when the agent is killed (exit code 137, out of memory for instance) "+
				"when failurePolicy.restartStrategy is InPlaceRestart: otherwise it restarts alongside a worker of an older epoch; "+ruleLines)},
		},
		"P42: a rule on the restart exit code and on 137 is admitted": {
			gates: gateOn, mut: mut(func(c *corev1.Container) { c.RestartPolicyRules = restartAllOn(88, 137) }),
		},
		"P42, C277: an agent built by others has to cover 137 too": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Env, c.StartupProbe.HTTPGet.Path = nil, "/ready"
				c.RestartPolicyRules = restartAllOn(88)
			}),
			want: []violation{invalid(agent+".restartPolicyRules", "exit code 137")},
		},
		"P42: an earlier rule takes the exit code away": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				first := restartAllOn(88)
				first[0].Action = corev1.ContainerRestartRuleActionRestart
				c.RestartPolicyRules = append(first, c.RestartPolicyRules...)
			}),
			want: []violation{invalid(agent+".restartPolicyRules", "the first rule that matches decides")},
		},
		"P42: the variable moves the restart exit code": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Env = append(c.Env, corev1.EnvVar{Name: workerpod.RestartExitCodeEnv, Value: "99"})
				c.RestartPolicyRules = restartAllOn(88)
			}),
			want: []violation{invalid(agent+".restartPolicyRules", "exits with 99")},
		},
		"P42: the variable has a value that the agent refuses": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Env = append(c.Env, corev1.EnvVar{Name: workerpod.RestartExitCodeEnv, Value: "64"})
			}),
			want: []violation{invalid(agent+".env[4].value", "must be a number from 1 to 255 other than 64")},
		},
		"P42: a restart exit code that cannot be seen needs a rule for all": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Env = append(c.Env, corev1.EnvVar{Name: workerpod.RestartExitCodeEnv, ValueFrom: &corev1.EnvVarSource{}})
				c.RestartPolicyRules = restartAllOn(88)
			}),
			want: []violation{invalid(agent+".restartPolicyRules", "whose value cannot be seen here")},
		},
		"P42: a restart exit code that cannot be seen and a rule for all but 64 is admitted": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Env = append(c.Env, corev1.EnvVar{Name: workerpod.RestartExitCodeEnv, Value: "$(OTHER)"})
			}),
		},
		"P42: another agent with its own variables and path is admitted": {
			gates: gateOn, mut: mut(func(c *corev1.Container) {
				c.Env = []corev1.EnvVar{{Name: "GROUP"}}
				c.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
			}),
		},
		"P42: other sidecars before and after the agent are left alone": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				logs := corev1.Container{Name: "logs", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
				pod(js, 0).InitContainers = []corev1.Container{logs, pod(js, 0).InitContainers[0], logs}
			},
		},
		"P42: another sidecar does not stand in for an agent that we recognise": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				other := *pod(js, 0).InitContainers[0].DeepCopy()
				other.Env, other.StartupProbe.HTTPGet.Path = nil, "/ready"
				pod(js, 0).InitContainers[0].StartupProbe = nil
				pod(js, 0).InitContainers = append(pod(js, 0).InitContainers, other)
			},
			want: []violation{required(agent+".startupProbe", "is the barrier")},
		},
		"P42: an ordinary init container that reads JOBSET_NAME does not hide another agent": {
			gates: gateOn, mut: func(js *jobset.JobSet) {
				foreign := &pod(js, 0).InitContainers[0]
				foreign.Env, foreign.StartupProbe.HTTPGet.Path = nil, "/ready"
				pod(js, 0).InitContainers = append(pod(js, 0).InitContainers,
					corev1.Container{Name: "setup", Env: []corev1.EnvVar{{Name: workerpod.JobSetNameEnv}}})
			},
		},
	})
}

func restartAllOn(codes ...int32) []corev1.ContainerRestartRule {
	rules := workerpod.RestartAllUnless(codes...)
	rules[0].ExitCodes.Operator = corev1.ContainerRestartRuleOnExitCodesOpIn
	return rules
}

func TestWarnings(t *testing.T) {
	const pods = "spec.replicatedJobs[0].template.spec.template.spec"
	worker := func(change func(c *corev1.Container)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { change(&pod(js, 0).Containers[0]) }
	}
	cases := map[string]struct {
		mut  func(js *jobset.JobSet)
		want []string // beginnings
	}{
		"P42: what package workerpod prepares gives none": {},
		"P42: no account for the agent": {
			mut:  func(js *jobset.JobSet) { pod(js, 0).ServiceAccountName = "" },
			want: []string{pods + ".serviceAccountName: is not set, and the default account of a namespace may neither watch JobSets nor patch Pods"},
		},
		"P42: an agent with a kubeconfig needs no account": {
			mut: func(js *jobset.JobSet) {
				pod(js, 0).ServiceAccountName = ""
				agent := &pod(js, 0).InitContainers[0]
				agent.Env = append(agent.Env, corev1.EnvVar{Name: workerpod.KubeconfigEnv, Value: "/etc/agent/kubeconfig"})
			},
		},
		"P15: no restart at all": {
			mut:  func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts = 0 },
			want: []string{"spec.failurePolicy.maxRestarts: is 0, which is also the default: the first failure of a worker fails the JobSet"},
		},
		"a container without rules beside others leaves its Pod half dead": {
			mut: func(js *jobset.JobSet) {
				pod(js, 0).Containers = append(pod(js, 0).Containers, corev1.Container{Name: "helper", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyNever)})
			},
			want: []string{pods + ".containers[1]: has no RestartAllContainers rule: when it fails while other containers keep running, its Pod stays Running and not Ready"},
		},
		"P37: an agent rule that takes 64 away from the backoff": {
			mut: func(js *jobset.JobSet) {
				pod(js, 0).InitContainers[0].RestartPolicyRules = workerpod.RestartAllUnless(0)
			},
			want: []string{pods + ".initContainers[0].restartPolicyRules: exit code 64 means that a restart cannot help"},
		},
		"a worker without rules costs its Pod": {
			mut:  worker(func(c *corev1.Container) { c.RestartPolicyRules = nil }),
			want: []string{pods + ".containers[0]: has no RestartAllContainers rule: when it fails, its Pod is recreated"},
		},
		"a worker without anything in a Pod with the default policy restarts alone": {
			mut: func(js *jobset.JobSet) {
				worker(func(c *corev1.Container) { c.RestartPolicyRules, c.RestartPolicy = nil, nil })(js)
				pod(js, 0).RestartPolicy = corev1.RestartPolicyOnFailure
			},
			want: []string{pods + ".restartPolicy: is OnFailure", pods + ".containers[0]: on some exit codes this container restarts alone"},
		},
		"a worker whose rules leave a code to OnFailure restarts alone": {
			mut: worker(func(c *corev1.Container) {
				c.RestartPolicy, c.RestartPolicyRules = ptr.To(corev1.ContainerRestartPolicyOnFailure), workerpod.RestartAllUnless(0, 7)
			}),
			want: []string{pods + ".containers[0]: on some exit codes this container restarts alone"},
		},
		"a worker whose exit code 7 fails the Pod is as designed": {
			mut: worker(func(c *corev1.Container) { c.RestartPolicyRules = workerpod.RestartAllUnless(0, 7) }),
		},
		"a worker that restarts after success never completes": {
			mut:  worker(func(c *corev1.Container) { c.RestartPolicyRules = workerpod.RestartAllUnless(7) }),
			want: []string{pods + ".containers[0]: restarts the Pod also when it succeeds"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			js := inPlaceJobSet()
			if tc.mut != nil {
				tc.mut(js)
			}
			got := Warnings(js, gateOn)
			for i := range got {
				if strings.ContainsRune(got[i], '\n') {
					t.Errorf("a warning must be one line: %q", got[i])
				}
				if i < len(tc.want) && strings.HasPrefix(got[i], tc.want[i]) {
					got[i] = tc.want[i]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if off := Warnings(js, gateOff); off != nil {
				t.Errorf("W6: warnings with the gate off: %q", off)
			}
		})
	}
}
