/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/pkg/config"
)

const head = "apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n"

// says compares the errors of a configuration.
func says(t *testing.T, text string, want []string) {
	t.Helper()
	cfg, err := config.Decode([]byte(head + text + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, err := range config.Validate(cfg) {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestValidateAgent(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"P52: an image and resources": {
			text: `inPlaceRestart: {agentImage: "registry:5000/jobset/agent:v1@sha256:0", createAccess: false,
				agentResources: {requests: {cpu: 10m, memory: 32Mi, ephemeral-storage: 1Mi}, limits: {cpu: 1, memory: 32Mi}}}`,
		},
		"P121: an environment": {text: `inPlaceRestart: {environment: Torch}`},
		"P127: that of JAX":    {text: `inPlaceRestart: {environment: Jax}`},
		"P121: no environment": {text: `inPlaceRestart: {environment: None}`},
		"P121: an unknown environment": {
			text: `inPlaceRestart: {environment: torch}`,
			want: []string{`inPlaceRestart.environment: Unsupported value: "torch": supported values: "Torch", "Jax", "None"`},
		},
		"P150: a place of reports":         {text: `inPlaceRestart: {reports: Lease, leaseReportsFrom: 1}`},
		"P150: a place of reports by size": {text: `inPlaceRestart: {reports: Auto, leaseReportsFrom: 5000}`},
		"P150: an unknown place, and from less than one worker": {
			text: `inPlaceRestart: {reports: pod, leaseReportsFrom: 0}`,
			want: []string{
				`inPlaceRestart.reports: Unsupported value: "pod": supported values: "Auto", "Pod", "Lease"`,
				"inPlaceRestart.leaseReportsFrom: Invalid value: 0: must be at least 1; for Leases in every group, set reports to Lease",
			},
		},
		"P121: deadlines": {text: `inPlaceRestart: {progress: {startSeconds: 0, stallSeconds: 60, maxExtensionSeconds: 600, dumpSignal: USR1, dumpSeconds: 5, maxRestartsWithoutProgress: 3}}`},
		"P121: deadlines that no worker can keep": {
			text: `inPlaceRestart: {progress: {startSeconds: -1, stallSeconds: 3, dumpSignal: KILL, dumpSeconds: 61}}`,
			want: []string{
				"inPlaceRestart.progress.startSeconds: Invalid value: -1: must be a number of seconds from 0 on",
				"inPlaceRestart.progress.stallSeconds: Invalid value: 3: must be 0, for no limit, or at least 5: signs are looked at once a second, and a busy node delays them",
				`inPlaceRestart.progress.dumpSignal: Unsupported value: "KILL": supported values: "USR1", "USR2", "QUIT"`,
				"inPlaceRestart.progress.dumpSeconds: Invalid value: 61: must be a number of seconds from 1 to 60",
			},
		},
		"P171: when lost workers are replaced, by the deadlines of each JobSet": {text: `inPlaceRestart: {lostNode: {}}`},
		"P171: never, as a default": {text: `inPlaceRestart: {lostNode: {replaceAfterSeconds: 0}}`},
		"P171: a time that has passed": {
			text: `inPlaceRestart: {lostNode: {replaceAfterSeconds: -1}}`,
			want: []string{"inPlaceRestart.lostNode.replaceAfterSeconds: Invalid value: -1: must be a number of seconds from 1 to 3600, or 0 to leave lost workers to Kubernetes"},
		},
		"P52: an image with a space": {
			text: `inPlaceRestart: {agentImage: "agent v1"}`,
			want: []string{`inPlaceRestart.agentImage: Invalid value: "agent v1": must be an image reference, without spaces`},
		},
		"P52: resources that are no use": {
			text: `inPlaceRestart: {agentResources: {requests: {gpu: 1, memory: 64Mi, cpu: -1}, limits: {memory: 32Mi, cpu: 0}, claims: [{name: a}]}}`,
			want: []string{
				"inPlaceRestart.agentResources.claims: Forbidden: an agent needs no devices; remove it",
				`inPlaceRestart.agentResources.limits[cpu]: Invalid value: "0": must be greater than 0`,
				`inPlaceRestart.agentResources.requests: Unsupported value: "gpu": supported values: "cpu", "memory", "ephemeral-storage"`,
				`inPlaceRestart.agentResources.requests[cpu]: Invalid value: "-1": must be greater than 0`,
				`inPlaceRestart.agentResources.requests[memory]: Invalid value: "64Mi": must be at most the limit, 32Mi`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) { says(t, tc.text, tc.want) })
	}
}
