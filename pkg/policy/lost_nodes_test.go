/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// lostSince: the group broke so long ago, all Pods are older, and lost workers are replaced after 25 s.
func lostSince(ago time.Duration) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.BreakTime = ptr.To(metav1.NewMicroTime(now.Add(-ago)))
		in.JobSet.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{
			Mode: jobset.ProcessMode, LostNode: &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](25)},
		}
		reported := int64(0)
		editAll(in, func(pod *corev1.Pod) {
			pod.CreationTimestamp, pod.Spec.NodeName = metav1.NewTime(past), "node-of-"+pod.Name
			if pod.Annotations[jobset.EpochKey] == "2" {
				reported++
			}
		})
		in.Quiet = Quiet{Reported: reported, Since: now.Add(-ago)}
	}
}

// silentNodes: the nodes of these workers of the first Job were last read just now, and silent for so long.
func silentNodes(ago time.Duration, workers ...int) func(*Input) {
	return func(in *Input) {
		if in.Heard == nil {
			in.Heard = map[string]facts.Heard{}
		}
		for _, i := range workers {
			in.Heard[in.Pods[in.Jobs[0].UID][i].Node] = facts.Heard{Version: "1", From: now.Add(-ago), To: now}
		}
	}
}

// knownLost: the node of the last worker was put down as lost so long ago.
func knownLost(ago time.Duration) func(*Input) {
	return func(in *Input) {
		pods := in.Pods[in.Jobs[0].UID]
		in.JobSet.Status.LostNodes = []jobset.LostNode{{Node: pods[len(pods)-1].Node, Epoch: 1, Time: metav1.NewTime(now.Add(-ago))}}
	}
}

func lostNodesOf(change func(*jobset.InPlaceRestartPolicy)) func(*Input) {
	return func(in *Input) { change(in.JobSet.Spec.FailurePolicy.InPlaceRestart) }
}

func TestLostNodes(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Forced, Lost, Asked []string
		Told                string
	}
	const third = "node-of-js-w-0-2"
	silent := silentNodes(25*time.Second, 2)
	intent := outcome{Lost: []string{third}}
	force := outcome{Forced: []string{"js-w-0-2"}, Lost: []string{third},
		Told: "node node-of-js-w-0-2 has been silent for 25 s (last report before 2026-03-14T11:59:35Z), and all other workers are back; replaced by force: js-w-0-2"}
	for name, tc := range map[string]struct {
		pods string
		in   []func(*Input)
		want outcome
	}{
		"P172: the nodes of those who have not reported are asked for": {"2 2 _", []func(*Input){lostSince(10 * time.Second)}, outcome{Asked: []string{third}}},
		"P172: not before the others have had time":                    {"2 2 _", []func(*Input){lostSince(4 * time.Second)}, outcome{}},
		"P172: nor soon after one of them reported":                    {"2 2 _", []func(*Input){lostSince(10 * time.Second), func(in *Input) { in.Quiet.Reported = 1 }}, outcome{}},
		"P172: nor again within 10 s":                                  {"2 2 _", []func(*Input){lostSince(10 * time.Second), silentNodes(0, 2)}, outcome{}},
		"P173: silent, but the time is not over":                       {"2 2 _", []func(*Input){lostSince(24 * time.Second), silent}, outcome{}},
		"P173: the time is over, but the node is heard":                {"2 2 _", []func(*Input){lostSince(time.Minute), silentNodes(20*time.Second, 2)}, outcome{}},
		"P173: others are waited for, too":                             {"2 _ _", []func(*Input){lostSince(time.Minute), silent}, outcome{Asked: []string{"node-of-js-w-0-1"}}},
		"P173: nobody is back":                                         {"_ _ _", []func(*Input){lostSince(time.Minute), silent}, outcome{}},
		"P173: those that are back are all new":                        {"2 2 _", []func(*Input){lostSince(time.Minute), silent, onPod(0, 0, fresh), onPod(0, 1, fresh)}, outcome{}},
		"P173: those that are back are on silent nodes":                {"2 2 _", []func(*Input){lostSince(time.Minute), silentNodes(25*time.Second, 0, 1, 2)}, outcome{}},
		"P173: two of three nodes are silent, so it is not the nodes that fail": {"2 _ _", []func(*Input){lostSince(time.Minute), silentNodes(25*time.Second, 1, 2)}, outcome{
			Told: "2 of the 3 nodes of the group are silent (node-of-js-w-0-1, node-of-js-w-0-2), which is more likely a fault of the manager or the network than of the nodes, so no worker is replaced by force"}},
		"P174: first the node is put down, so that new Pods keep off it":  {"2 2 _", []func(*Input){lostSince(25 * time.Second), silent}, intent},
		"P174: then the worker is replaced":                               {"2 2 _", []func(*Input){lostSince(26 * time.Second), silent, knownLost(time.Second)}, force},
		"P174: one that is deleted already, too":                          {"2 2 t_", []func(*Input){lostSince(26 * time.Second), silent, knownLost(time.Second)}, force},
		"P174: and one that is past its grace":                            {"2 2 T_", []func(*Input){lostSince(26 * time.Second), silent, knownLost(time.Second)}, force},
		"P174: one whose Job counts all failures together":                {"2 2 _", []func(*Input){lostSince(26 * time.Second), silent, knownLost(time.Second), countsTogether}, force},
		"P174: one that the group does without since it was resized":      {"2 2 _", []func(*Input){lostSince(26 * time.Second), silent, knownLost(time.Second), doesWithout(2)}, force},
		"P175: a node that is lost again is put down with its last epoch": {"2 2 _", []func(*Input){lostSince(26 * time.Second), silent, knownLost(time.Hour), onJobSet(func(js *jobset.JobSet) { js.Status.LostNodes[0].Epoch = 0 })}, intent},
		"P174: a Pod that has ended is replaced anyway":                   {"2 2 F_", []func(*Input){lostSince(time.Minute), silent, knownLost(time.Second)}, outcome{Lost: []string{third}}},
		"P174: a node that is gone has been silent":                       {"2 2 _", []func(*Input){lostSince(25 * time.Second), silent, func(in *Input) { in.Heard[third] = facts.Unheard(true, now) }}, intent},
		"P172: a node without a Lease is not silent":                      {"2 2 _", []func(*Input){lostSince(time.Hour), func(in *Input) { in.Heard = map[string]facts.Heard{third: facts.Unheard(false, now)} }}, outcome{}},
		"P171: absent, it is off":                                         {"2 2 _", []func(*Input){lostSince(time.Minute), silent, lostNodesOf(func(p *jobset.InPlaceRestartPolicy) { p.LostNode = nil })}, outcome{}},
		"P171: 0 is off":                                                  {"2 2 _", []func(*Input){lostSince(time.Minute), silent, lostNodesOf(func(p *jobset.InPlaceRestartPolicy) { p.LostNode.ReplaceAfterSeconds = ptr.To[int32](0) })}, outcome{}},
		"P171: the time of the deadline":                                  {"2 2 _", []func(*Input){lostSince(25 * time.Second), silent, lostNodesOf(stallsAfter10)}, intent},
		"P171: and not before":                                            {"2 2 _", []func(*Input){lostSince(24 * time.Second), silent, lostNodesOf(stallsAfter10)}, outcome{}},
		"P173: a planned break is no failure":                             {"2 2 _", []func(*Input){lostSince(time.Minute), silent, onJobSet(func(js *jobset.JobSet) { js.Status.PlannedBreak = true })}, outcome{}},
		"P173: nor is a first start":                                      {"2 2 _", []func(*Input){lostSince(time.Minute), silent, onJobSet(func(js *jobset.JobSet) { js.Status.BreakTime = nil })}, outcome{}},
		"P176: a group that runs is not touched":                          {"1 1 1", []func(*Input){lostSince(time.Minute), silent, onJobSet(func(js *jobset.JobSet) { js.Status.DeprecatedEpoch = ptr.To[int32](0) })}, outcome{}},
		"P173: no Lease that is to be read again is relied on":            {"2 2 _", []func(*Input){lostSince(time.Minute), silentUntil(11 * time.Second)}, outcome{Asked: []string{third}}},
		"P173: the end of a bypass is what peers leave at":                {"2 2 _", []func(*Input){lostSince(time.Minute), silent, bypassEndedAgo(20 * time.Second)}, outcome{}},
		"P173: and the time counts from it":                               {"2 2 _", []func(*Input){lostSince(time.Minute), silent, bypassEndedAgo(25 * time.Second)}, intent},
		"P21a: what the clock jumped over did not pass":                   {"2 2 _", []func(*Input){lostSince(time.Minute), silent, func(in *Input) { in.Clock.SteadySince = now.Add(-24 * time.Second) }}, outcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, inPlace(1, 1, tc.pods, tc.in...))
			got := outcome{Asked: plan.AskNodes, Lost: LostNodes(&jobset.JobSet{Status: plan.Status})}
			for _, op := range plan.Of(DeletePod | ReplaceLost) {
				if op.Kind != ReplaceLost || op.Epoch != 2 {
					t.Errorf("%s is deleted as %+v", op.Pod.Name, op)
				}
				got.Forced, got.Told = append(got.Forced, op.Pod.Name), op.Because.Message
			}
			for _, event := range plan.Once {
				got.Told += event.Message
			}
			if plan.Status.InPlaceRestarts != 0 {
				t.Errorf("P174: %d restarts are charged", plan.Status.InPlaceRestarts)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// countsTogether: the Jobs are of a version that does not count each index by itself.
func countsTogether(in *Input) { in.Jobs[0].Spec.BackoffLimitPerIndex = nil }

// doesWithout: the first Job has so many workers by now, as after a planner made the group smaller.
func doesWithout(workers int32) func(*Input) {
	return func(in *Input) {
		for _, spec := range []*batchv1.JobSpec{&in.JobSet.Spec.ReplicatedJobs[0].Template.Spec, &in.Jobs[0].Spec} {
			spec.Parallelism, spec.Completions = &workers, &workers
		}
	}
}

// silentUntil: the Lease of the third node was silent for a minute when it was last read, so long ago.
func silentUntil(ago time.Duration) func(*Input) {
	return func(in *Input) {
		in.Heard = map[string]facts.Heard{"node-of-js-w-0-2": {Version: "1", From: now.Add(-ago - time.Minute), To: now.Add(-ago)}}
	}
}

// TestMoreLostNodesThanAreRemembered: each pass that finds them makes headway, with at most so many of them.
func TestMoreLostNodesThanAreRemembered(t *testing.T) {
	t.Parallel()
	const others, remembered = 40, 16
	const lost = remembered + 4
	var last []int
	for i := range lost {
		last = append(last, others+i)
	}
	in := inPlace(1, 1, strings.Repeat("2 ", others)+strings.TrimSpace(strings.Repeat("_ ", lost)), lostSince(time.Minute), silentNodes(25*time.Second, last...))
	first := decideOnce(t, in)
	in.JobSet.Status = first.Status
	if second := decideOnce(t, in); len(first.Outcomes) != remembered || len(second.Outcomes) != 0 || len(second.Of(ReplaceLost)) != remembered {
		t.Errorf("P174: %d nodes are written, then %d, and %d workers are replaced", len(first.Outcomes), len(second.Outcomes), len(second.Of(ReplaceLost)))
	}
}

func fresh(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now) }

func stallsAfter10(p *jobset.InPlaceRestartPolicy) {
	p.LostNode.ReplaceAfterSeconds, p.Progress = nil, &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](10)}
}

// waits: a worker has no node since so long ago.
func waits(index int, ago time.Duration) func(*Input) {
	return onPod(0, index, func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.CreationTimestamp = "", metav1.NewTime(now.Add(-ago))
	})
}

func TestNodesThatAreHeardAgain(t *testing.T) {
	t.Parallel()
	const lost = "node-of-js-w-0-2"
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(now.Add(-ago)) }
	renewed := func(in *Input) {
		in.Heard = map[string]facts.Heard{lost: {Version: "2", From: now, To: now, Renewed: true}}
	}
	heardAgo := func(ago time.Duration) func(*Input) {
		return func(in *Input) { in.JobSet.Status.LostNodes[0].HeardTime = ptr.To(at(ago)) }
	}
	heardSince := func(seconds int) []jobset.LostNode {
		return []jobset.LostNode{{Node: lost, Epoch: 1, Time: at(30 * time.Second), HeardTime: ptr.To(at(time.Duration(seconds) * time.Second))}}
	}
	base := []func(*Input){lostSince(time.Minute), knownLost(30 * time.Second)}
	kept := []jobset.LostNode{{Node: lost, Epoch: 1, Time: at(30 * time.Second)}}
	heard := []jobset.LostNode{{Node: lost, Epoch: 1, Time: at(30 * time.Second), HeardTime: ptr.To(at(0))}}
	for name, tc := range map[string]struct {
		in    []func(*Input)
		want  []jobset.LostNode
		pods  []string
		asked []string
	}{
		"P174: while a Pod finds no other node it is asked for": {[]func(*Input){waits(2, 20*time.Second)}, kept, nil, []string{lost}},
		"P174: otherwise nobody asks":                           {[]func(*Input){onPod(0, 2, func(pod *corev1.Pod) { pod.Spec.NodeName = "other"; pod.CreationTimestamp = at(20 * time.Second) })}, kept, nil, []string{"other"}},
		"P174: once it is heard of, new Pods may run there":     {[]func(*Input){waits(2, 20*time.Second), renewed}, heard, nil, nil},
		"P174: then those that keep off it are created again":   {[]func(*Input){waits(2, 20*time.Second), heardAgo(time.Second)}, heardSince(1), []string{"js-w-0-2"}, nil},
		"P174: also those of a webhook that had not seen that":  {[]func(*Input){waits(2, 16*time.Second), heardAgo(20 * time.Second)}, heardSince(20), []string{"js-w-0-2"}, nil},
		"P174: but they may find a node first":                  {[]func(*Input){waits(2, 5*time.Second), heardAgo(10 * time.Second)}, heardSince(10), nil, nil},
		"P174: it is remembered for as long":                    {[]func(*Input){waits(2, 8*time.Second), heardAgo(29 * time.Second)}, heardSince(29), nil, nil},
		"P174: and none that were created since":                {[]func(*Input){waits(2, 16*time.Second), heardAgo(31*time.Second + time.Millisecond)}, nil, nil, nil},
		"P174: nor before it was lost":                          {[]func(*Input){waits(2, 40*time.Second), heardAgo(30 * time.Second)}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, inPlace(1, 1, "2 2 _", append(append([]func(*Input){}, base...), tc.in...)...))
			var pods []string
			for _, op := range plan.Of(DeletePod) {
				pods = append(pods, op.Pod.Name)
			}
			if diff := cmp.Diff(tc.want, plan.Status.LostNodes); diff != "" {
				t.Errorf("status.lostNodes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.pods, pods); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.asked, plan.AskNodes); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOneDeletionOfALostWorker: it is replaced once, whoever else would delete its Pod (P25, P24).
func TestOneDeletionOfALostWorker(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pods string
		in   func(*Input)
	}{
		"P25: past its grace on a node that is not ready": {"2 2 T_", func(in *Input) {
			in.Deadlines.ForcefulDeletion, in.NotReady = time.Second, map[string]bool{"node-of-js-w-0-2": true}
			in.Pods[in.Jobs[0].UID][2].DeletionTimestamp = ptr.To(metav1.NewTime(past))
		}},
		"P24: late": {"2 2 _", func(in *Input) {
			in.Deadlines.Assembly, in.JobSet.Status.AssemblingSince = time.Minute, ptr.To(metav1.NewTime(now.Add(-90*time.Second)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, inPlace(1, 1, tc.pods, lostSince(2*time.Minute), silentNodes(25*time.Second, 2), knownLost(time.Second), tc.in))
			if got := plan.Of(DeletePod | ReplaceLost); len(got) != 1 || got[0].Kind != ReplaceLost {
				t.Errorf("P174: %d deletions, the first %+v", len(got), got[:min(1, len(got))])
			}
		})
	}
}

// TestTheEndOfARestartNamesLostNodes: the plugin and the dashboard tell it, too (P174).
func TestTheEndOfARestartNamesLostNodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		heard facts.Heard
		want  string
	}{
		"P174: with its silence": {facts.Heard{Version: "1", From: now.Add(-31 * time.Second), To: now}, "node node-of-js-w-0-2 was silent for 31 s, worker replaced by force"},
		"P174: a new leader":     {facts.Heard{}, "node node-of-js-w-0-2 was silent, worker replaced by force"},
		"P174: gone":             {facts.Unheard(true, now), "node node-of-js-w-0-2 was gone, worker replaced by force"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inPlace(1, 1, "2 2 2", lostSince(time.Minute), knownLost(10*time.Second), func(in *Input) {
				in.Heard = map[string]facts.Heard{"node-of-js-w-0-2": tc.heard}
				in.JobSet.Status.RestartHistory = []jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1}}
				in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, metav1.Condition{Type: string(jobset.JobSetRestarting), Status: metav1.ConditionTrue, Reason: constants.InPlaceRestartReason})
			})
			if got := decideOnce(t, in).Status.RestartHistory[0].Suspect; got != tc.want {
				t.Errorf("suspect is %q, want %q", got, tc.want)
			}
		})
	}
}
