/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestTheWireNamesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		jobSetGroupVersion:   jobset.GroupVersion.String(),
		jobSetNameKey:        jobset.JobSetNameKey,
		jobSetUIDKey:         jobset.JobSetUIDKey,
		epochKey:             jobset.EpochKey,
		protocol.ProgressKey: jobset.ProgressKey,
		strategyInPlace:      string(jobset.InPlaceRestart),
		conditionDisabled:    string(jobset.JobSetInPlaceRestartDisabled),
		conditionTrue:        string(metav1.ConditionTrue),
		initialEventsEndKey:  metav1.InitialEventsAnnotationKey,
	} {
		if got != want {
			t.Errorf("the agent says %q, the API %q", got, want)
		}
	}
}

func TestAJobSetDecodedInPartSaysWhatTheTypedOneSays(t *testing.T) {
	t.Parallel()
	conditions := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{
			{Type: string(jobset.JobSetRestarting), Status: metav1.ConditionTrue},
			{Type: string(jobset.JobSetInPlaceRestartDisabled), Status: status},
		}
	}
	policy := func(strategy jobset.JobSetRestartStrategy) jobset.JobSetSpec {
		return jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{RestartStrategy: strategy, MaxRestarts: 3}}
	}
	meta := func(annotations map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: "train", UID: "u", Annotations: annotations}
	}
	deleted := meta(nil)
	deleted.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
	for name, tc := range map[string]struct {
		jobSet jobset.JobSet
		want   JobSet
	}{
		"nothing is set":      {jobset.JobSet{}, JobSet{Exists: true}},
		"O57: Recreate":       {jobset.JobSet{ObjectMeta: meta(nil), Spec: policy(jobset.Recreate)}, JobSet{Exists: true, UID: "u"}},
		"P34: InPlaceRestart": {jobset.JobSet{ObjectMeta: meta(nil), Spec: policy(jobset.InPlaceRestart)}, JobSet{Exists: true, UID: "u", InPlace: true}},
		"being deleted":       {jobset.JobSet{ObjectMeta: deleted}, JobSet{Exists: true, UID: "u", Deleting: true}},
		"P32a: suspended":     {jobset.JobSet{Spec: jobset.JobSetSpec{Suspend: ptr.To(true)}}, JobSet{Exists: true, Suspended: true}},
		"P34a: ended":         {jobset.JobSet{Status: jobset.JobSetStatus{TerminalState: string(jobset.JobSetFailed)}}, JobSet{Exists: true, Ended: true}},
		"P32a: not suspended": {jobset.JobSet{Spec: jobset.JobSetSpec{Suspend: ptr.To(false)}}, JobSet{Exists: true}},
		"P34b: the annotation is not obeyed by itself": {jobset.JobSet{ObjectMeta: meta(map[string]string{jobset.DisableInPlaceRestartKey: ""})}, JobSet{Exists: true, UID: "u"}},
		"P34: the condition is True": {
			jobset.JobSet{Status: jobset.JobSetStatus{Conditions: conditions(metav1.ConditionTrue)}}, JobSet{Exists: true, Disabled: true},
		},
		"P34: the condition is False": {
			jobset.JobSet{Status: jobset.JobSetStatus{Conditions: conditions(metav1.ConditionFalse)}}, JobSet{Exists: true},
		},
		"the epochs": {
			jobset.JobSet{Status: jobset.JobSetStatus{DeprecatedEpoch: ptr.To[int32](3), SyncedEpoch: ptr.To[int32](4), Restarts: 2, InPlaceRestarts: 9}},
			JobSet{Exists: true, Deprecated: 3, Synced: 4, Restarts: 11},
		},
		"a negative epoch is none": {
			jobset.JobSet{Status: jobset.JobSetStatus{DeprecatedEpoch: ptr.To[int32](-3), SyncedEpoch: ptr.To[int32](-4)}}, JobSet{Exists: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(tc.jobSet)
			if err != nil {
				t.Fatal(err)
			}
			var object wireJobSet
			if err := json.Unmarshal(text, &object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, object.jobSet(Place{})); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheWorkersOfAJobSet(t *testing.T) {
	t.Parallel()
	rjob := func(replicas int32, parallelism *int32) jobset.ReplicatedJob {
		return jobset.ReplicatedJob{Replicas: replicas, Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Parallelism: parallelism}}}
	}
	workers := func(rjobs ...jobset.ReplicatedJob) int {
		text, err := json.Marshal(jobset.JobSet{Spec: jobset.JobSetSpec{ReplicatedJobs: rjobs}})
		if err != nil {
			t.Fatal(err)
		}
		var object wireJobSet
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		return object.jobSet(Place{}).Workers
	}
	if got := workers(rjob(1, nil), rjob(10, ptr.To[int32](500)), rjob(3, ptr.To[int32](0))); got != 5001 {
		t.Errorf("P72: %d workers, want 5001", got)
	}
	if got := workers(rjob(1, nil), rjob(10, ptr.To[int32](-1))); got != 1 {
		t.Errorf("W141: %d workers beside a negative size, want 1", got)
	}
	if got, huge := workers(rjob(math.MaxInt32, ptr.To[int32](math.MaxInt32)), rjob(math.MaxInt32, ptr.To[int32](math.MaxInt32)), rjob(math.MaxInt32, ptr.To[int32](math.MaxInt32))), math.MaxInt32; got != huge {
		t.Errorf("W141: %d workers of more than a number holds, want %d", got, huge)
	}
}

// onTheWire is what an agent decodes of a JobSet.
func onTheWire(t *testing.T, js jobset.JobSet) (object wireJobSet) {
	t.Helper()
	text, err := json.Marshal(js)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestTheWorldOfAWorker(t *testing.T) {
	t.Parallel()
	object := onTheWire(t, jobset.JobSet{Status: jobset.JobSetStatus{ReplicatedJobsStatus: []jobset.ReplicatedJobStatus{
		{Name: "leader", SyncedWorkers: 1, Address: "bad"}, {Name: "workers", SyncedWorkers: 6}, {Name: "told", SyncedWorkers: 2, Address: "10.1.2.3"},
	}}})
	for name, tc := range map[string]struct {
		place Place
		want  protocol.World
	}{
		"P102: the only Pod of the only Job":        {Place{ReplicatedJob: "leader", Jobs: 1}, protocol.World{Size: 1}},
		"P102: one of six in one Job":               {Place{ReplicatedJob: "workers", Jobs: 1, Index: 5}, protocol.World{Size: 6, Rank: 5}},
		"P102: ranks go on from Job to Job":         {Place{ReplicatedJob: "workers", Jobs: 3, Job: 2, Index: 1}, protocol.World{Size: 6, Rank: 5}},
		"P102: one that has left the group":         {Place{ReplicatedJob: "workers", Jobs: 1, Index: 6}, protocol.World{}},
		"P102: one that does not know where it is":  {Place{Jobs: 1}, protocol.World{}},
		"P102: one whose ReplicatedJob has no size": {Place{ReplicatedJob: "other", Jobs: 1}, protocol.World{}},
		"P122: with the address of rank 0":          {Place{ReplicatedJob: "told", Jobs: 1, Index: 1, Master: "t-told-0-0.t"}, protocol.World{Size: 2, Rank: 1, Master: "10.1.2.3"}},
		"P122: what is no address is not handed on": {Place{ReplicatedJob: "leader", Jobs: 1, Master: "t-leader-0-0.t"}, protocol.World{Size: 1, Master: "t-leader-0-0.t"}},
		"P120: with the name of rank 0":             {Place{ReplicatedJob: "workers", Jobs: 1, Index: 1, Master: "t-w-0-0.t"}, protocol.World{Size: 6, Rank: 1, Master: "t-w-0-0.t"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := object.jobSet(tc.place).World; got != tc.want {
				t.Errorf("world %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestThePlaceOfAWorkerOutsideOfAllEpochs(t *testing.T) {
	t.Parallel()
	rjob := jobset.ReplicatedJob{Name: "workers", Replicas: 2}
	rjob.Template.Spec.Parallelism = ptr.To[int32](3)
	object := onTheWire(t, jobset.JobSet{
		Spec:   jobset.JobSetSpec{ReplicatedJobs: []jobset.ReplicatedJob{{Name: "leader", Replicas: 1}, rjob}},
		Status: jobset.JobSetStatus{ReplicatedJobsStatus: []jobset.ReplicatedJobStatus{{Name: "workers", SyncedWorkers: 4}}},
	})
	for name, tc := range map[string]struct {
		place Place
		want  protocol.World
	}{
		"P120: by the specification":        {Place{ReplicatedJob: "workers", Jobs: 2, Job: 1, Index: 2, Master: "m"}, protocol.World{Size: 6, Rank: 5, Master: "m"}},
		"P120: one Pod is the default":      {Place{ReplicatedJob: "leader", Jobs: 1}, protocol.World{Size: 1}},
		"P120: one that has no place there": {Place{ReplicatedJob: "workers", Jobs: 2, Job: 1, Index: 3}, protocol.World{}},
		"P120: an unknown ReplicatedJob":    {Place{Jobs: 1}, protocol.World{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := object.jobSet(tc.place).Outside; got != tc.want {
				t.Errorf("world %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestTheStartTellsTheWorld(t *testing.T) {
	t.Parallel()
	world, outside := protocol.World{Size: 4, Rank: 3}, protocol.World{Size: 5, Rank: 3}
	view := View{JobSet: JobSet{Restarts: 1, World: world, Outside: outside}, Workers: []Worker{{Container: "w", State: Idle}}}
	for name, tc := range map[string]struct {
		kind Kind
		want *protocol.World
	}{
		"P102: of an epoch":                         {Lift, &world},
		"P120: of the specification, with a bypass": {Bypass, &outside},
	} {
		_, sends := view.Apply(Action{Kind: tc.kind, Epoch: 2})
		if diff := cmp.Diff(tc.want, sends[0].Message.World); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheStartTellsTheDeadlines(t *testing.T) {
	t.Parallel()
	object := wireJobSet{}
	text := `{"spec":{"failurePolicy":{"inPlaceRestart":{"progress":{"startSeconds":600,"stallSeconds":30,"maxExtensionSeconds":3600}}}}}`
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	view := View{JobSet: object.jobSet(Place{}), Workers: []Worker{{Container: "w", State: Idle}}}
	for name, tc := range map[string]struct {
		kind Kind
		want *protocol.Progress
	}{
		"P131: with an epoch":     {Lift, &protocol.Progress{StartSeconds: 600, StallSeconds: 30, MaxExtensionSeconds: 3600}},
		"P131: not with a bypass": {Bypass, nil},
	} {
		_, sends := view.Apply(Action{Kind: tc.kind, Epoch: 2})
		if diff := cmp.Diff(tc.want, sends[0].Message.Progress); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheReportNamesNothingButItsAnnotation(t *testing.T) {
	t.Parallel()
	got, err := statement{epoch: 7}.patch()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"7"}}}`; string(got) != want {
		t.Errorf("patch %s, want %s", got, want)
	}
	// P66: and that of an exit, with the epoch or without.
	exit := &protocol.WorkerExit{Container: "x", Epoch: 6, Exit: protocol.Exit{Code: 1}}
	for epoch, want := range map[int32]string{7: `"jobset.sigs.k8s.io/epoch":"7",`, 0: ""} {
		got, err := statement{epoch: epoch, exit: exit}.patch()
		if err != nil {
			t.Fatal(err)
		}
		want = `{"metadata":{"annotations":{` + want + `"jobset.sigs.k8s.io/worker-exit":` +
			`"{\"container\":\"x\",\"epoch\":6,\"code\":1,\"time\":\"0001-01-01T00:00:00Z\"}"}}}`
		if string(got) != want {
			t.Errorf("patch %s, want %s", got, want)
		}
	}
	// P122: and that of an address, with an epoch only.
	for epoch, want := range map[int32]string{7: `{"metadata":{"annotations":{"jobset.sigs.k8s.io/address":"10.1.2.3","jobset.sigs.k8s.io/epoch":"7"}}}`, 0: `{"metadata":{"annotations":{}}}`} {
		if got, err := (statement{epoch: epoch, address: "10.1.2.3"}).patch(); err != nil || string(got) != want {
			t.Errorf("patch %s, %v, want %s", got, err, want)
		}
	}
}
