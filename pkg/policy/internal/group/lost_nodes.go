/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// A worker on a lost node is replaced long before Kubernetes lets its Pod go (P173), because once its group has broken we know more
// than the node monitor does: no worker can compute a step of the old epoch any more, since its peers have left.
//
//	loss         break                                               replaceAfterSeconds
//	 |  peers fail  |  the others report S+1, and wait                    |  written      forced   replaced
//	 |  or stall    |------5 s-----|  the Lease of its node is read ...   |  lostNodes ->  Pod  ->  elsewhere
//	                               |<---- unchanged for 25 s: silent ---->|
//
// What a running group's nodes do is never looked at: without a break nothing happens here (P176).

const (
	// gatherReports is how long after the last report the nodes of Pods that have not reported are looked at.
	gatherReports = 5 * time.Second
	// mostAsked nodes are read in a pass.
	mostAsked = 50
	// mostLostNodes are remembered. The status of the JobSet is sent to every agent.
	mostLostNodes = 16
	// webhookLag is how long after a node was heard from again the Pod webhook may still keep Pods off it.
	webhookLag = 15 * time.Second
)

// LostWorkers replaces by force workers on nodes that are silent, if nobody else is waited for (P173, P174).
func LostWorkers(v *view.View, before pass.Result) pass.Result {
	r := heardAgain(v, &before)
	after := time.Duration(workerpod.LostNodeSeconds(v.JobSet.Spec.FailurePolicy)) * time.Second
	status := &v.JobSet.Status
	if after == 0 || !WaitsForWorkers(v, &before) || status.BreakTime == nil || status.PlannedBreak || v.Group.Reported == 0 {
		return r
	}
	r.Remember.Reported = v.Group.Reported
	awaited := awaited(v)
	if len(awaited) == 0 {
		return r
	}
	if left := v.Left(gatherReports, lastReport(v)); left > 0 {
		return r.And(pass.RequeueAfter(left))
	}
	silent := NodesOf(awaited)
	r = r.And(AskNodes(v, silent))
	heard := slices.ContainsFunc(silent, func(node string) bool { return !v.Heard[node].Silent(v.Now) })
	switch all := len(nodesOfGroup(v)); {
	case heard || !othersAreBack(v):
		return r
	case len(silent) > 1 && 3*len(silent) > all:
		return r.And(pass.Once(constants.ManyNodesSilentReason, fmt.Sprintf("%d of the %d nodes of the group are silent (%s), which is more likely a fault of the manager or the network "+
			"than of the nodes, so no worker is replaced by force", len(silent), all, view.FirstOf(silent))))
	}
	if left := v.Left(after, v.StoppedAt()); left > 0 {
		return r.And(pass.RequeueAfter(left))
	}
	// Of more than the status holds, the others wait for their turn: those that it drops would be written again and again.
	silent = silent[:min(len(silent), mostLostNodes)]
	awaited = slices.DeleteFunc(awaited, func(pod *facts.Member) bool { return !slices.Contains(silent, pod.Node) })
	if slices.ContainsFunc(silent, func(node string) bool { return v.Heard[node].Due(v.Now) }) {
		return r // it may have been heard from since: it is read now, and the next pass decides
	}
	if list, added := withLost(v, silent); added > 0 { // new Pods keep off these nodes before the first of them is created
		r.LostNodes, r.Reports.Outcomes = &pass.LostNodeList{List: list}, slices.Repeat([]pass.Outcome{pass.LostNode}, added)
		// The loss counts for the node (P93). Of several that are lost at once, which is no fault of each, the last by name counts.
		node := silent[len(silent)-1]
		return r.And(jobs.CountFailure(v, &pass.Failure{Pod: awaited[len(awaited)-1].Name, Node: node, Reason: constants.NodeLost}).Result)
	}
	return r.And(replaceLost(v, awaited, silent))
}

// awaited returns the Pods on nodes that have not ended, and not reported S+1, also those of indexes that their Job has no more (P47).
func awaited(v *view.View) []*facts.Member {
	pods := v.Group.Pods(func(s *view.Slot) bool {
		return !s.Reports(v.Synced) && !s.Pod.Ended() && s.Pod.Node != ""
	})
	for _, pod := range v.Group.Outsiders {
		if pod.Node != "" {
			pods = append(pods, pod)
		}
	}
	return view.SortByName(pods)
}

// lastReport returns when the last member reported, as far as it was seen, and the break at the earliest.
func lastReport(v *view.View) time.Time {
	broken := v.JobSet.Status.BreakTime.Time
	switch quiet := v.Quiet; {
	case quiet.Reported != v.Group.Reported:
		return v.Now
	case quiet.Since.After(broken):
		return quiet.Since
	}
	return broken
}

// othersAreBack reports whether a worker of the epoch that ended has come back, on a node that is not silent: so its peers have left.
func othersAreBack(v *view.View) bool {
	return len(v.Group.Pods(func(s *view.Slot) bool {
		return s.Reports(v.Synced) && s.Pod.Created().Before(v.BrokenAt()) && !v.Heard[s.Pod.Node].Silent(v.Now)
	})) > 0
}

func nodesOfGroup(v *view.View) []string {
	return NodesOf(v.Group.Pods(func(s *view.Slot) bool { return s.Pod.Node != "" }))
}

// NodesOf returns the nodes of Pods, each once, by name.
func NodesOf(pods []*facts.Member) []string {
	nodes := map[string]bool{}
	for _, pod := range pods {
		nodes[pod.Node] = true
	}
	return slices.Sorted(maps.Keys(nodes))
}

// AskNodes asks what is heard from some nodes, and for another look when there is more of it.
func AskNodes(v *view.View, nodes []string) pass.Result {
	due := slices.DeleteFunc(slices.Clone(nodes), func(node string) bool { return !v.Heard[node].Due(v.Now) })
	r := pass.RequeueAfter(facts.HeardInterval)
	for _, node := range nodes {
		r = r.And(pass.RequeueAfter(v.Heard[node].Wait(v.Now)))
	}
	if len(due) > mostAsked {
		due, r = due[:mostAsked], pass.RequeueAfter(time.Second)
	}
	r.Ask.AskNodes = due
	return r
}

// withLost returns the nodes that new Pods keep off, with these, and how many of these were added.
func withLost(v *view.View, silent []string) (list []jobset.LostNode, added int) {
	list = slices.Clone(v.JobSet.Status.LostNodes)
	for _, node := range silent {
		at := slices.IndexFunc(list, func(n jobset.LostNode) bool { return n.Node == node })
		if at >= 0 && list[at].HeardTime == nil && list[at].Epoch == v.Synced {
			continue
		}
		if added++; at >= 0 {
			list = slices.Delete(list, at, at+1)
		}
		list = append(list, jobset.LostNode{Node: node, Epoch: v.Synced, Time: metav1.NewTime(v.Now)})
	}
	return list[max(0, len(list)-mostLostNodes):], added
}

// replaceLost deletes workers on lost nodes by force.
func replaceLost(v *view.View, pods []*facts.Member, silent []string) pass.Result {
	texts := make([]string, 0, len(silent))
	for _, node := range silent[:min(len(silent), view.MaxNamed)] {
		heard := v.Heard[node]
		if heard.Gone {
			texts = append(texts, fmt.Sprintf("node %s is gone", node))
			continue
		}
		texts = append(texts, fmt.Sprintf("node %s has been silent for %.0f s (last report before %s)", node, heard.SilentFor().Seconds(), heard.From.UTC().Format(time.RFC3339)))
	}
	message := fmt.Sprintf("%s, and all other workers are back; replaced by force: %s", strings.Join(texts, ", "), view.PodNames(pods))
	r := pass.RequeueAfter(facts.HeardInterval)
	because := pass.Warning(constants.WorkerOnLostNodeReason, message).Event
	for _, pod := range pods {
		r.Writes.Do(pass.Op{Kind: pass.ReplaceLost, Pod: pod, Because: &because, Epoch: v.Synced + 1, Since: v.JobSet.Status.BreakTime.Time})
	}
	return r
}

// lostMeanwhile says on which nodes workers were lost since the group broke, "" if on none.
func lostMeanwhile(v *view.View) string {
	var nodes []string
	for _, n := range v.JobSet.Status.LostNodes {
		if !n.Time.Time.Before(v.BrokenAt().Truncate(time.Second)) { // the API keeps whole seconds
			nodes = append(nodes, silenceOf(v, n.Node))
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	return view.FirstOf(nodes) + ", worker replaced by force"
}

// silenceOf says what was heard of a node; a new leader does not know for how long it was silent.
func silenceOf(v *view.View, node string) string {
	heard := v.Heard[node]
	switch seconds := heard.SilentFor().Seconds(); {
	case heard.Gone:
		return "node " + node + " was gone"
	case seconds > 0:
		return fmt.Sprintf("node %s was silent for %.0f s", node, seconds)
	}
	return "node " + node + " was silent"
}

// heardAgain lets new Pods onto nodes that were lost and are heard from again. Affinity is fixed when a Pod is created, so those that
// wait because they keep off such a node are created again.
func heardAgain(v *view.View, before *pass.Result) pass.Result {
	known := v.JobSet.Status.LostNodes
	if len(known) == 0 || !WaitsForWorkers(v, before) || v.Group.Unscheduled == 0 {
		return pass.Result{}
	}
	var r pass.Result
	var next []jobset.LostNode
	var ask []string
	for _, n := range known {
		if n.HeardTime == nil {
			ask = append(ask, n.Node)
			if v.Heard[n.Node].Renewed {
				n.HeardTime = ptr.To(metav1.NewTime(v.Now))
			}
			next = append(next, n)
			continue
		}
		keepOff := v.Group.Pods(func(s *view.Slot) bool {
			m := s.Pod
			if s.State != view.SlotMember || m.Node != "" || m.Created().Before(n.Time.Time) || m.Created().After(n.HeardTime.Add(webhookLag)) {
				return false
			}
			return !m.Created().After(n.HeardTime.Time) || v.Left(webhookLag, m.Created()) <= 0 // it may find a node that fast
		})
		if len(keepOff) > 0 || v.Left(2*webhookLag, n.HeardTime.Time) > 0 {
			next = append(next, n)
		}
		if len(keepOff) > 0 {
			r = r.And(pass.DeletePods(keepOff, constants.WorkerReplacedReason, fmt.Sprintf("node %s is reporting again; %d unscheduled Pods that avoid it are deleted to be recreated: %s",
				n.Node, len(keepOff), view.PodNames(keepOff))))
		}
	}
	if !slices.Equal(next, known) {
		r.LostNodes = &pass.LostNodeList{List: next}
	}
	return r.And(AskNodes(v, ask))
}

// LostNodes returns the names of the nodes that new Pods of a JobSet keep off because workers were lost on them.
func LostNodes(js *jobset.JobSet) []string {
	var names []string
	for _, n := range js.Status.LostNodes {
		if n.HeardTime == nil {
			names = append(names, n.Node)
		}
	}
	return names
}
