/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Step is a part of a restart.
type Step struct {
	// Name is what it is called: Failure or Planned, Break, Reports, Lift; with another strategy Failure, Recreation, Ready.
	Name string `json:"name"`
	// At is when it ended; nil if nothing tells, or if it has not.
	At   *metav1.Time `json:"at,omitempty"`
	Done bool         `json:"done"`
	Text string       `json:"text"`
}

// memoryOfFailure is how long before a break its first failure can have been.
const memoryOfFailure = 10 * time.Minute

// stepsOf tells the last restart, or the start that is under way, in steps.
func stepsOf(r *restarts.Report, in *restarts.Input) []Step {
	starting := r.State.Name == restarts.Assembling
	if len(r.LastRestarts) == 0 || starting && !r.LastRestarts[0].InProgress {
		if !starting {
			return nil
		}
		return []Step{reportsStep(r, nil), {Name: "Lift", Text: "when all are back"}}
	}
	last := &r.LastRestarts[0]
	failure := Step{Name: "Failure", Done: true, Text: last.Because, At: failureTime(last, in)}
	if last.Planned {
		failure.Name = "Planned"
	}
	var ended *metav1.Time
	if last.Ended != nil {
		ended = &metav1.Time{Time: last.Ended.Time}
	}
	began := &metav1.Time{Time: last.Began.Time}
	if last.Kind != jobset.RestartedInPlace {
		what := "all Jobs are recreated"
		if last.Kind == jobset.RestartedJob {
			what = "a Job is recreated"
		}
		return []Step{failure, {Name: "Recreation", Done: true, At: began, Text: what},
			{Name: "Ready", Done: last.Ended != nil, At: ended, Text: took(last, "when all are ready")}}
	}
	text := "the workers stop, and restart in place"
	if last.Epoch > 0 {
		text = fmt.Sprintf("the workers of epoch %d stop, and restart in place", last.Epoch)
	}
	return []Step{failure, {Name: "Break", Done: true, At: began, Text: text}, reportsStep(r, last),
		{Name: "Lift", Done: last.Ended != nil, At: ended, Text: took(last, "when all are back")}}
}

// reportsStep says how many workers are back. Last is nil for a start.
func reportsStep(r *restarts.Report, last *restarts.Restart) Step {
	switch {
	case last != nil && last.Ended != nil && last.Workers > 0:
		return Step{Name: "Reports", Done: true, Text: fmt.Sprintf("all %d workers are back", last.Workers)}
	case last != nil && last.Ended != nil:
		return Step{Name: "Reports", Done: true, Text: "all workers are back"}
	case r.Workers == nil:
		return Step{Name: "Reports", Text: "it is not known how many workers are back"}
	}
	return Step{Name: "Reports", Text: fmt.Sprintf("%d of %d workers are back", r.Workers.Back, r.Workers.Total)}
}

func took(r *restarts.Restart, otherwise string) string {
	if r.Seconds == nil {
		return otherwise
	}
	return fmt.Sprintf("%.1f seconds after it began", *r.Seconds)
}

// failureTime is when the worker ended that a cause names, if its Pod still tells; else nil.
func failureTime(r *restarts.Restart, in *restarts.Input) *metav1.Time {
	for i := range in.Pods {
		pod := &in.Pods[i]
		if pod.Name != r.Cause.Pod {
			continue
		}
		for _, end := range endsOf(pod, in.Member(pod).Exit, r.Epoch) {
			if before := r.Began.Sub(end.Time); before > -time.Second && before < memoryOfFailure {
				return &end
			}
		}
	}
	return nil
}

// endsOf are the times at which workers of a Pod failed: what the agent told of an epoch first, then what the kubelet did.
func endsOf(pod *corev1.Pod, exit *protocol.WorkerExit, epoch int32) []metav1.Time {
	var ends []metav1.Time
	if exit != nil && exit.Epoch == epoch {
		ends = append(ends, metav1.NewTime(exit.Time))
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		for _, end := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if end != nil && end.ExitCode != 0 {
				ends = append(ends, end.FinishedAt)
			}
		}
	}
	return ends
}

// mostPoints bounds a curve; a longer one loses every second point.
const mostPoints = 240

// Reports is how many workers of a group were back when, while it assembled from an epoch.
type Reports struct {
	Epoch  int32   `json:"epoch"`
	Points []Point `json:"points,omitempty"`
}

// Point says how many workers were back at a time in milliseconds.
type Point struct {
	At   int64 `json:"t"`
	Back int   `json:"n"`
}

// next adds what a report says. It ends with the lift, and begins again with the next break.
func (r Reports) next(report *restarts.Report, now time.Time) Reports {
	if report.Epochs == nil || report.Workers == nil {
		return r
	}
	back, synced := report.Workers.Back, report.Epochs.Synced
	last := len(r.Points) - 1
	switch {
	case report.State.Name != restarts.Assembling:
		if last < 0 || r.Epoch+1 != synced || r.Points[last].Back >= report.Workers.Total {
			return r // nothing was seen of it, or its end was
		}
		back = report.Workers.Total
	case last < 0 || r.Epoch != synced:
		return Reports{Epoch: synced, Points: []Point{{now.UnixMilli(), back}}}
	case r.Points[last].Back == back:
		return r
	}
	points := make([]Point, 0, len(r.Points)+1)
	for i, p := range r.Points {
		if len(r.Points) < mostPoints || i%2 == 0 {
			points = append(points, p)
		}
	}
	return Reports{Epoch: r.Epoch, Points: append(points, Point{now.UnixMilli(), back})}
}
