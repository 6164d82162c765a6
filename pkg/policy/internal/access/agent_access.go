/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	"fmt"
	"slices"
	"strings"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// An agent that may not watch its JobSet, or not patch its Pod, retries indefinitely and its group waits.
// Only its own log says so. So while a group assembles, the API server is asked about the accounts of
// its workers (P56): after the time that a group usually takes, then rarely.
const (
	// accessAskedAfter is how long a group assembles before the API server is asked.
	accessAskedAfter = 5 * time.Second
	// accessKnownFor is how long the answer that an account has its rights is valid. The answer that
	// it lacks some is valid for as long as it has lacked them, between deniedKnownFor and this.
	accessKnownFor = 5 * time.Minute
	deniedKnownFor = 10 * time.Second
	// maxAsked is how many accounts are asked about in a pass, by three requests each. The next pass asks about others.
	maxAsked = 10
)

// AgentAccess tells which account of the workers lacks which right while a group assembles. It also
// corrects what a manager said that granted them, if this one leaves that to others.
func AgentAccess(v *view.View, before pass.Result) pass.Result {
	g := &v.Group
	switch {
	case v.Access == nil || v.Terminal(&before) || before.Writes.Does(pass.ChangeJobs) || accessWithheld(v):
		return pass.Result{}
	case before.Changes.Any(pass.LiftBarrier):
		return pass.Tell(accessGranted()) // all agents have reported
	case !wasWithheld(v) && (v.Running() || g.Size == 0 || g.Reported == g.Size):
		return pass.Result{}
	}
	asksLeases := v.Grant == nil && reportsInLeases(v)
	if left := accessAskedAfter - v.Now.Sub(assemblesSince(v)); left > 0 && !asksLeases {
		return pass.RequeueAfter(left)
	}
	r := pass.Result{Ask: pass.Questions{AskLeases: asksLeases}}
	var denied []string
	allAnswered := true
	for _, account := range agentAccounts(v.JobSet) {
		answer := v.Access[account]
		if left := v.Until(answer.Asked.Add(accessValidFor(v, answer))); left > 0 {
			r = r.And(pass.RequeueAfter(left))
		} else if len(r.Ask.AskAccess) < maxAsked {
			r.Ask.AskAccess = append(r.Ask.AskAccess, account)
		}
		allAnswered = allAnswered && !answer.Asked.IsZero() && !answer.Unknown
		if len(answer.Lacks) > 0 {
			denied = append(denied, accessDenied(v.JobSet.Namespace, account, answer.Lacks))
		}
	}
	switch {
	case len(denied) > 0:
		return r.And(pass.Tell(pass.BecomesTrue(jobset.JobSetAgentAccessDenied, constants.AgentAccessDeniedReason,
			"agents cannot report, and the workers wait for them: "+strings.Join(denied, "; "))))
	case allAnswered:
		return r.And(pass.Tell(accessGranted()))
	}
	return r
}

// reportsInLeases reports whether agents that the controller adds are asked to report in Leases (P150).
func reportsInLeases(v *view.View) bool {
	from := v.Injection.LeaseReportsFrom
	return from > 0 && int64(v.Group.Size) >= from && workerpod.ModeOf(v.JobSet.Spec.FailurePolicy) == jobset.ProcessMode && len(preparedAccounts(v.JobSet)) > 0
}

// LeasesDenied tells why such agents report on their Pods all the same (P153). It is told at each lift: the group works, but costs more.
func LeasesDenied(v *view.View) pass.Result {
	switch {
	case !reportsInLeases(v):
		return pass.Result{}
	case v.LeaseGap != "":
		return pass.Tell(pass.Warning(constants.AgentPolicyMissingReason, LeasePolicy().Missing(v.LeaseGap)))
	}
	var denied []string
	for _, account := range preparedAccounts(v.JobSet) {
		if lacks := v.Access[account].LacksLeases; len(lacks) > 0 {
			denied = append(denied, accessDenied(v.JobSet.Namespace, account, lacks))
		}
	}
	if refused := leasesRefused(v); len(denied) == 0 && refused != "" {
		denied = append(denied, refused)
	}
	if len(denied) == 0 {
		return pass.Result{}
	}
	return pass.Tell(pass.Warning(constants.AgentLeasesDeniedReason, "agents report on their Pods instead of in Leases, which costs the API server more: "+strings.Join(denied, "; ")))
}

// leasesRefused says which Leases were refused although rights and policy are there, "" if none was. Why, only the agents know.
func leasesRefused(v *view.View) string {
	var refused []string
	for _, job := range v.Jobs {
		if !workerpod.ReportsInLease(&job.Spec.Template.Spec) {
			continue // built for another number of workers, or by an earlier manager
		}
		for _, pod := range v.Pods[job.UID] {
			if v.LeasesSeen && pod.Outside(v.Synced) {
				refused = append(refused, pod.Name)
			}
		}
	}
	if len(refused) == 0 {
		return ""
	}
	slices.Sort(refused)
	return fmt.Sprintf("the Leases of %s were refused, by a ResourceQuota, a webhook or a Lease of that name with another owner; their agents log which: kubectl logs --namespace=%s %s --container=%s",
		view.FirstOf(refused), v.JobSet.Namespace, refused[0], workerpod.DefaultAgentName)
}

func accessGranted() pass.Notice {
	return pass.BecomesFalse(jobset.JobSetAgentAccessDenied, constants.AgentAccessGrantedReason, constants.AgentAccessGrantedMessage)
}

// accessValidFor returns how long an answer is valid.
func accessValidFor(v *view.View, answer pass.AgentAccess) time.Duration {
	if answer.Asked.IsZero() {
		return 0
	}
	if len(answer.Lacks) == 0 {
		return accessKnownFor
	}
	var denied time.Duration
	if c := v.TrueCondition(jobset.JobSetAgentAccessDenied); c != nil {
		denied = answer.Asked.Sub(c.LastTransitionTime.Time)
	}
	return min(max(denied, deniedKnownFor), accessKnownFor)
}

// assemblesSince returns since when the group assembles, or an earlier time: without deadlines that time is not kept.
func assemblesSince(v *view.View) time.Time {
	js := v.JobSet
	if since := js.Status.AssemblingSince; since != nil {
		return since.Time
	}
	if c := v.TrueCondition(jobset.JobSetRestarting); c != nil && v.RestartingInPlace() {
		return c.LastTransitionTime.Time
	}
	return js.CreationTimestamp.Time
}

// agentAccounts returns the service accounts that the agents of a JobSet run with, each once.
func agentAccounts(js *jobset.JobSet) []string {
	var accounts []string
	seen := map[string]bool{}
	for i := range js.Spec.ReplicatedJobs {
		account, ok := workerpod.AgentAccount(&js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec)
		if ok && !seen[account] {
			seen[account] = true
			accounts = append(accounts, account)
		}
	}
	return accounts
}

func accessDenied(namespace, account string, lacks []string) string {
	binding := constants.AgentAccess
	if account != constants.AgentAccess {
		binding += "-" + account
	}
	return fmt.Sprintf("service account %s may not %s; grant it with: kubectl create rolebinding %s --namespace=%s --clusterrole=%s --serviceaccount=%s:%s",
		account, strings.Join(lacks, ", "), binding, namespace, constants.AgentAccess, namespace, account)
}
