/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// logAt returns a logger of a level, and the lines that it wrote.
func logAt(level int) (logr.Logger, *[]string) {
	var lines []string
	return funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: level, LogTimestamp: false}), &lines
}

// TestThePassIsLogged: one that creates a Job, and one that comes too early.
func TestThePassIsLogged(t *testing.T) {
	t.Parallel()
	plain := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").Network(jobset.Network{EnableDNSHostnames: ptr.To(false)}).ReplicatedJob(builders.MakeReplicatedJob("a"))
	}
	writes := []string{
		`"level"=2 "msg"="Created a Job" "job"={"name"="js-a-0" "namespace"="ns"} "reason"="missing in attempt 0"`,
		`"level"=2 "msg"="Wrote the status" "epoch"=0 "reason"="counts"`,
	}
	step := `"level"=4 "msg"="Step" "resourceVersion"="999" "step"="createJobs" "added"=["CreateJob=1"] "ended"=false`
	early := `"level"=5 "msg"="Skipped the pass" "wait"="50ms" "reason"="the last one was just before"`
	tests := map[string]struct {
		js    *jobset.JobSet
		level int
		want  []string
	}{
		"O11a: nothing by default":                     {plain().Obj(), 0, nil},
		"O11a: level 2 has the writes":                 {plain().Obj(), 2, writes},
		"O11a: level 4 has the steps before them, too": {plain().Obj(), logSteps, append([]string{step}, writes...)},
		"O11a: level 5 has what was skipped": {plain().ManagedBy("example.com/other").Obj(), logSkipped,
			[]string{`"level"=5 "msg"="Skipped the pass" "managedBy"="example.com/other" "reason"="another controller manages the JobSet"`, early}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, tc.js)
			log, lines := logAt(tc.level)
			for range 2 {
				if _, err := s.Reconcile(ctrl.LoggerInto(t.Context(), log), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(tc.js)}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, *lines, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLoggerOfAPassNamesTheObject(t *testing.T) {
	t.Parallel()
	log, lines := logAt(0)
	of := shared.PassLogger(log, "pod", "job", func(job *types.NamespacedName) types.NamespacedName { return *job })
	of(nil).Info("Starting")
	of(&types.NamespacedName{Namespace: "ns", Name: "js-a-0"}).Info("Pass")
	want := []string{
		`"level"=0 "msg"="Starting" "controller"="pod"`,
		`"level"=0 "msg"="Pass" "controller"="pod" "job"={"name"="js-a-0" "namespace"="ns"}`,
	}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Errorf("O11a: lines (-want +got):\n%s", diff)
	}
}
