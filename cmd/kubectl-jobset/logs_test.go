/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/logs"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestLogsOfAContainer(t *testing.T) {
	ended := &corev1.ContainerStateTerminated{ExitCode: 137}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, tc := range map[string]struct {
		status corev1.ContainerStatus
		want   []bool // of each log whether it is the previous one
	}{
		"P129: one that runs":                    {corev1.ContainerStatus{State: running}, []bool{false}},
		"P129: one that was started again":       {corev1.ContainerStatus{State: running, LastTerminationState: corev1.ContainerState{Terminated: ended}}, []bool{true, false}},
		"P129: one that has ended":               {corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended}}, []bool{false}},
		"P129: none of one that has not started": {corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}, nil},
		"P129: the one before, while it waits":   {corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{Terminated: ended}}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "research", Name: "p", Labels: map[string]string{jobset.ReplicatedJobNameKey: "workers"}}, Spec: corev1.PodSpec{NodeName: "n"}}
			tc.status.Name = "worker"
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "other"}, tc.status}
			var got []bool
			for _, s := range logsOf(pod, "worker") {
				got = append(got, s.Previous)
				s.Previous = false
				if diff := cmp.Diff(logs.Log{ReplicatedJob: "workers", Pod: "p", Node: "n", Container: "worker"}, s.Log); diff != "" || s.namespace != "research" {
					t.Errorf("%s (-want, +got):\n%s", s.namespace, diff)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}

func TestALogMayVanishBeforeItIsPrinted(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("train", "research").FailurePolicy(jobset.InPlaceRestart, 3).ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	job := builders.MakeJob(js, "w", 0).Workers(2).Obj()
	for name, tc := range map[string]struct {
		vanish []int
		want   string
	}{
		"P129: the others are printed": {[]int{0}, "step of worker 1"},
		"P129: all":                    {[]int{0, 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods, answers := make([]corev1.Pod, 2), map[string]func(http.ResponseWriter){jobSetPath: object(js)}
			for i := range pods {
				pods[i] = *builders.MakePod(job, i).Obj()
				pods[i].Spec.Containers = []corev1.Container{{Name: "worker", Command: []string{path.Join(protocol.Dir, protocol.Binary)}}}
				pods[i].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
				reads := 0
				answers[podsPath+"/"+pods[i].Name+"/log"] = func(w http.ResponseWriter) {
					if reads++; reads > 1 && slices.Contains(tc.vanish, i) {
						refuse(http.StatusNotFound, "NotFound", "it is gone")(w)
						return
					}
					fmt.Fprintf(w, "time=2026-03-14T12:00:00Z level=INFO msg=\"%sthe worker starts\" run=start epoch=1 rank=%d\nstep of worker %d\n", protocol.LogPrefix, i, i)
				}
			}
			answers[podsPath] = object(map[string]any{"apiVersion": "v1", "kind": "PodList", "items": pods})
			out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, answers), "logs", "train", "--epoch=1")
			if (err == nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), "it is gone") {
				t.Errorf("error %v", err)
			}
			if !strings.Contains(out, tc.want) || strings.Contains(out, "step of worker 0") {
				t.Errorf("no %q, or what is gone, in:\n%s", tc.want, out)
			}
		})
	}
}

func TestFlagsOfLogsAreChecked(t *testing.T) {
	for _, flag := range []string{"--epoch=-2", "--rank=-2"} {
		if _, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, nil), "logs", "train", flag); err == nil || !strings.Contains(err.Error(), "must be 0 or more") {
			t.Errorf("P129: %s: error %v", flag, err)
		}
	}
}
