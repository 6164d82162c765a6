/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/access"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestManyAccounts(t *testing.T) {
	t.Parallel()
	t.Run("P56: a pass asks about ten accounts, and later passes about the others", func(t *testing.T) {
		t.Parallel()
		w := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3)
		for i := range 25 {
			w.ReplicatedJob(builders.MakeReplicatedJob(fmt.Sprintf("r%d", i)).PodSpec(func(spec *corev1.PodSpec) {
				spec.ServiceAccountName = fmt.Sprintf("account-%d", i)
				spec.InitContainers = []corev1.Container{{Name: "agent", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), StartupProbe: workerpod.StartupProbe(workerpod.DefaultBarrierPort)}}
			}))
		}
		v := &view.View{Input: Input{JobSet: w.Obj(), Now: now, Access: map[string]AgentAccess{}}, Group: view.GroupState{Size: 1}}
		for _, want := range []int{10, 10, 5, 0} {
			asked := access.AgentAccess(v, pass.Result{}).Ask.AskAccess
			if len(asked) != want {
				t.Fatalf("asked about %d accounts, want %d: %v", len(asked), want, asked)
			}
			for _, account := range asked {
				v.Access[account] = AgentAccess{Asked: now}
			}
		}
	})
}
