/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/pkg/config"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers/jobset"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

func TestNodeHealthOf(t *testing.T) {
	own := nodehealth.Rules{"example.com/nic": {{Key: "nic", Value: "flaps"}, {Key: "nic", Value: "down", Moves: true}}}
	standard := nodehealth.DefaultRules()
	for name, tc := range map[string]struct {
		text string
		want jobsetcontroller.NodeHealth
	}{
		"P90, P91, P92: nothing said is both, with the labels of Autopilot": {"", jobsetcontroller.NodeHealth{KeepAway: standard, MoveOff: standard}},
		"P91: what is listed replaces the default": {
			"nodeHealth: {resourceTaints: {example.com/nic: [{key: nic, value: flaps, effect: NoSchedule}, {key: nic, value: down, effect: NoExecute}]}}",
			jobsetcontroller.NodeHealth{KeepAway: own, MoveOff: own},
		},
		"P92: nobody is moved":                             {"nodeHealth: {monitorNodes: false}", jobsetcontroller.NodeHealth{KeepAway: standard}},
		"P92: without the affinity nobody is moved either": {"nodeHealth: {injectAntiAffinities: false}", jobsetcontroller.NodeHealth{}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Decode([]byte("apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n" + tc.text + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, nodeHealthOf(cfg)); diff != "" {
				t.Errorf("node health (-want +got):\n%s", diff)
			}
		})
	}
}
