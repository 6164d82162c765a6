/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const meta = `
metadata:
  name: jobset-agent-js-uid
  namespace: ns
  labels: {jobset.sigs.k8s.io/jobset-name: js}
  ownerReferences:
  - {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: js, uid: js-uid, controller: true, blockOwnerDeletion: true}
`

func TestAgentAccess(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Obj()
	const narrow = meta + `
rules:
- {apiGroups: [jobset.x-k8s.io], resources: [jobsets], resourceNames: [js], verbs: [get, list, watch]}
- {apiGroups: [jobset.x-k8s.io], resources: [jobsets/agent], verbs: [report]}
`
	tests := map[string]struct {
		got  any
		want string
	}{
		"P56: agents read their own JobSet, patch Pods and are marked as agents": {AgentRole(js, AgentsPatchPods), narrow + `
- {apiGroups: [""], resources: [pods], verbs: [patch]}`},
		"P56: without the admission policy they may patch nothing": {AgentRole(js, AgentsRead), narrow},
		"P153: beside Pods they may create and patch Leases": {AgentRole(js, AgentsWriteLeases), narrow + `
- {apiGroups: [""], resources: [pods], verbs: [patch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, patch]}`},
		"P56: the accounts of the templates get this role": {AgentRoleBinding(js, []string{"default", "trainer"}), meta + `
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: jobset-agent-js-uid}
subjects:
- {kind: ServiceAccount, namespace: ns, name: default}
- {kind: ServiceAccount, namespace: ns, name: trainer}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := yaml.Marshal(tc.got)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			for text, into := range map[string]*any{string(text): &got, tc.want: &want} {
				if err := yaml.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}
