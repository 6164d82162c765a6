/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// withAgents gives the worker template an agent, and an account.
func withAgents(account string, env ...corev1.EnvVar) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		spec := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
		spec.ServiceAccountName = account
		spec.InitContainers = []corev1.Container{{
			Name: "agent", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), StartupProbe: workerpod.StartupProbe(workerpod.DefaultBarrierPort), Env: append(env, corev1.EnvVar{Name: "JOBSET_NAME"}),
		}}
	})
}

// answered is what the API server said of an account so long ago.
func answered(account string, ago time.Duration, lacks ...string) func(*Input) {
	return func(in *Input) {
		if in.Access == nil {
			in.Access = map[string]AgentAccess{}
		}
		in.Access[account] = AgentAccess{Asked: now.Add(-ago), Lacks: lacks}
	}
}

// leasesFrom makes agents in process mode report in Leases from so many workers.
func leasesFrom(workers int64) func(*Input) {
	return func(in *Input) {
		in.JobSet.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
		in.Injection.LeaseReportsFrom = workers
	}
}

// askedForLeases has Jobs whose agents are to report in Leases.
func askedForLeases(in *Input) {
	for _, job := range in.Jobs {
		job.Spec.Template.Spec.InitContainers = append(job.Spec.Template.Spec.InitContainers,
			corev1.Container{Name: "jobset-agent", Env: []corev1.EnvVar{{Name: "JOBSET_REPORTS", Value: "Lease"}}})
	}
}

// outside has the Pods with these indexes report on themselves.
func outside(indexes ...int) func(*Input) {
	return func(in *Input) {
		in.LeasesSeen = true
		for _, pods := range in.Pods {
			for i, pod := range pods {
				if !slices.Contains(indexes, i) {
					pod.Leased = pod.Reported.Epoch
				}
			}
		}
	}
}

func condition(status metav1.ConditionStatus, reason, message string, since time.Time) metav1.Condition {
	return metav1.Condition{Type: "AgentAccessDenied", Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(since)}
}

const (
	deniedDefault = "agents cannot report, and the workers wait for them: service account default may not watch jobsets, patch pods; grant it with: " +
		"kubectl create rolebinding jobset-agent-default --namespace=ns --clusterrole=jobset-agent --serviceaccount=ns:default"
	granted = "the service accounts of the worker Pods may do what their agents need"
)

func TestAgentAccess(t *testing.T) {
	t.Parallel()
	canAsk := func(in *Input) { in.Access = map[string]AgentAccess{} }
	was := func(status metav1.ConditionStatus, reason, message string, since time.Time) func(*Input) {
		return onJobSet(func(js *jobset.JobSet) {
			js.Status.Conditions = []metav1.Condition{condition(status, reason, message, since)}
		})
	}
	waits := func(changes ...func(*summary)) func(*summary) {
		return func(w *summary) {
			w.CountsInterval = time.Second
			for _, change := range changes {
				change(w)
			}
		}
	}
	again := func(d time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = d } }
	asks := func(accounts ...string) func(*summary) { return func(w *summary) { w.Asks = accounts } }
	becomes := func(status metav1.ConditionStatus, eventType, reason, message string) func(*summary) {
		return func(w *summary) {
			w.Status.Conditions = []metav1.Condition{condition(status, reason, message, now)}
			w.Events = append(w.Events, Event{Type: eventType, Reason: reason, Message: message})
		}
	}
	lifts := func(epoch int32) func(*summary) {
		return func(w *summary) {
			w.Status.SyncedEpoch, w.Status.AssemblingSince, w.Status.LastSyncTime = ptr.To(epoch), nil, ptr.To(metav1.NewTime(now))
		}
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P56: nobody is asked before a group of ordinary speed would stand": {
			inPlace(0, 0, "1 _", sinceAgo(2*time.Second), withAgents("default"), canAsk), waits(again(3 * time.Second))},
		"P56: then the API server is asked once about each account": {
			inPlace(0, 0, "1 _", sinceAgo(5*time.Second), withAgents(""), canAsk), waits(asks("default"), again(period-5*time.Second))},
		"P56: a group that wants no deadline asks as well": {
			inPlace(0, 0, "1 _", withAgents("trainer"), canAsk), waits(asks("trainer"))},
		"P56: nobody asks again while an answer holds": {
			inPlace(0, 0, "1 _", sinceAgo(time.Minute), withAgents("default"), answered("default", 50*time.Second)), waits(again(250 * time.Second))},
		"P56: a right may be taken away later, so it is asked again": {
			inPlace(0, 0, "1 _", sinceAgo(6*time.Minute), withAgents("default"), answered("default", 5*time.Minute)), waits(asks("default"), again(4*time.Minute))},
		"P56: an account without rights is told by event and condition, with the fix": {
			inPlace(0, 0, "_ _", sinceAgo(6*time.Second), withAgents("default"), answered("default", 0, "watch jobsets", "patch pods")),
			waits(becomes(metav1.ConditionTrue, "Warning", "AgentAccessDenied", deniedDefault), again(10*time.Second))},
		"P56: it is told once": {
			inPlace(0, 0, "_ _", sinceAgo(time.Minute), withAgents("default"), answered("default", 0, "watch jobsets", "patch pods"),
				was(metav1.ConditionTrue, "AgentAccessDenied", deniedDefault, now.Add(-5*time.Second))), waits(again(10 * time.Second))},
		"P56: the longer it lasts, the rarer it is asked about": {
			inPlace(0, 0, "_ _", sinceAgo(2*time.Minute), withAgents("default"), answered("default", 30*time.Second, "watch jobsets", "patch pods"),
				was(metav1.ConditionTrue, "AgentAccessDenied", deniedDefault, now.Add(-90*time.Second))), waits(again(30 * time.Second))},
		"P56: the condition goes when it is fixed": {
			inPlace(0, 0, "_ _", sinceAgo(time.Minute), withAgents("default"), answered("default", 0),
				was(metav1.ConditionTrue, "AgentAccessDenied", deniedDefault, past)),
			waits(becomes(metav1.ConditionFalse, "Normal", "AgentAccessGranted", granted), again(5*time.Minute))},
		"P56: it goes with the lift: all agents have reported": {
			inPlace(0, 0, "1 1", sinceAgo(time.Minute), withAgents("default"), answered("default", time.Second, "patch pods"),
				was(metav1.ConditionTrue, "AgentAccessDenied", deniedDefault, past)),
			waits(lifts(1), becomes(metav1.ConditionFalse, "Normal", "AgentAccessGranted", granted))},
		"P56: no answer is none: the condition stays": {
			inPlace(0, 0, "_ _", sinceAgo(time.Minute), withAgents("default"),
				func(in *Input) { in.Access = map[string]AgentAccess{"default": {Asked: now, Unknown: true}} },
				was(metav1.ConditionTrue, "AgentAccessDenied", deniedDefault, past)), waits(again(5 * time.Minute))},
		"P56: an agent with a kubeconfig does not use the account": {
			inPlace(0, 0, "1 _", sinceAgo(time.Minute), withAgents("default", corev1.EnvVar{Name: "KUBECONFIG", Value: "/k"}), canAsk), waits(again(9 * time.Minute))},
		"P56: nobody is asked about a group that runs": {
			inPlace(0, 1, "1 1", withAgents("default"), canAsk), nil},
		"P56: but for one that another configuration of the manager left without rights": {
			inPlace(0, 1, "1 1", canAsk, was(metav1.ConditionTrue, "AgentAccessWithheld", withheld, past)), func(w *summary) { w.Asks = []string{"default"} }},
		"P56: which is told what it lacks now": {
			inPlace(0, 1, "1 1", answered("default", 0, "watch jobsets", "patch pods"), was(metav1.ConditionTrue, "AgentAccessWithheld", withheld, past)),
			func(w *summary) {
				w.Status.Conditions = []metav1.Condition{condition(metav1.ConditionTrue, "AgentAccessDenied", deniedDefault, past)}
				w.Events = []Event{{Type: "Warning", Reason: "AgentAccessDenied", Message: deniedDefault}}
				w.RequeueAfter = 5 * time.Minute
			}},
		"P56: or that it lacks nothing": {
			inPlace(0, 1, "1 1", answered("default", 0), was(metav1.ConditionTrue, "AgentAccessWithheld", withheld, past)),
			func(w *summary) {
				becomes(metav1.ConditionFalse, "Normal", "AgentAccessGranted", granted)(w)
				w.RequeueAfter = 5 * time.Minute
			}},
		"P153: where others grant access, an account is asked at once whether its agents may report in Leases": {
			inPlace(0, 0, "1 _", sinceAgo(2*time.Second), canAsk, leasesFrom(2)), waits(asks("default"), again(period-2*time.Second), func(w *summary) { w.AsksLeases = true })},
		"P153: not in smaller groups": {
			inPlace(0, 0, "1 _", sinceAgo(2*time.Second), canAsk, leasesFrom(3)), waits(again(3 * time.Second))},
		"P153: nor where the manager grants it": {
			inPlace(0, 0, "1 _", sinceAgo(2*time.Second), canAsk, leasesFrom(2), func(in *Input) { in.Grant = &AgentGrant{} }), waits(again(3 * time.Second))},
		"P153: a lift tells that agents report on their Pods, and how to grant them Leases": {
			inPlace(0, 0, "1 1", sinceAgo(time.Second), leasesFrom(2), func(in *Input) {
				in.Access = map[string]AgentAccess{"default": {Asked: now, LacksLeases: []string{"create leases", "patch leases"}}}
			}),
			waits(lifts(1), func(w *summary) {
				w.Events = []Event{{Type: "Warning", Reason: "AgentLeasesDenied", Message: "agents report on their Pods instead of in Leases, which costs the API server more: service account default may not " +
					"create leases, patch leases; grant it with: kubectl create rolebinding jobset-agent-default --namespace=ns --clusterrole=jobset-agent --serviceaccount=ns:default"}}
			})},
		"P153b: or that there is no policy for them, whoever grants the rights": {
			inPlace(0, 0, "1 1", sinceAgo(time.Second), leasesFrom(2), func(in *Input) {
				in.LeaseGap = "ValidatingAdmissionPolicy jobset-agent-leases is missing"
			}),
			waits(lifts(1), func(w *summary) {
				w.Events = []Event{{Type: "Warning", Reason: "AgentPolicyMissing", Message: "ValidatingAdmissionPolicy jobset-agent-leases is missing: no report is read from a Lease, so agents report on " +
					"their Pods, which costs the API server more and may take longer, and accounts that are bound to ClusterRole jobset-agent may write every Lease of their namespaces; fix it with: " +
					"kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true"}}
			})},
		"P153: or whose Leases were refused, and where the reason is": {
			inPlace(0, 0, "1 1", sinceAgo(time.Second), leasesFrom(2), askedForLeases, outside(1)),
			waits(lifts(1), func(w *summary) {
				w.Events = []Event{{Type: "Warning", Reason: "AgentLeasesDenied", Message: "agents report on their Pods instead of in Leases, which costs the API server more: the Leases of js-w-0-1 were refused, by " +
					"a ResourceQuota, a webhook or a Lease of that name with another owner; their agents log which: kubectl logs --namespace=ns js-w-0-1 --container=jobset-agent"}}
			})},
		"P153: not of agents that an earlier manager added, or a template, and that know of no Leases": {
			inPlace(0, 0, "1 1", sinceAgo(time.Second), leasesFrom(2), outside(0, 1)), waits(lifts(1))},
		"P153: but not to a group that reports on Pods anyway": {
			inPlace(0, 0, "1 1", sinceAgo(time.Second), leasesFrom(3), func(in *Input) { in.LeaseGap = "any" }), waits(lifts(1))},
		"P20: nobody is asked about a suspended one": {
			inPlace(0, 0, "_ _", withAgents("default"), canAsk, allSuspended), nil},
		"P56: a lift without the admission policy is told": {
			inPlace(0, 0, "1 1", sinceAgo(time.Second), func(in *Input) { in.PolicyGap = "ValidatingAdmissionPolicy jobset-agent is missing" }),
			waits(lifts(1), func(w *summary) {
				w.Events = []Event{{Type: "Warning", Reason: "AgentPolicyMissing", Message: "ValidatingAdmissionPolicy jobset-agent is missing: any program in worker Pods of JobSets that " +
					"restart in place may patch every Pod of its namespace; fix it with: kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true"}}
			})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// allSuspended is a JobSet that has been suspended with all its Jobs.
func allSuspended(in *Input) {
	suspend(in)
	for _, job := range in.Jobs {
		job.Spec.Suspend = ptr.To(true)
	}
	in.JobSet.Status.Conditions = []metav1.Condition{{Type: "Suspended", Status: metav1.ConditionTrue, Reason: "SuspendedJobs",
		Message: "jobset is suspended", LastTransitionTime: metav1.NewTime(past)}}
}
