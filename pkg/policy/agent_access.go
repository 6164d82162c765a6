/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
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

// agentAccess tells which account of the workers lacks which right while a group assembles. It also
// corrects what a manager said that granted them, if this one leaves that to others.
func agentAccess(v *view, before result) result {
	g := &v.group
	switch {
	case v.Access == nil || before.terminal(v) || before.writes.Does(ChangeJobs) || v.accessWithheld():
		return result{}
	case before.changes.any(liftBarrier):
		return tell(accessGranted()) // all agents have reported
	case !v.wasWithheld() && (v.running() || g.size == 0 || g.reported == g.size):
		return result{}
	}
	asksLeases := v.Grant == nil && v.reportsInLeases()
	if left := accessAskedAfter - v.Now.Sub(v.assemblesSince()); left > 0 && !asksLeases {
		return requeueAfter(left)
	}
	r := result{ask: Questions{AskLeases: asksLeases}}
	var denied []string
	allAnswered := true
	for _, account := range agentAccounts(v.JobSet) {
		answer := v.Access[account]
		if left := v.until(answer.Asked.Add(v.accessValidFor(answer))); left > 0 {
			r = r.and(requeueAfter(left))
		} else if len(r.ask.AskAccess) < maxAsked {
			r.ask.AskAccess = append(r.ask.AskAccess, account)
		}
		allAnswered = allAnswered && !answer.Asked.IsZero() && !answer.Unknown
		if len(answer.Lacks) > 0 {
			denied = append(denied, accessDenied(v.JobSet.Namespace, account, answer.Lacks))
		}
	}
	switch {
	case len(denied) > 0:
		return r.and(tell(becomesTrue(jobset.JobSetAgentAccessDenied, constants.AgentAccessDeniedReason,
			"agents cannot report, and the workers wait for them: "+strings.Join(denied, "; "))))
	case allAnswered:
		return r.and(tell(accessGranted()))
	}
	return r
}

// reportsInLeases reports whether agents that the controller adds are asked to report in Leases (P150).
func (v *view) reportsInLeases() bool {
	from := v.Injection.LeaseReportsFrom
	return from > 0 && int64(v.group.size) >= from && workerpod.ModeOf(v.JobSet.Spec.FailurePolicy) == jobset.ProcessMode && len(preparedAccounts(v.JobSet)) > 0
}

// leasesDenied tells why such agents report on their Pods all the same (P153). It is told at each lift: the group works, but costs more.
func leasesDenied(v *view) result {
	switch {
	case !v.reportsInLeases():
		return result{}
	case v.LeaseGap != "":
		return tell(warning(constants.AgentPolicyMissingReason, LeasePolicy().Missing(v.LeaseGap)))
	}
	var denied []string
	for _, account := range preparedAccounts(v.JobSet) {
		if lacks := v.Access[account].LacksLeases; len(lacks) > 0 {
			denied = append(denied, accessDenied(v.JobSet.Namespace, account, lacks))
		}
	}
	if refused := v.leasesRefused(); len(denied) == 0 && refused != "" {
		denied = append(denied, refused)
	}
	if len(denied) == 0 {
		return result{}
	}
	return tell(warning(constants.AgentLeasesDeniedReason, "agents report on their Pods instead of in Leases, which costs the API server more: "+strings.Join(denied, "; ")))
}

// leasesRefused says which Leases were refused although rights and policy are there, "" if none was. Why, only the agents know.
func (v *view) leasesRefused() string {
	var refused []string
	for _, job := range v.Jobs {
		if !workerpod.ReportsInLease(&job.Spec.Template.Spec) {
			continue // built for another number of workers, or by an earlier manager
		}
		for _, pod := range v.Pods[job.UID] {
			if v.LeasesSeen && pod.Outside(v.synced) {
				refused = append(refused, pod.Name)
			}
		}
	}
	if len(refused) == 0 {
		return ""
	}
	slices.Sort(refused)
	return fmt.Sprintf("the Leases of %s were refused, by a ResourceQuota, a webhook or a Lease of that name with another owner; their agents log which: kubectl logs --namespace=%s %s --container=%s",
		firstOf(refused), v.JobSet.Namespace, refused[0], workerpod.DefaultAgentName)
}

func accessGranted() notice {
	return becomesFalse(jobset.JobSetAgentAccessDenied, constants.AgentAccessGrantedReason, constants.AgentAccessGrantedMessage)
}

// accessValidFor returns how long an answer is valid.
func (v *view) accessValidFor(answer AgentAccess) time.Duration {
	if answer.Asked.IsZero() {
		return 0
	}
	if len(answer.Lacks) == 0 {
		return accessKnownFor
	}
	var denied time.Duration
	if c := v.trueCondition(jobset.JobSetAgentAccessDenied); c != nil {
		denied = answer.Asked.Sub(c.LastTransitionTime.Time)
	}
	return min(max(denied, deniedKnownFor), accessKnownFor)
}

// assemblesSince returns since when the group assembles, or an earlier time: without deadlines that time is not kept.
func (v *view) assemblesSince() time.Time {
	js := v.JobSet
	if since := js.Status.AssemblingSince; since != nil {
		return since.Time
	}
	if c := v.trueCondition(jobset.JobSetRestarting); c != nil && v.restartingInPlace() {
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
