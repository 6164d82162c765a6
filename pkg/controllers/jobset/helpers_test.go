/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/controllers/agentaccess"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
	"sigs.k8s.io/jobset/pkg/gates"
)

var now = testshell.Now

// shell is a reconciler over a fake API server.
type shell struct {
	*JobSetReconciler
	*testshell.API
}

func newShell(t *testing.T, objs ...client.Object) *shell {
	t.Helper()
	api := testshell.New(t, objs...)
	return &shell{API: api, JobSetReconciler: &JobSetReconciler{
		client: api.Client, live: api.Fake, events: api.Record, clock: api.Clock, memory: newMemory(), slots: shared.NewSlots(),
		gates: gates.Set{InPlaceRestart: true}, jobs: api.Jobs, pods: api.Pods, agentPolicy: (*agentaccess.Policy)(nil), leasePolicy: (*agentaccess.Policy)(nil),
	}}
}

// stored reads an object back from the fake API server.
func stored[T client.Object](t *testing.T, s *shell, obj T) T {
	t.Helper()
	return testshell.Stored(t, s.Fake, obj)
}
