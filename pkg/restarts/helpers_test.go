/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var update = flag.Bool("update", false, "write what is shown into testdata instead of comparing it")

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// training is JobSet research/train of so many Jobs with so many workers each, 10 restarts at most.
func training(jobs, workers int32, deprecated, synced int32) *builders.JobSetWrapper {
	return builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 10).Epochs(deprecated, synced).
		ReplicatedJob(builders.MakeReplicatedJob("workers").Replicas(jobs).Workers(workers))
}

// running is what is read of a JobSet whose workers all run, and report an epoch.
func running(js *jobset.JobSet, epoch int) Input {
	in := Input{JobSet: js, Now: now, Limit: 5}
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		for j := range int(rjob.Replicas) {
			workers := *rjob.Template.Spec.Parallelism
			job := builders.MakeJob(js, rjob.Name, j).Workers(workers).Counts(workers, workers, 0).Obj()
			in.Jobs = append(in.Jobs, *job)
			for index := range int(workers) {
				pod := builders.MakePod(job, index).Epoch(strconv.Itoa(epoch)).Obj()
				pod.Spec.NodeName = fmt.Sprintf("node-%d", j*int(workers)+index)
				in.Pods = append(in.Pods, *pod)
			}
		}
	}
	return in
}

// podOf finds a worker's Pod.
func podOf(t *testing.T, in *Input, job, index int) *corev1.Pod {
	t.Helper()
	name := fmt.Sprintf("train-workers-%d-%d", job, index)
	for i := range in.Pods {
		if in.Pods[i].Name == name {
			return &in.Pods[i]
		}
	}
	t.Fatalf("no Pod %s", name)
	return nil
}

func jobOf(in *Input, job int) *batchv1.Job { return &in.Jobs[job] }

func event(at time.Time, reason, message string) corev1.Event {
	return corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("train.%d", at.UnixNano())},
		EventTime:  metav1.NewMicroTime(at), Reason: reason, Message: message,
	}
}

// restarted is a group restart of this cause, which has ended.
func restarted(at time.Time, took time.Duration, epoch int32, cause string) jobset.RestartRecord {
	return jobset.RestartRecord{Kind: jobset.RestartedInPlace, Epoch: epoch, Began: metav1.NewMicroTime(at), Ended: ptr.To(metav1.NewMicroTime(at.Add(took))), Workers: 512,
		Cause: jobset.RestartCause{Type: jobset.CauseOther, Message: cause}}
}

// open is one that has not.
func open(r jobset.RestartRecord) jobset.RestartRecord {
	r.Ended, r.Workers = nil, 0
	return r
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nfix with: go test ./pkg/restarts -update", file, diff)
	}
}
