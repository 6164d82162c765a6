/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// lateness are mistakes about who is late, and by which clock.
var lateness = []mutant{
	{
		name: "the assembly counts what the clock jumped over", at: "pkg/policy/internal/group.waited",
		old:       "if v.Clock.LedSince.After(from) {",
		new:       "if false {",
		scenarios: "clock jumps",
	},
	{
		name: "wait until a clock that was put back has caught up", at: "pkg/policy/internal/group.AssemblyClock",
		old:       "|| startsOver || stored.After(v.Now):",
		new:       "|| startsOver:",
		scenarios: "clock jumps",
	},
	{
		name: "other deadlines count what the clock jumped over", at: "pkg/policy/internal/view.View.Counted", in: decisions, by: "TestDeadlinesAfterAClockJumped/P21a",
		old: "if v.Clock.SteadySince.After(began) {",
		new: "if false {",
	},
	{
		name: "wait for a broken network as long as for images", at: "pkg/policy/internal/view.View.preparationLimit", in: decisions, by: "TestPodsThatArePrepared/P48a",
		old: "return min(v.Deadlines.Assembly, v.Deadlines.Preparation)",
		new: "return v.Deadlines.Preparation",
	},
	{
		name: "wait for what a dead node prepares", at: "pkg/policy/internal/view.View.preparationLimit", in: decisions, by: "TestPodsThatArePrepared/P48a",
		old: "case v.NotReady[pod.Node]:",
		new: "case false:",
	},
	{
		name: "no time to report after the preparation", at: "pkg/policy/internal/view.View.LeftSincePrepared", in: decisions, by: "TestPodsThatArePrepared/P48a",
		old: "return v.Deadlines.Assembly - v.Now.Sub(at.Until)",
		new: "return 0",
	},
	{
		name: "a preparation without end", at: "pkg/policy/internal/view.View.LookAtPreparation", in: decisions, by: "TestPodsThatArePrepared/P48a",
		old: "if left := v.preparationLimit(pod) - v.Now.Sub(at.Since); left > 0 {",
		new: "if left := v.preparationLimit(pod); left > 0 {",
	},
	{
		name: "evictions are failures", at: "pkg/policy/internal/group.BreakGroup", in: decisions, by: "TestDisruptionsAreNoFailures/P71b",
		old: "if isDisruption(failure) {",
		new: "if false {",
	},
	{
		name: "evictions are restarts without progress", at: "pkg/policy.apply", in: decisions, by: "TestDisruptionsAreNoFailures/P71b",
		old: "status.Progress.InPlaceRestarts++",
		new: "_ = status",
	},
}
