/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestNodesAreFromTheHistoryOfJobSets(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(0, 1).Obj()
	for _, node := range []string{"n1", "n2\x1b[2J"} {
		js.Status.RestartHistory = append(js.Status.RestartHistory, jobset.RestartRecord{Kind: jobset.RestartedInPlace, Epoch: 1, Began: metav1.NowMicro(),
			Cause: jobset.RestartCause{Type: jobset.CauseFailed, Pod: "train-w-0-0", Node: node}})
	}
	answers := map[string]func(http.ResponseWriter){jobSetPath: object(js), jobSetsPath: object(map[string]any{"items": []any{js}})}
	for name, args := range map[string][]string{
		"P95: of the namespace":    {"nodes"},
		"P95: of the JobSet named": {"nodes", "train"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, answers), args...)
			if err != nil || !strings.Contains(out, "n1") {
				t.Errorf("n1 is missing, error %v:\n%s", err, out)
			}
			if strings.Contains(out, "\x1b") || !strings.Contains(out, "n2\ufffd[2J") {
				t.Errorf("a terminal would obey the name of a node: %q", out)
			}
		})
	}
}

func TestNodesRefuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"name one JobSet, or none; there are 2 names": {"nodes", "a", "b"},
		"a JobSet is in one namespace":                {"nodes", "train", "-A"},
		`there is no JobSet "other"`:                  {"nodes", "other"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			notFound := refuse(http.StatusNotFound, "NotFound", "not found")
			other := strings.Replace(jobSetPath, "/train", "/other", 1)
			_, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){other: notFound}), args...)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v", err)
			}
		})
	}
}
