/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

const agentQueues = "PriorityLevelConfiguration jobset-agents"

func TestFlowControlIsOffByDefault(t *testing.T) {
	for _, values := range []string{``, `flowControl: {enable: false}`, `agentAccess: {enable: true}`} {
		for _, o := range (release{values: values}).objects(t) {
			if strings.HasPrefix(o.text("apiVersion"), "flowcontrol.apiserver.k8s.io/") {
				t.Errorf("with values %q there is %s, though nobody asked for it", values, o.id())
			}
		}
	}
}

// The schema of the manager is for the account that the Pods of the release have, wherever it is.
func TestFlowSchemaOfTheManagerNamesItsAccount(t *testing.T) {
	tests := map[string]struct {
		release       release
		name          string
		wantNamespace string
	}{
		"release jobset":            {release{}, "jobset-controller", "jobset-system"},
		"a release of another name": {release{name: "training", namespace: "batch"}, "training-jobset-controller", "batch"},
		"a release that is renamed": {release{values: `fullnameOverride: sets`}, "sets-controller", "jobset-system"},
		"a chart that is renamed":   {release{name: "training", values: `nameOverride: sets`}, "training-sets-controller", "jobset-system"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.release.values = "{flowControl: {enable: true}, " + tc.release.values + "}"
			schema := get[flowcontrolv1.FlowSchema](t, tc.release, "FlowSchema "+tc.name)
			want := []flowcontrolv1.Subject{{
				Kind:           flowcontrolv1.SubjectKindServiceAccount,
				ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Name: tc.name, Namespace: tc.wantNamespace},
			}}
			if diff := cmp.Diff(want, schema.Spec.Rules[0].Subjects); diff != "" {
				t.Errorf("subjects (-want +got):\n%s", diff)
			}
			account := find(t, tc.release.objects(t), "ServiceAccount "+tc.name)
			if account == nil || account.text("metadata", "namespace") != tc.wantNamespace {
				t.Errorf("there is no account %s in %s", tc.name, tc.wantNamespace)
			}
		})
	}
}

// What agents ask goes to the level of the chart, and the manager, which would match as well, is asked first.
func TestFlowSchemaOfAgentsNamesTheirLevel(t *testing.T) {
	r := release{name: "training", values: `flowControl: {enable: true}`}
	agents := get[flowcontrolv1.FlowSchema](t, r, "FlowSchema jobset-agents")
	level := agents.Spec.PriorityLevelConfiguration.Name
	queues := get[flowcontrolv1.PriorityLevelConfiguration](t, r, agentQueues)
	if level != queues.Name {
		t.Errorf("agents go to level %s, and there is %s", level, queues.Name)
	}
	manager := get[flowcontrolv1.FlowSchema](t, r, "FlowSchema training-jobset-controller")
	if manager.Spec.PriorityLevelConfiguration.Name == level || manager.Spec.MatchingPrecedence >= agents.Spec.MatchingPrecedence {
		t.Errorf("the manager is in level %s with precedence %d, among agents with precedence %d",
			manager.Spec.PriorityLevelConfiguration.Name, manager.Spec.MatchingPrecedence, agents.Spec.MatchingPrecedence)
	}
}
