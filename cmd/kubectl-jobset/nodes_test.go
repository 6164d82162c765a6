/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

func TestNodesOfOneJobSetAreFromItsOwnEvents(t *testing.T) {
	t.Parallel()
	began := func(namespace, node string) corev1.Event {
		return corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "train." + node},
			InvolvedObject: corev1.ObjectReference{Kind: jobset.Kind, Namespace: namespace, Name: "train", UID: "train-uid"},
			Reason:         constants.InPlaceRestartStartedReason, FirstTimestamp: metav1.Now(),
			Message: "container worker of worker pod train-w-0-0 exited with code 1 on node " + node + "; all workers of epoch 1 restart in place",
		}
	}
	events := object(map[string]any{"apiVersion": "v1", "kind": "EventList", "items": []corev1.Event{
		began("research", "n1"), began("elsewhere", "forged"), began("research", "n2\x1b[2J"),
	}})
	for name, args := range map[string][]string{
		"P95: of the namespace":    {"nodes"},
		"P95: of the JobSet named": {"nodes", "train"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){eventsPath: events}), args...)
			if err != nil || !strings.Contains(out, "n1") {
				t.Errorf("n1 is missing, error %v:\n%s", err, out)
			}
			if strings.Contains(out, "forged") {
				t.Errorf("an event of another namespace counts:\n%s", out)
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
