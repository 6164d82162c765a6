/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// assemblingGroup is 512 workers 12 seconds after one of them failed: three are not back.
func assemblingGroup(t *testing.T) Input {
	t.Helper()
	const cause = "container worker of worker pod train-workers-7-40 exited with code 1 on node node-488"
	started := cause + "; all workers of epoch 5 restart in place"
	js := training(8, 64, 5, 5).InPlaceRestarts(5).Restarts(1, 1).
		Condition(jobset.JobSetRestarting, true, constants.InPlaceRestartReason, started, ago(12*time.Second)).Obj()
	in := running(js, 6)
	for i := range in.Jobs {
		in.Jobs[i].Labels[constants.RestartsKey] = "1"
	}
	notReady := func(job int) { *jobOf(&in, job).Status.Ready-- }

	pulling := podOf(t, &in, 2, 17)
	delete(pulling.Annotations, jobset.EpochKey)
	pulling.Status.Phase = corev1.PodPending
	pulling.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "jobset-agent", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "registry.example.com/agent:v1"`}}}}
	notReady(2)
	podOf(t, &in, 5, 3).Annotations[jobset.EpochKey] = "5"
	notReady(5)
	unscheduled := podOf(t, &in, 7, 40)
	delete(unscheduled.Annotations, jobset.EpochKey)
	unscheduled.Spec.NodeName = ""
	unscheduled.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: "Unschedulable", Message: "0/512 nodes are available: 511 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable."}}}
	notReady(7)

	exited := func(r jobset.RestartRecord, pod string, code int32, reason, node string) jobset.RestartRecord {
		r.Cause = jobset.RestartCause{Type: jobset.CauseExited, Container: "worker", Pod: pod, ExitCode: code, Reason: reason, Node: node}
		return r
	}
	in.JobSet.Status.RestartHistory = []jobset.RestartRecord{
		open(exited(restarted(ago(12*time.Second), 0, 5, ""), "train-workers-7-40", 1, "Error", "node-488")),
		exited(restarted(ago(21*time.Minute), 1900*time.Millisecond, 4, ""), "train-workers-3-2", 137, "OOMKilled", "node-194"),
	}
	return in
}

func TestWhatATerminalWouldObeyIsReplaced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"lines and letters of any language are kept": {"NODE  ö 節点\nn1\n", "NODE  ö 節点\nn1\n"},
		"an escape sequence":                         {"n1\x1b[2J", "n1\ufffd[2J"},
		"the same in one character":                  {"n1\u009b2J", "n1\ufffd2J"},
		"a carriage return, a bell":                  {"a\rb\a", "a\ufffdb\ufffd"},
		"text that is shown from right to left":      {"n1\u202e1n", "n1\ufffd1n"},
		"what is not UTF-8":                          {"n\xff", "n\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Printable(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheTextOfAGroupThatAssembles(t *testing.T) {
	t.Parallel()
	report := Of(assemblingGroup(t))
	golden(t, "assembling.txt", Text(&report, false))
	text, err := yaml.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "assembling.yaml", string(text))
}

func TestTheTextOfAGroupThatRuns(t *testing.T) {
	t.Parallel()
	js := training(2, 4, 1, 2).InPlaceRestarts(1).
		Condition(jobset.JobSetRestarting, false, constants.WorkersSyncedReason, "all 8 workers have reached epoch 2", ago(3*time.Hour)).Obj()
	js.Status.RestartHistory = []jobset.RestartRecord{restarted(ago(3*time.Hour), 2300*time.Millisecond, 1, "")}
	js.Status.RestartHistory[0].Cause = jobset.RestartCause{Type: jobset.CauseUnseen, Pod: "train-workers-0-3"}
	report := Of(running(js, 2))
	golden(t, "running.txt", Text(&report, false))
}

func TestTheTextOfAnotherStrategy(t *testing.T) {
	t.Parallel()
	js := training(2, 4, 0, 0).FailurePolicy(jobset.Recreate, 3).Restarts(2, 1).
		Condition(jobset.JobSetRestarting, true, constants.DefaultFailurePolicyReason, "applying RestartJobSet failure policy action (first failed job: train-workers-1)", ago(40*time.Second)).Obj()
	js.Status.SyncedEpoch, js.Status.DeprecatedEpoch = nil, nil
	in := running(js, 0)
	in.Jobs[1].Labels[constants.RestartsKey] = "1"
	in.JobSet.Status.RestartHistory = []jobset.RestartRecord{{Kind: jobset.RestartedAllJobs, Attempt: 2, Began: metav1.NewMicroTime(ago(40 * time.Second)),
		Cause: jobset.RestartCause{Type: jobset.CauseJobFailed, Job: "train-workers-1", Reason: "BackoffLimitExceeded"}}}
	report := Of(in)
	golden(t, "recreate.txt", Text(&report, false))
}

// TestThePageShowsWhatIsShown: the example of the reference page is the golden output.
func TestThePageShowsWhatIsShown(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../site/content/en/docs/reference/kubectl-jobset.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/assembling.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(text)) {
		t.Error("the page does not show testdata/assembling.txt as it is; paste that file into it")
	}
}

func TestATableShowsFiveWorkersOfAStateUnlessAllAreAskedFor(t *testing.T) {
	t.Parallel()
	in := running(training(1, 25, 1, 1).Obj(), 1)
	report := Of(in)
	few, all := Text(&report, false), Text(&report, true)
	if n := strings.Count(few, "still of epoch 1"); n != 5 {
		t.Errorf("%d workers, want 5:\n%s", n, few)
	}
	if !strings.Contains(few, "... and 20 more NotReported, see them with --all\n") || !strings.Contains(few, "25 of 25 not back: 25 NotReported") {
		t.Errorf("the rest is not told:\n%s", few)
	}
	if n := strings.Count(all, "still of epoch 1"); n != 25 || strings.Contains(all, "more, see") {
		t.Errorf("%d workers, want all 25:\n%s", n, all)
	}
}

func TestMessagesOfOthersNeitherBreakATableNorTheTerminal(t *testing.T) {
	t.Parallel()
	in := running(training(1, 1, 0, 1).Obj(), 1)
	in.JobSet.Status.RestartHistory = []jobset.RestartRecord{restarted(now, 0, 1, "a\n\x1b[31mred\ttab\u009b;"+strings.Repeat("long ", 200))}
	report := Of(in)
	text := Text(&report, false)
	if strings.ContainsAny(text, "\x1b\t\u009b") {
		t.Errorf("control characters in %q", text)
	}
	if lines := strings.Split(text, "\n"); !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "a [31mred tab ;long") && strings.HasSuffix(l, "...") }) {
		t.Errorf("the message is not on one line, cut:\n%s", text)
	}
}

func TestTheTextNamesTheLikelyCulprit(t *testing.T) {
	t.Parallel()
	in := running(training(1, 1, 1, 2).Obj(), 2)
	last := restarted(ago(time.Minute), time.Second, 1, "it hung")
	last.Suspect = "no likely\nculprit"
	in.JobSet.Status.RestartHistory = []jobset.RestartRecord{last}
	report := Of(in)
	if text := Text(&report, false); !strings.Contains(text, "  it hung; no likely culprit\n") {
		t.Errorf("P135: the likely culprit is not named on one line:\n%s", text)
	}
}

func TestTextOfStates(t *testing.T) {
	t.Parallel()
	bypassed := training(1, 1, 0, 1).Annotation(jobset.DisableInPlaceRestartKey, "").Obj()
	deleting := training(1, 1, 0, 1).Obj()
	deleting.DeletionTimestamp = &metav1.Time{Time: ago(time.Minute)}
	byOthers := training(1, 1, 0, 1).ManagedBy("example.com/other").Obj()
	noPolicy := training(1, 1, 0, 1).Obj()
	noPolicy.Spec.FailurePolicy = nil
	created := training(1, 1, 0, 0).Obj()
	created.CreationTimestamp = metav1.NewTime(ago(5 * time.Second))
	resumed := training(1, 1, 0, 0).Condition(jobset.JobSetSuspended, false, constants.ResumedReason, "", ago(2*time.Second)).Obj()
	resumed.CreationTimestamp = metav1.NewTime(ago(time.Hour))
	clocked := training(1, 1, 3, 3).Obj()
	clocked.Status.AssemblingSince = &metav1.Time{Time: ago(90 * time.Second)}

	tests := map[string]struct {
		js   *jobset.JobSet
		want []string
		not  []string
	}{
		"A group that runs is shown with its epoch": {training(1, 1, 2, 3).Obj(), []string{"running at epoch 3\n", "synced 3, deprecated 2", "Workers:   1 of 1 not back"}, nil},
		"A group that starts for the first time counts from its creation": {created,
			[]string{"assembling for 5s, the workers are held until all report epoch 1\n", "Because:   first start"}, nil},
		"A group that was suspended counts from when it was resumed": {resumed, []string{"assembling for 2s,"}, nil},
		"A group that comes back without a restart counts from the status, and nothing is said of a cause": {clocked,
			[]string{"assembling for 90s, the workers are held until all report epoch 4\n"}, []string{"Because"}},
		"A suspended JobSet waits for nobody": {training(1, 1, 1, 1).Suspend(true).Condition(jobset.JobSetSuspended, true, constants.JobSetSuspendedReason, "", ago(time.Minute)).Obj(),
			[]string{"suspended for 60s\n"}, []string{"Workers:"}},
		"A JobSet that is to be suspended is shown as suspended": {training(1, 1, 1, 1).Suspend(true).Obj(), []string{"State:     suspended\n"}, nil},
		"The annotation is named":                                {bypassed, []string{"bypassed\n", "annotation jobset.sigs.k8s.io/disable-in-place-restart is set"}, []string{"Workers:"}},
		"The gate is named": {training(1, 1, 0, 1).Condition(jobset.JobSetInPlaceRestartDisabled, true, constants.InPlaceRestartDisabledReason, constants.InPlaceRestartDisabledMessage, ago(time.Hour)).Obj(),
			[]string{"disabled by the feature gate for 60m\n", "--feature-gates=InPlaceRestart=true"}, []string{"Workers:"}},
		"A group that runs since the lift says since when": {training(1, 1, 0, 1).Condition(jobset.JobSetRestarting, false, constants.WorkersSyncedReason, "", ago(time.Hour)).Obj(),
			[]string{"running at epoch 1 for 60m\n"}, nil},
		"A restart that did not end in a lift does not say since when the group runs": {training(1, 1, 0, 1).Condition(jobset.JobSetRestarting, false, constants.JobsReadyReason, "", ago(time.Hour)).Obj(),
			[]string{"running at epoch 1\n"}, nil},
		"A gate that came back is forgotten": {training(1, 1, 0, 1).Condition(jobset.JobSetInPlaceRestartDisabled, false, constants.InPlaceRestartEnabledReason, "", ago(time.Hour)).Obj(),
			[]string{"running at epoch 1\n"}, nil},
		"A failed JobSet says why": {training(1, 1, 1, 1).Condition(jobset.JobSetFailed, true, constants.ReachedMaxRestartsReason, constants.ReachedMaxRestartsMessage, ago(time.Hour)).Obj(),
			[]string{"failed for 60m\n", "ReachedMaxRestarts: jobset failed due to reaching max number of restarts"}, []string{"Workers:"}},
		"A completed JobSet waits for nobody": {training(1, 1, 0, 1).Condition(jobset.JobSetCompleted, true, constants.AllJobsCompletedReason, constants.AllJobsCompletedMessage, ago(time.Hour)).Obj(),
			[]string{"completed for 60m\n"}, []string{"Workers:"}},
		"A JobSet that is being deleted waits for nobody":                     {deleting, []string{"being deleted for 60s\n"}, []string{"Workers:"}},
		"Another controller is named":                                         {byOthers, []string{"spec.managedBy is example.com/other"}, nil},
		"Another strategy is named, and that it has no group restarts":        {training(1, 1, 0, 0).FailurePolicy(jobset.BlockingRecreate, 1).Obj(), []string{"Strategy:  BlockingRecreate", "State:     running\n", "no group restarts"}, []string{"Epochs:", "Workers:"}},
		"An empty strategy is Recreate":                                       {training(1, 1, 0, 0).FailurePolicy("", 1).Obj(), []string{"Strategy:  Recreate"}, nil},
		"Without a failure policy nothing is restarted":                       {noPolicy, []string{"there is no failurePolicy"}, nil},
		"All restarts draw on one budget":                                     {training(1, 1, 0, 1).InPlaceRestarts(3).Restarts(4, 2).JobRestarts("workers", []int32{2}, []int32{1}).Obj(), []string{"6 of 10 used, 4 left (3 in place, 2 of all Jobs, 1 of single Jobs), and 2 not counted", "1 of 1 created"}, nil},
		"A Job that was restarted alone since is of an earlier attempt":       {training(1, 1, 0, 1).JobRestarts("workers", []int32{3}, nil).Obj(), []string{"0 of 1 created, 0 ready, 1 of an earlier attempt"}, nil},
		"A budget that was lowered leaves nothing, and not less than nothing": {training(1, 1, 0, 1).InPlaceRestarts(12).Obj(), []string{"12 of 10 used, 0 left"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{JobSet: tc.js, Now: now}
			job := running(tc.js, 0).Jobs[0]
			if tc.js.Status.ReplicatedJobsStatus != nil {
				job.Labels[constants.JobRestartAttemptKey] = "2"
			}
			job.Labels[constants.RestartsKey] = "4"
			in.Jobs = []batchv1.Job{job}
			report := Of(in)
			text := Text(&report, false)
			for _, part := range tc.want {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in:\n%s", part, text)
				}
			}
			for _, part := range tc.not {
				if strings.Contains(text, part) {
					t.Errorf("%q in:\n%s", part, text)
				}
			}
		})
	}
}

func TestWhatCannotBeReadIsLeftOutAndSaid(t *testing.T) {
	t.Parallel()
	forbidden := errors.New("you may not")
	tests := map[string]struct {
		change func(*Input)
		want   string
		check  func(Report) bool
	}{
		"Events": {func(in *Input) { in.Events, in.EventsUnread = nil, forbidden }, "events could not be read, so what they report about agents and Services is missing here: you may not",
			func(r Report) bool { return r.Workers != nil && len(r.LastRestarts) == 2 }},
		"Pods": {func(in *Input) { in.Pods, in.PodsUnread = nil, forbidden }, "Pods could not be read, so the workers are missing here: you may not",
			func(r Report) bool { return r.Workers == nil && r.Jobs != nil && len(r.LastRestarts) == 2 }},
		"Jobs": {func(in *Input) { in.Jobs, in.JobsUnread = nil, forbidden }, "Jobs could not be read, so they and their workers are missing here: you may not",
			func(r Report) bool { return r.Workers == nil && r.Jobs == nil && len(r.LastRestarts) == 2 }},
		"A Job whose labels were removed": {func(in *Input) { in.Jobs[0].Labels = nil }, "Jobs cannot be distinguished: reading label",
			func(r Report) bool { return r.Workers == nil && r.Jobs == nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := assemblingGroup(t)
			tc.change(&in)
			report := Of(in)
			if !tc.check(report) {
				t.Errorf("report %+v", report)
			}
			if text := Text(&report, false); !strings.Contains(text, tc.want) {
				t.Errorf("no %q in:\n%s", tc.want, text)
			}
		})
	}
}

func TestTheAttemptIsShown(t *testing.T) {
	t.Parallel()
	in := assemblingGroup(t)
	const line = "Execution:  attempt 7, which also counts resumptions\n"
	report := Of(in)
	if text := Text(&report, false); strings.Contains(text, "Execution:") {
		t.Errorf("C395: without a count the text has\n%s", text)
	}
	in.JobSet.Status.ExecutionAttempts = ptr.To[int32](7)
	report = Of(in)
	if text := Text(&report, false); !strings.Contains(text, line) {
		t.Errorf("C395: the text lacks %q:\n%s", line, text)
	}
	if raw, err := json.Marshal(report); err != nil || !strings.Contains(string(raw), `"executionAttempts":7`) {
		t.Errorf("C395: the report is %s, %v", raw, err)
	}
}
