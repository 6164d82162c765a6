/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func withProgress(start, stall, extension *int32) func(js *jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart.Progress = &jobset.ProgressPolicy{StartSeconds: start, StallSeconds: stall, MaxExtensionSeconds: extension}
	}
}

func withDump(signal jobset.DumpSignal, seconds *int32) func(js *jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart.Progress = &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](30), DumpSignal: signal, DumpSeconds: seconds}
	}
}

// withFruitless sets how many restarts in a row may lead nowhere.
func withFruitless(most int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart.Progress = &jobset.ProgressPolicy{MaxRestartsWithoutProgress: ptr.To(most)}
	}
}

func TestProgress(t *testing.T) {
	const path = policyPath + ".progress"
	process := func(change func(js *jobset.JobSet)) func(*jobset.JobSet) { return withMode(jobset.ProcessMode, change) }
	runCreate(t, processJobSet, map[string]createCase{
		"P131: deadlines":                {gates: gateOn, mut: process(withProgress(ptr.To[int32](600), ptr.To[int32](30), ptr.To[int32](0)))},
		"P131: the shortest":             {gates: gateOn, mut: process(withProgress(ptr.To[int32](1), ptr.To[int32](5), nil))},
		"P131: 0 is no limit":            {gates: gateOn, mut: process(withProgress(ptr.To[int32](0), ptr.To[int32](0), nil))},
		"P131: absent ones are none too": {gates: gateOn, mut: process(withProgress(nil, nil, nil))},
		"P131 W142: a limit that a busy node would miss": {
			gates: gateOn, mut: process(withProgress(nil, ptr.To[int32](4), nil)),
			want: []violation{invalid(path+".stallSeconds", "must be 0, for no limit, or at least 5")},
		},
		"P131 W142: negative ones, all at once": {
			gates: gateOn, mut: process(withProgress(ptr.To[int32](-1), ptr.To[int32](-2), ptr.To[int32](-3))),
			want: []violation{
				invalid(path+".startSeconds", "must be a number of seconds from 0 on"),
				invalid(path+".stallSeconds", "must be a number of seconds from 0 on"),
				invalid(path+".maxExtensionSeconds", "must be a number of seconds from 0 on"),
			},
		},
		"P136: restarts that may lead nowhere": {gates: gateOn, mut: process(withFruitless(3))},
		"P136: 0 is no limit":                  {gates: gateOn, mut: process(withFruitless(0))},
		"P136 W142: fewer than none": {
			gates: gateOn, mut: process(withFruitless(-1)),
			want: []violation{invalid(path+".maxRestartsWithoutProgress", "must be a number of restarts from 1 on, or 0 for no limit")},
		},
		"P136: container mode has nobody who is told steps": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, withFruitless(3)),
			want: []violation{forbidden(path, "in mode Container no supervisor watches the worker; remove it, or set mode: Process")},
		},
		"P134: stacks before the end": {gates: gateOn, mut: process(withDump("QUIT", ptr.To[int32](60)))},
		"P134: a signal that no program dumps at, for too long": {
			gates: gateOn, mut: process(withDump("KILL", ptr.To[int32](61))),
			want: []violation{{field.ErrorTypeNotSupported, path + ".dumpSignal", `"USR1", "USR2", "QUIT"`}, invalid(path+".dumpSeconds", "from 1 to 60")},
		},
		"P134: a time without a signal": {
			gates: gateOn, mut: process(withDump("", ptr.To[int32](2))),
			want: []violation{forbidden(path+".dumpSeconds", "remove it, or set dumpSignal")},
		},
		"P134: container mode has nobody who sends a signal": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, withDump("USR1", nil)),
			want: []violation{forbidden(path, "in mode Container no supervisor watches the worker; remove it, or set mode: Process")},
		},
		"P130: container mode has no supervisor": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, withProgress(nil, ptr.To[int32](30), nil)),
			want: []violation{forbidden(path, "in mode Container no supervisor watches the worker; remove it, or set mode: Process")},
		},
	})
}

func TestProgressMayChange(t *testing.T) {
	base := func() *jobset.JobSet {
		js := processJobSet()
		withMode(jobset.ProcessMode, withProgress(nil, ptr.To[int32](30), nil))(js)
		return js
	}
	runUpdate(t, base, map[string]updateCase{
		"P131: another limit":  {gates: gateOn, mut: withProgress(ptr.To[int32](60), ptr.To[int32](90), nil)},
		"P131: no limits":      {gates: gateOn, mut: func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.Progress = nil }},
		"P131: the first ones": {gates: gateOn, old: func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.Progress = nil }, mut: withProgress(nil, ptr.To[int32](9), nil)},
		"P131: a limit that is too short": {
			gates: gateOn, mut: withProgress(nil, ptr.To[int32](1), nil),
			want: []violation{invalid(policyPath+".progress.stallSeconds", "at least 5")},
		},
		"P131: what is too short already does not block other changes": {
			gates: gateOn, old: withProgress(nil, ptr.To[int32](1), nil), mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) },
		},
		"P44: nothing else of the policy may change with it": {
			gates: gateOn,
			mut: func(js *jobset.JobSet) {
				withProgress(nil, ptr.To[int32](9), nil)(js)
				js.Spec.FailurePolicy.MaxRestarts++
			},
			want: []violation{invalid("spec.failurePolicy", "changed: spec.failurePolicy.maxRestarts")},
		},
	})
}

func TestWarningsOfProgress(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(js *jobset.JobSet)
		want   []string
	}{
		"P131: a start that takes longer gives none": {change: withProgress(ptr.To[int32](600), ptr.To[int32](30), nil)},
		"P131: nor does a start without limit":       {change: withProgress(nil, ptr.To[int32](30), nil)},
		"P131: a start that may take less time than a step": {
			change: withProgress(ptr.To[int32](10), ptr.To[int32](30), nil),
			want: []string{policyPath + ".progress.startSeconds: is 10, less than stallSeconds (30): a worker has less time from its start to its first sign " +
				"than from one sign to the next, although the start includes imports and the first step"},
		},
		"P136: steps have to be told": {
			change: func(js *jobset.JobSet) { withFruitless(3)(js); js.Spec.FailurePolicy.MaxRestarts = 3 },
			want: []string{policyPath + ".progress.maxRestartsWithoutProgress: applies only if workers report their steps, by X_JOBSET_STEP or a number in the file of " +
				"JOBSET_PROGRESS_FILE; a worker that gives only WATCHDOG=1 is never found to make no progress"},
		},
		"P136: maxRestarts comes first": {
			change: func(js *jobset.JobSet) { withFruitless(4)(js); js.Spec.FailurePolicy.MaxRestarts = 3 },
			want:   []string{policyPath + ".progress.maxRestartsWithoutProgress: is 4, more than maxRestarts (3), which is used up before: it ends nothing"},
		},
		"P131: no limit at all": {
			change: withProgress(nil, nil, nil),
			want:   []string{policyPath + ".progress: has neither startSeconds nor stallSeconds, so hangs are never detected"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := processJobSet()
			withMode(jobset.ProcessMode, tc.change)(js)
			if diff := cmp.Diff(tc.want, progressWarnings(js)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			before := js.DeepCopy()
			if got := AdjustedWarnings(before, js, gateOn); len(got) > 0 {
				t.Errorf("warnings %q of what an update leaves as it is", got)
			}
			before.Spec.FailurePolicy.InPlaceRestart.Progress = nil
			if diff := cmp.Diff(tc.want, AdjustedWarnings(before, js, gateOn)); diff != "" {
				t.Errorf("on update (-want +got):\n%s", diff)
			}
		})
	}
}
