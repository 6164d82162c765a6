/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// LogsVariable names the directory for what failed stories leave behind.
const LogsVariable = "E2E_LOGS"

// sketch is the state of a Pod in one line, without what differs between two runs.
func sketch(pod *corev1.Pod) string {
	parts := []string{string(pod.Status.Phase)}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			parts = append(parts, list[i].Name+":"+state(&list[i]))
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.AllContainersRestarting && c.Status == corev1.ConditionTrue {
			parts = append(parts, "restarting")
		}
	}
	if pod.DeletionTimestamp != nil {
		parts = append(parts, "deleting")
	}
	return strings.Join(parts, " ")
}

func state(s *corev1.ContainerStatus) string {
	switch {
	case s.State.Terminated != nil:
		return fmt.Sprintf("exit-%d", s.State.Terminated.ExitCode)
	case s.State.Waiting != nil:
		return s.State.Waiting.Reason
	case s.State.Running == nil:
		return "unknown"
	case s.Ready:
		return "ready"
	case s.Started != nil && *s.Started:
		return "started"
	}
	return "running"
}

// keepEvidence shows the state of a story that failed, and writes all there is
// to know to the directory for logs, if there is one.
func (s *fixture) keepEvidence() {
	summary := s.summary()
	AddReportEntry("state at the end", summary, ReportEntryVisibilityFailureOrVerbose)
	root := os.Getenv(LogsVariable)
	if root == "" {
		return
	}
	name := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(CurrentSpecReport().LeafNodeText, "-")
	dir := filepath.Join(root, s.namespace+"-"+name[:min(len(name), 60)])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		GinkgoWriter.Println("no evidence is kept:", err)
		return
	}
	keep := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil { //nolint:gosec // for people to read
			GinkgoWriter.Println("not kept:", err)
		}
	}
	keep("summary.txt", summary)
	keep("timeline.txt", s.timeline())
	for name, list := range map[string]client.ObjectList{"jobsets": &jobset.JobSetList{}, "jobs": &batchv1.JobList{}, "pods": &corev1.PodList{}} {
		if err := api.List(s.ctx, list, client.InNamespace(s.namespace)); err != nil {
			GinkgoWriter.Println("not kept:", err)
			continue
		}
		text, _ := yaml.Marshal(list)
		keep(name+".yaml", string(text))
	}
	for _, pod := range s.record.pods() {
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if log, err := cluster.Log(s.ctx, Container{Pod: pod, Name: c.Name}); err == nil {
				keep(pod.Name+"_"+c.Name+".log", log)
			}
		}
	}
	GinkgoWriter.Println("evidence is in", dir)
}

// timeline is all that was seen, line by line.
func (s *fixture) timeline() string {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	var out strings.Builder
	for _, v := range s.record.views {
		at := v.At.UTC().Format("15:04:05.000")
		switch {
		case v.JobSet != nil:
			status, _ := yaml.Marshal(v.JobSet.Status)
			fmt.Fprintf(&out, "%s JobSet %s\n%s", at, v.JobSet.Name, status)
		case v.Gone:
			fmt.Fprintf(&out, "%s Pod %s gone\n", at, v.Pod.Name)
		default:
			fmt.Fprintf(&out, "%s Pod %s epoch %q %s\n", at, v.Pod.Name, v.Pod.Annotations[jobset.EpochKey], sketch(v.Pod))
		}
	}
	return out.String()
}
