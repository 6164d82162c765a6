/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
)

const (
	ruleRestart = corev1.ContainerRestartRuleActionRestart
	ruleAll     = corev1.ContainerRestartRuleActionRestartAllContainers
	in          = corev1.ContainerRestartRuleOnExitCodesOpIn
	notIn       = corev1.ContainerRestartRuleOnExitCodesOpNotIn
)

func TestAnExitAsksFirstTheRulesThenTheContainerThenThePod(t *testing.T) {
	always, onFailure, never := corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyOnFailure, corev1.ContainerRestartPolicyNever
	rules := func(r ...corev1.ContainerRestartRule) []corev1.ContainerRestartRule { return r }
	for name, c := range map[string]struct {
		rules     []corev1.ContainerRestartRule
		container *corev1.ContainerRestartPolicy
		pod       corev1.RestartPolicy
		code      int32
		want      exitAction
	}{
		"pod Never":                             {pod: "Never", code: 1, want: stayDown},
		"pod OnFailure, success":                {pod: "OnFailure", code: 0, want: stayDown},
		"pod OnFailure, failure":                {pod: "OnFailure", code: 1, want: restartOne},
		"pod Always, success":                   {pod: "Always", code: 0, want: restartOne},
		"container Never beats pod Always":      {container: &never, pod: "Always", code: 1, want: stayDown},
		"container Always beats pod Never":      {container: &always, pod: "Never", code: 0, want: restartOne},
		"container OnFailure, success":          {container: &onFailure, pod: "Always", code: 0, want: stayDown},
		"In matches":                            {rules: rules(exitRule(ruleAll, in, 88)), container: &never, pod: "Never", code: 88, want: restartPod},
		"In does not match":                     {rules: rules(exitRule(ruleAll, in, 88)), container: &never, pod: "Never", code: 7, want: stayDown},
		"In does not match, sidecar":            {rules: rules(exitRule(ruleAll, in, 88)), container: &always, pod: "Never", code: 7, want: restartOne},
		"NotIn matches":                         {rules: rules(exitRule(ruleAll, notIn, 0)), container: &never, pod: "Never", code: 137, want: restartPod},
		"NotIn does not match":                  {rules: rules(exitRule(ruleAll, notIn, 0)), container: &never, pod: "Never", code: 0, want: stayDown},
		"the first of two matching rules wins":  {rules: rules(exitRule(ruleRestart, in, 1, 2), exitRule(ruleAll, notIn, 0)), container: &never, pod: "Never", code: 2, want: restartOne},
		"the second rule when the first passes": {rules: rules(exitRule(ruleRestart, in, 1), exitRule(ruleAll, notIn, 0)), container: &never, pod: "Never", code: 2, want: restartPod},
		"an unknown action falls back":          {rules: rules(exitRule("Terminate", in, 1), exitRule(ruleAll, in, 1)), container: &never, pod: "Always", code: 1, want: stayDown},
		"a rule without exit codes is nothing":  {rules: rules(corev1.ContainerRestartRule{Action: ruleAll}), container: &never, pod: "Always", code: 1, want: stayDown},
	} {
		t.Run(name, func(t *testing.T) {
			got := onExit(&corev1.Container{RestartPolicy: c.container, RestartPolicyRules: c.rules}, c.pod, c.code)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// scene builds a view of the group Pod: agent first, worker second.
func scene(change func(agent, worker *containerView, pod *corev1.Pod)) podView {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		InitContainers: []corev1.Container{{
			Name: "agent", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), StartupProbe: &corev1.Probe{},
			RestartPolicyRules: []corev1.ContainerRestartRule{exitRule(ruleAll, notIn, 64)},
		}},
		Containers: []corev1.Container{{
			Name: "worker", RestartPolicy: new(corev1.ContainerRestartPolicyNever),
			RestartPolicyRules: []corev1.ContainerRestartRule{exitRule(ruleAll, notIn, 0, 42)},
		}},
	}}
	now := time.Unix(1_700_000_000, 0)
	v := podView{Pod: pod, PodIP: "127.1.0.1", HostIP: nodeIP, Now: now, Timings: RealisticTimings(), Containers: []containerView{
		{Spec: &pod.Spec.InitContainers[0], Kind: kindSidecar, State: running, Startup: probeOK, StartedAt: now, FinishedAt: now},
		{Spec: &pod.Spec.Containers[0], Kind: kindRegular, State: running, StartedAt: now, FinishedAt: now},
	}}
	change(&v.Containers[0], &v.Containers[1], pod)
	return v
}

func ended(c *containerView, code int32) { c.State, c.ExitCode = exited, code }

func TestEverySituationOfAGroupPodHasOnePhaseAndOnePlan(t *testing.T) {
	reset := &corev1.ContainerStateTerminated{ExitCode: 137, Reason: reasonRestartingAll}
	for name, c := range map[string]struct {
		change func(a, w *containerView, pod *corev1.Pod)
		phase  corev1.PodPhase
		plan   plan
	}{
		"both run":        {func(*containerView, *containerView, *corev1.Pod) {}, "Running", plan{Verdict: keepGoing}},
		"nothing yet":     {func(a, w *containerView, _ *corev1.Pod) { a.State, w.State = absent, absent }, "Pending", plan{Verdict: keepGoing, Start: []int{0}}},
		"the agent waits": {func(a, w *containerView, _ *corev1.Pod) { a.Startup, w.State = probePending, absent }, "Pending", plan{Verdict: keepGoing}},
		"the agent lifted": {func(_, w *containerView, _ *corev1.Pod) { w.State = absent }, "Pending",
			plan{Verdict: keepGoing, Start: []int{1}}},
		"the agent failed its probe": {func(a, w *containerView, _ *corev1.Pod) { a.Startup, w.State = probeFailed, absent }, "Pending",
			plan{Verdict: keepGoing, Kill: []int{0}, Start: []int{0}}},
		"the worker failed":      {func(_, w *containerView, _ *corev1.Pod) { ended(w, 1) }, "Running", plan{Verdict: resetAll, Reset: []int{0, 1}}},
		"the agent asked":        {func(a, _ *containerView, _ *corev1.Pod) { ended(a, 88) }, "Running", plan{Verdict: resetAll, Reset: []int{1, 0}}},
		"the agent was killed":   {func(a, _ *containerView, _ *corev1.Pod) { ended(a, 137) }, "Running", plan{Verdict: resetAll, Reset: []int{1, 0}}},
		"both failed":            {func(a, w *containerView, _ *corev1.Pod) { ended(a, 88); ended(w, 1) }, "Running", plan{Verdict: resetAll, Reset: []int{1, 0}}},
		"the agent exits 64":     {func(a, _ *containerView, _ *corev1.Pod) { ended(a, 64) }, "Running", plan{Verdict: keepGoing, Start: []int{0}}},
		"the worker succeeded":   {func(_, w *containerView, _ *corev1.Pod) { ended(w, 0) }, "Running", plan{Verdict: stopAll}},
		"the worker exits 42":    {func(_, w *containerView, _ *corev1.Pod) { ended(w, 42) }, "Running", plan{Verdict: stopAll}},
		"success, agent asks":    {func(a, w *containerView, _ *corev1.Pod) { ended(a, 88); ended(w, 0) }, "Succeeded", plan{Verdict: finish}},
		"success, agent TERMed":  {func(a, w *containerView, _ *corev1.Pod) { ended(a, 143); ended(w, 0) }, "Succeeded", plan{Verdict: finish}},
		"failure, agent TERMed":  {func(a, w *containerView, _ *corev1.Pod) { ended(a, 143); ended(w, 42) }, "Failed", plan{Verdict: finish}},
		"deleted, worker failed": {func(_, w *containerView, p *corev1.Pod) { ended(w, 1); p.DeletionTimestamp = &reset.StartedAt }, "Running", plan{Verdict: remove}},
		"just removed": {func(a, w *containerView, _ *corev1.Pod) {
			*a, *w = containerView{Spec: a.Spec, Kind: a.Kind, Last: reset, Reset: true}, containerView{Spec: w.Spec, Kind: w.Kind, Last: reset, Reset: true}
		}, "Running", plan{Verdict: keepGoing, Start: []int{0}}},
		"the agent is back": {func(a, w *containerView, _ *corev1.Pod) {
			a.Startup, a.Last = probePending, reset
			*w = containerView{Spec: w.Spec, Kind: w.Kind, Last: reset}
		}, "Pending", plan{Verdict: keepGoing}},
		"the agent is back and lifted": {func(a, w *containerView, _ *corev1.Pod) {
			a.Last = reset
			*w = containerView{Spec: w.Spec, Kind: w.Kind, Last: reset}
		}, "Running", plan{Verdict: keepGoing, Start: []int{1}}},
		"the agent crashed again too soon": {func(a, _ *containerView, _ *corev1.Pod) {
			ended(a, 64)
			a.Backoff = backoffEntry{Delay: 10 * time.Second, Updated: a.FinishedAt.Add(-time.Minute)}
		}, "Running", plan{Verdict: keepGoing, Hold: map[int]time.Time{0: time.Unix(1_700_000_010, 0)}}},
	} {
		t.Run(name, func(t *testing.T) {
			v := scene(c.change)
			status := buildStatus(&v)
			if status.Phase != c.phase {
				t.Errorf("phase %s, want %s", status.Phase, c.phase)
			}
			if diff := cmp.Diff(c.plan, next(&v, &status), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrdinaryPoliciesDecideWithoutRules(t *testing.T) {
	for name, c := range map[string]struct {
		pod   corev1.RestartPolicy
		codes []int32
		phase corev1.PodPhase
		plan  plan
	}{
		"Never, one failed":       {"Never", []int32{0, 1}, "Failed", plan{Verdict: finish}},
		"Never, all succeeded":    {"Never", []int32{0, 0}, "Succeeded", plan{Verdict: finish}},
		"OnFailure, one failed":   {"OnFailure", []int32{0, 1}, "Running", plan{Verdict: keepGoing, Start: []int{1}}},
		"OnFailure, all done":     {"OnFailure", []int32{0, 0}, "Succeeded", plan{Verdict: finish}},
		"Always, both succeeded":  {"Always", []int32{0, 0}, "Running", plan{Verdict: keepGoing, Start: []int{0, 1}}},
		"Never, one still runs":   {"Never", []int32{-1, 1}, "Running", plan{Verdict: keepGoing}},
		"Always, one still runs":  {"Always", []int32{-1, 1}, "Running", plan{Verdict: keepGoing, Start: []int{1}}},
		"OnFailure, first failed": {"OnFailure", []int32{3, -1}, "Running", plan{Verdict: keepGoing, Start: []int{0}}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.pod, Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}}}
			v := podView{Pod: pod, PodIP: "127.1.0.1", Now: time.Unix(1, 0), Timings: RealisticTimings()}
			for i, code := range c.codes {
				cv := containerView{Spec: &pod.Spec.Containers[i], Kind: kindRegular, State: running}
				if code >= 0 {
					ended(&cv, code)
				}
				v.Containers = append(v.Containers, cv)
			}
			status := buildStatus(&v)
			if status.Phase != c.phase {
				t.Errorf("phase %s, want %s", status.Phase, c.phase)
			}
			if diff := cmp.Diff(c.plan, next(&v, &status)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInitContainersRunInOrderAndDecide(t *testing.T) {
	build := func(policy corev1.RestartPolicy, states ...containerView) podView {
		pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: policy,
			InitContainers: []corev1.Container{{Name: "i0"}, {Name: "side", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "i2"}},
			Containers:     []corev1.Container{{Name: "main"}},
		}}
		v := podView{Pod: pod, PodIP: "127.1.0.1", Now: time.Unix(1, 0), Timings: RealisticTimings()}
		kinds := []containerKind{kindInit, kindSidecar, kindInit, kindRegular}
		specs := []*corev1.Container{&pod.Spec.InitContainers[0], &pod.Spec.InitContainers[1], &pod.Spec.InitContainers[2], &pod.Spec.Containers[0]}
		for i, s := range states {
			s.Spec, s.Kind = specs[i], kinds[i]
			v.Containers = append(v.Containers, s)
		}
		return v
	}
	none, runs, good, bad := containerView{}, containerView{State: running}, containerView{State: exited}, containerView{State: exited, ExitCode: 1}
	for name, c := range map[string]struct {
		v     podView
		phase corev1.PodPhase
		plan  plan
	}{
		"first":                           {build("Never", none, none, none, none), "Pending", plan{Verdict: keepGoing, Start: []int{0}}},
		"first runs":                      {build("Never", runs, none, none, none), "Pending", plan{Verdict: keepGoing}},
		"first done":                      {build("Never", good, none, none, none), "Pending", plan{Verdict: keepGoing, Start: []int{1}}},
		"sidecar without a probe runs":    {build("Never", good, runs, none, none), "Pending", plan{Verdict: keepGoing, Start: []int{2}}},
		"all initialized":                 {build("Never", good, runs, good, none), "Pending", plan{Verdict: keepGoing, Start: []int{3}}},
		"a failed init container, Never":  {build("Never", bad, none, none, none), "Failed", plan{Verdict: finish}},
		"a failed init container, Always": {build("Always", bad, none, none, none), "Pending", plan{Verdict: keepGoing, Start: []int{0}}},
		"the sidecar died beside an init": {build("Never", good, bad, runs, none), "Pending", plan{Verdict: keepGoing, Start: []int{1}}},
		"the sidecar died beside main":    {build("Never", good, bad, good, runs), "Running", plan{Verdict: keepGoing, Start: []int{1}}},
	} {
		t.Run(name, func(t *testing.T) {
			status := buildStatus(&c.v)
			if status.Phase != c.phase {
				t.Errorf("phase %s, want %s", status.Phase, c.phase)
			}
			if diff := cmp.Diff(c.plan, next(&c.v, &status), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBackoffDoublesUpToItsMaximumAndForgetsAfterAQuietTime(t *testing.T) {
	timings := RealisticTimings()
	now := time.Unix(1_000_000, 0)
	var b backoffEntry
	var got []time.Duration
	for range 8 {
		until, held := b.heldUntil(timings, now, now)
		if !held {
			until = now
		}
		got = append(got, until.Sub(now))
		b = b.afterStart(timings, now, until)
		now = until.Add(time.Second)
	}
	s := time.Second
	if diff := cmp.Diff([]time.Duration{0, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 300 * s, 300 * s}, got); diff != "" {
		t.Error(diff)
	}
	if _, held := b.heldUntil(timings, now.Add(11*time.Minute), now.Add(11*time.Minute)); held {
		t.Error("a container that ran for eleven minutes is held back")
	}
}
