/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package progress

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/restarts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var update = flag.Bool("update", false, "write what is shown into testdata instead of comparing it")

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// group is JobSet research/train of four workers that run epoch 3; each change is made in turn.
func group(changes ...func(*restarts.Input)) restarts.Input {
	js := builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 10).Epochs(2, 3).InPlaceRestarts(2).
		ReplicatedJob(builders.MakeReplicatedJob("workers").Replicas(1).Workers(4)).Obj()
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
	in := restarts.Input{JobSet: js, Now: now, Limit: 5}
	job := builders.MakeJob(js, "workers", 0).Workers(4).Counts(4, 4, 0).Obj()
	in.Jobs = append(in.Jobs, *job)
	for index := range 4 {
		in.Pods = append(in.Pods, *builders.MakePod(job, index).Epoch(strconv.Itoa(3)).Obj())
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func ledger(t jobset.TimeStatus) func(*restarts.Input) {
	return func(in *restarts.Input) { in.JobSet.Status.Time = &t }
}

func spent(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }

func limits(stall, start int32) func(*restarts.Input) {
	return func(in *restarts.Input) {
		in.JobSet.Spec.FailurePolicy.InPlaceRestart.Progress = &jobset.ProgressPolicy{StallSeconds: ptr.To(stall), StartSeconds: ptr.To(start)}
	}
}

// tells: the Pod of a worker has this annotation.
func tells(index int, report string) func(*restarts.Input) {
	return func(in *restarts.Input) { in.Pods[index].Annotations[jobset.ProgressKey] = report }
}

// inLeases moves the reports of all Pods into Leases, where agents of large groups report.
func inLeases(in *restarts.Input) {
	var leases []coordinationv1.Lease
	for i := range in.Pods {
		pod := &in.Pods[i]
		lease := coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: facts.LeaseName(pod.Name), Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
		}}
		for _, key := range []string{jobset.EpochKey, jobset.ProgressKey} {
			if value, ok := pod.Annotations[key]; ok {
				lease.Annotations[key] = value
				delete(pod.Annotations, key)
			}
		}
		leases = append(leases, lease)
	}
	in.Leases = facts.InList(leases)
}

// restarted is a group restart that has ended.
func restarted(at time.Time, took time.Duration, epoch int32, cause jobset.RestartCause) func(*restarts.Input) {
	return func(in *restarts.Input) {
		history := &in.JobSet.Status.RestartHistory
		*history = append([]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: epoch, Began: metav1.NewMicroTime(at),
			Ended: ptr.To(metav1.NewMicroTime(at.Add(took))), Workers: 4, Cause: cause}}, *history...)
	}
}

var it = jobset.RestartCause{Type: jobset.CauseOther, Message: "it"}

// trained has run for ten hours, and hung in its second epoch.
func trained() restarts.Input {
	return group(limits(30, 600),
		ledger(jobset.TimeStatus{At: metav1.NewMicroTime(ago(time.Hour)), Running: spent(9 * time.Hour), Assembling: spent(5 * time.Minute),
			Starting: spent(12 * time.Minute), Steps: &jobset.StepsStatus{Highest: 4210, Repeated: 180}}),
		tells(0, `{"epoch":3,"steps":{"first":4101,"last":4700,"highest":4700},"startMs":241000,"longestGapMs":7900}`),
		tells(1, `{"epoch":2,"steps":{"first":3900,"last":4210,"highest":4210},"startMs":239000,"longestGapMs":8100,"silentMs":30200}`),
		tells(2, `{"epoch":2,"steps":{"first":3900,"last":4209,"highest":4209},"startMs":238000,"longestGapMs":6000,"silentMs":31000}`),
		restarted(ago(5*time.Hour), 1400*time.Millisecond, 1, jobset.RestartCause{Type: jobset.CauseExited, Container: "worker", Pod: "train-workers-0-2", ExitCode: 1, Node: "node-2"}),
		restarted(ago(time.Hour), 2300*time.Millisecond, 2, jobset.RestartCause{Type: jobset.CauseSilent, Container: "worker", Pod: "train-workers-0-1", SilentSeconds: 30, Step: 4210, Node: "node-1"}),
		func(in *restarts.Input) {
			in.JobSet.Status.RestartHistory[0].Suspect = "likely culprit: worker pod train-workers-0-2 on node node-2: it reported step 4209 last, the other 3 reported step 4210"
		})
}

func TestTheText(t *testing.T) {
	t.Parallel()
	report, err := Of(trained())
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"trained.txt": Text(&report), "trained.yaml": string(text)} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\nfix with: go test ./pkg/progress -update", file, diff)
		}
	}
}

// TestThePageShowsWhatIsShown: the example of the reference page is the golden output.
func TestThePageShowsWhatIsShown(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../site/content/en/docs/reference/kubectl-jobset.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/trained.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(text)) {
		t.Error("the page does not show testdata/trained.txt as it is; paste that file into it")
	}
}

func suspended(in *restarts.Input) {
	in.JobSet.Spec.Suspend = ptr.To(true)
	in.JobSet.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetSuspended), Status: metav1.ConditionTrue}}
}

// broken: the group broke so long ago, after so many quick failures in a row.
func broken(since time.Duration, failures int32) func(*restarts.Input) {
	return func(in *restarts.Input) {
		in.JobSet.Status.DeprecatedEpoch, in.JobSet.Status.QuickFailures = ptr.To[int32](3), failures
		in.JobSet.Status.BreakTime = ptr.To(metav1.NewMicroTime(ago(since)))
	}
}

// saysPause: a restart of an hour ago waits for half a minute.
func saysPause(in *restarts.Input) {
	in.JobSet.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetRestarting), Status: metav1.ConditionTrue, Reason: constants.InPlaceRestartReason}}
	in.JobSet.Status.RestartHistory = []jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 3, NotBefore: ptr.To(metav1.NewTime(ago(time.Hour - 30*time.Second)))}}
}

// pausesReset: all Jobs have been gone for half an hour, and the pause was ten minutes.
func pausesReset(in *restarts.Input) {
	in.JobSet.Spec.FaultTolerance = &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](600)}
	in.JobSet.Status.FaultTolerance = &jobset.FaultToleranceStatus{Reset: &jobset.ResetStatus{JobsGoneTime: ptr.To(metav1.NewTime(ago(30 * time.Minute)))}}
}

func TestTheReport(t *testing.T) {
	t.Parallel()
	base := jobset.TimeStatus{At: metav1.NewMicroTime(ago(time.Hour)), Running: spent(time.Hour), Assembling: spent(time.Hour)}
	forbidden := errors.New("not for you")
	bypasses := map[string]string{jobset.DisableInPlaceRestartKey: "true"}
	tests := map[string]struct {
		in   restarts.Input
		want []string
		not  []string
	}{
		"P141: the phase that lasts counts up to now": {group(ledger(base)), []string{"Goodput:  66.7 %", "running 2h0m0s"}, nil},
		"P141: a group that assembles":                {group(ledger(base), func(in *restarts.Input) { in.JobSet.Status.DeprecatedEpoch = ptr.To[int32](3) }), []string{"Goodput:  33.3 %", "assembling 2h0m0s"}, nil},
		"P141: a pause costs no goodput":              {group(ledger(base), suspended), []string{"Goodput:  50.0 %", "paused 1h0m0s"}, nil},
		"P140: one that is not suspended yet runs":    {group(ledger(base), func(in *restarts.Input) { in.JobSet.Spec.Suspend = ptr.To(true) }), []string{"running 2h0m0s"}, nil},
		"P140: one that is not resumed yet is paused": {group(ledger(base), suspended, func(in *restarts.Input) { in.JobSet.Spec.Suspend = nil }), []string{"paused 1h0m0s"}, nil},
		"P71, P141: the pause of quick failures":      {group(ledger(base), broken(time.Hour, 20)), []string{"assembling 1h55m0s", "paused 5m0s"}, nil},
		"P71, P141: the part of it up to now":         {group(ledger(jobset.TimeStatus{At: metav1.NewMicroTime(ago(9 * time.Second))}), broken(9*time.Second, 20)), []string{"assembling 0s", "paused 9s"}, nil},
		"P71, P141: as long as the controller says":   {group(ledger(base), broken(time.Hour-time.Millisecond, 20), saysPause), []string{"assembling 1h59m30s", "paused 30s"}, nil},
		"P83, P141: the pause of a reset":             {group(ledger(base), broken(time.Hour, 0), pausesReset), []string{"assembling 1h50m0s", "paused 10m0s"}, nil},
		"P140, P34: a bypass by annotation runs":      {group(ledger(base), func(in *restarts.Input) { in.JobSet.Annotations = bypasses }), []string{"running 2h0m0s"}, nil},
		"P140, P34: one of a group that was breaking": {group(ledger(base), broken(time.Hour, 0), func(in *restarts.Input) { in.JobSet.Annotations = bypasses }), []string{"assembling 2h0m0s"}, nil},
		"P141: what is being deleted counts no more":  {group(ledger(base), func(in *restarts.Input) { in.JobSet.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }), []string{"running 1h0m0s"}, nil},
		"P141: what has ended counts no further": {group(ledger(base), func(in *restarts.Input) {
			in.JobSet.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetCompleted), Status: metav1.ConditionTrue}}
		}), []string{"Goodput:  50.0 %", "running 1h0m0s"}, nil},
		"P141: a clock behind that of the manager":   {group(ledger(jobset.TimeStatus{At: metav1.NewMicroTime(ago(-time.Minute)), Running: spent(time.Second)})), []string{"Goodput:  100.0 %", "running 1s"}, nil},
		"P141: a ledger in which no time has passed": {group(ledger(jobset.TimeStatus{At: metav1.NewMicroTime(now)})), []string{"running 0s"}, []string{"Goodput"}},
		"P141: starting is at most running":          {group(ledger(jobset.TimeStatus{At: metav1.NewMicroTime(now), Running: spent(time.Second), Starting: spent(time.Hour)})), []string{"Goodput:  0.0 %"}, nil},
		"P141: there is no ledger":                   {group(), []string{"status.time is empty"}, []string{"Goodput", "Time:"}},
		"P132: nobody is watched":                    {group(), []string{"progress is absent: workers are not watched"}, []string{"Stall limit", "Start limit"}},
		"P132: no signs, nothing is proposed":        {group(limits(30, 0)), []string{"Stall limit:  30 s; no existing worker has reported two signs, so nothing is proposed", "Start limit:  none; no first sign is known"}, []string{"proposed: "}},
		"P132: no limit, one is proposed":            {group(limits(0, 0), tells(1, `{"epoch":2,"startMs":1,"longestGapMs":6100}`)), []string{"none; the longest time between two signs was 6.1s (train-workers-0-1, epoch 2); proposed: stallSeconds 31"}, nil},
		"P132: a limit that is short":                {group(limits(20, 0), tells(1, `{"epoch":2,"startMs":1,"longestGapMs":10000}`)), []string{"20 s, only 2.0 times what was seen", "proposed: stallSeconds 50\n"}, nil},
		"P132: a limit that is long enough":          {group(limits(60, 0), tells(1, `{"epoch":2,"startMs":1,"longestGapMs":10000}`)), []string{"60 s, 6.0 times what was seen", "proposed: stallSeconds 50 or more"}, nil},
		"P132: the longest of all workers":           {group(limits(60, 9), tells(1, `{"epoch":2,"startMs":3000,"longestGapMs":10000}`), tells(2, `{"epoch":2,"startMs":1,"longestGapMs":11000}`)), []string{"11s (train-workers-0-2, epoch 2)", "9 s, 3.0 times what was seen"}, nil},
		"P157: what is told in Leases":               {group(limits(20, 0), tells(1, `{"epoch":2,"startMs":1,"longestGapMs":10000}`), inLeases), []string{"20 s, only 2.0 times what was seen: "}, nil},
		"P137: what is no report":                    {group(limits(60, 0), tells(1, `{"epoch":2,"startMs":-1,"longestGapMs":10000}`)), []string{"nothing is proposed"}, nil},
		"P137: a Pod of another JobSet":              {group(limits(60, 0), tells(1, `{"epoch":2,"startMs":1,"longestGapMs":10000}`), func(in *restarts.Input) { in.Pods[1].OwnerReferences = nil }), []string{"nothing is proposed"}, nil},
		"P141: steps told before a ledger has any":   {group(tells(0, `{"epoch":3,"steps":{"first":1,"last":7,"highest":9},"startMs":1}`)), []string{"  highest 9, 0 computed again"}, nil},
		"P141: a restart from a checkpoint ahead":    {group(restarted(ago(time.Hour), time.Second, 2, it), tells(0, `{"epoch":3,"steps":{"first":8,"last":9,"highest":9},"startMs":1}`), tells(1, `{"epoch":2,"steps":{"first":1,"last":7,"highest":7},"startMs":1}`)), []string{" 1.0s              0.0s   0           it\n"}, nil},
		"P141: all steps that there are":             {group(restarted(ago(time.Hour), time.Second, 2, it), tells(0, `{"epoch":3,"steps":{"first":0,"last":9,"highest":9},"startMs":1}`), tells(1, fmt.Sprintf(`{"epoch":2,"steps":{"first":1,"last":7,"highest":%d},"startMs":1}`, math.MaxInt64))), []string{fmt.Sprintf(" %d  it\n", math.MaxInt64)}, nil},
		"P141: a worker that never gave a sign":      {group(restarted(ago(time.Hour), time.Second, 2, jobset.RestartCause{Type: jobset.CauseNeverSigned, SilentSeconds: 40})), []string{" 40.0s "}, nil},
		"P141: what a program printed is no silence": {group(restarted(ago(time.Hour), time.Second, 2, jobset.RestartCause{Type: jobset.CauseCannotRestart, Pod: "p", Reason: "no sign for 9 s"})), []string{"Z  -       1.0s"}, nil},
		"P141: Pods that may not be read":            {group(func(in *restarts.Input) { in.Pods, in.PodsUnread = nil, forbidden }), []string{"Pods could not be read, so the reports of workers are missing here: not for you"}, nil},
		"P141: Jobs that may not be read":            {group(func(in *restarts.Input) { in.Jobs, in.JobsUnread = nil, forbidden }), []string{"Jobs could not be read"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := Of(test.in)
			if err != nil {
				t.Fatal(err)
			}
			text := Text(&report)
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			for _, not := range test.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in:\n%s", not, text)
				}
			}
		})
	}
}

func TestAnotherStrategyHasNoProgress(t *testing.T) {
	t.Parallel()
	in := group(func(in *restarts.Input) { in.JobSet.Spec.FailurePolicy.RestartStrategy = jobset.Recreate })
	_, err := Of(in)
	if want := "JobSet research/train has restartStrategy Recreate: progress is kept of JobSets with InPlaceRestart only"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
