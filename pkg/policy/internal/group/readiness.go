/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// The lift lets workers start, but they may fail to: images of workers are pulled
// only then, and a node can be lost at any time. It takes Kubernetes minutes to evict
// its Pods, and until then the group only seems to run. Workers that do not run are
// reported by a condition, an event and metrics. No decision depends on it.

// startPatience is how long a worker without a known problem may take to start: large images take that long to pull.
const startPatience = 5 * time.Minute

// UnreadySince returns the readiness of a worker in the epoch that runs, and since when it could have
// been ready, zero if that is not known: it is not expected to be ready while the group assembles.
func UnreadySince(js *jobset.JobSet, pod *facts.Member) (facts.Readiness, time.Time) {
	readiness, since := pod.Readiness, pod.UnreadySince
	lifted := ptr.Deref(js.Status.LastSyncTime, metav1.Time{}).Time // when the workers of the epoch that runs were allowed to start, zero if that is not known
	switch {
	case readiness == facts.Starting && lifted.IsZero():
		since = lifted // it may have been held until just now
	case readiness != facts.Ready && since.Before(lifted):
		since = lifted
	}
	return readiness, since
}

// RunsAt reports whether a Pod belongs to the epoch at which its group runs, and is watched.
func RunsAt(js *jobset.JobSet, pod *facts.Member) bool {
	return pass.Runs(js) && !pass.Bypassed(js) && !ptr.Deref(js.Spec.Suspend, false) && pod.Reported.Epoch == ptr.Deref(js.Status.SyncedEpoch, 0)
}

// Late reports whether a worker that is not ready since a moment should be looked at by now, and
// otherwise how long until then.
func Late(readiness facts.Readiness, since, now time.Time, period time.Duration) (late bool, left time.Duration) {
	if since.IsZero() {
		return false, 0
	}
	if readiness == facts.Starting {
		period = max(period, startPatience)
	}
	left = period - now.Sub(since)
	return readiness != facts.Ready && left <= 0, left
}

// WorkersNotReady keeps the condition that says which workers of a group that runs do not.
func WorkersNotReady(v *view.View, before pass.Result) pass.Result {
	if !v.InPlace {
		return pass.Result{}
	}
	reported := v.IsTrue(jobset.JobSetWorkersNotReady)
	if v.Deadlines.NotReady <= 0 || !v.Watched || v.Terminal(&before) || !v.StaysRunning(&before) {
		if !reported {
			return pass.Result{}
		}
		return pass.Tell(pass.Silently(jobset.JobSetWorkersNotReady, metav1.ConditionFalse, constants.GroupNotRunningReason, constants.GroupNotRunningMessage))
	}
	unready := v.Unready()
	late, r := notReadyForLong(v, unready)
	g := &v.Group
	switch {
	case len(late) > 0:
		message := fmt.Sprintf("%d of %d workers of epoch %d not ready: %s", len(late), g.Size, v.Synced, describe(v, late))
		if reported {
			return r.And(pass.Tell(pass.Silently(jobset.JobSetWorkersNotReady, metav1.ConditionTrue, constants.WorkersNotReadyReason, message)))
		}
		return r.And(pass.Tell(pass.Silently(jobset.JobSetWorkersNotReady, metav1.ConditionTrue, constants.WorkersNotReadyReason, message),
			pass.Warning(constants.WorkersNotReadyReason, message)))
	case reported && len(unready) == 0 && g.Members == g.Size: // a Pod that is told to stop is no member, and not ready
		message := fmt.Sprintf("all %d workers of epoch %d are ready", g.Members, v.Synced)
		return r.And(pass.Tell(pass.Silently(jobset.JobSetWorkersNotReady, metav1.ConditionFalse, constants.WorkersReadyReason, message),
			pass.Normal(constants.WorkersReadyReason, message)))
	}
	return r
}

// notReadyForLong picks the Pods whose workers have not been ready for too long, and asks for a look when the next is.
func notReadyForLong(v *view.View, unready []*facts.Member) (picked []*facts.Member, r pass.Result) {
	var next time.Duration
	for _, pod := range unready {
		readiness, since := UnreadySince(v.JobSet, pod)
		late, left := Late(readiness, since, v.Now, v.Deadlines.NotReady)
		if late {
			picked = append(picked, pod)
			continue
		}
		next = pass.Sooner(next, left)
	}
	return picked, pass.RequeueAfter(next)
}

// describe names up to five Pods, their nodes, and since when and why they are not ready.
func describe(v *view.View, pods []*facts.Member) string {
	var each []string
	for _, m := range pods[:min(len(pods), view.MaxNamed)] {
		_, since := UnreadySince(v.JobSet, m)
		each = append(each, fmt.Sprintf("%s on node %s since %s, %s", m.Name, m.Node, since.UTC().Format(time.RFC3339), WhyUnready(m)))
	}
	text := strings.Join(each, "; ")
	if more := len(pods) - view.MaxNamed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// WhyUnready returns, for users, why a worker is not ready.
func WhyUnready(m *facts.Member) string {
	switch m.Readiness {
	case facts.Blocked:
		return fmt.Sprintf("container %s waits: %s", m.Blocker.Container, m.Blocker.Reason)
	case facts.NodeSilent:
		return "its node has stopped reporting"
	default:
		return "its containers have not started, or are not ready"
	}
}
