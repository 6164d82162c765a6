/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"slices"
)

// processMode are mistakes of agents and supervisors in process mode.
var processMode = []mutant{
	{
		name: "ready before all processes are gone", at: "supervisor.exited",
		old: "\ts.Phase = Killing\n\treturn s, append(actions, Action{Kill: true}, Action{Timeout: set.KillTimeout})\n}",
		new: "\ts.Phase = Ended\n\treturn s, append(actions, ready(s, set))\n}",
	},
	{
		name: "exit 0 after stop is taken for done", at: "supervisor.exited",
		old: "\tcase s.Phase == Running && exit.Stopped:",
		new: "\tcase s.Phase == Running && exit.Code == 0:\n\t\tdone := protocol.Message{Type: protocol.Done, Epoch: s.Run.Epoch, Exit: exitOf(s)}\n" +
			"\t\treturn s, []Action{{Done: &done}, send(done), finish(0)}\n\tcase s.Phase == Running && exit.Stopped:",
	},
	{
		name: "what outlived SIGKILL does not count", at: "agent.Worker.Runs",
		old: " || w.State == Stuck\n}",
		new: "\n}",
	},
	{
		name: "exit 0 is restarted", at: "supervisor.exited",
		old: "case !asked && exit.Code == 0:",
		new: "case false:",
	},
	{
		name: "a held supervisor ends with 0", at: "supervisor.gotSignal",
		old: `say("ending: signal %d, and no worker runs", int(number)), finish(exitTerminated)`,
		new: `say("ending: signal %d, and no worker runs", int(number)), finish(0)`,
	},
	{
		name: "done without a file", at: "supervisor.exited",
		old: "Action{Done: &done}, send(done), finish(0)",
		new: "send(done), finish(0)",
	},
	{
		name: "an agent that starts ignores what runs", at: "agent.Worker.Hello",
		old: "case protocol.Runs:\n\t\tw.State, w.Epoch, w.Exit, w.Report = Running, m.Epoch, nil, nil",
		new: "case protocol.Runs:\n\t\tw.State, w.Epoch, w.Exit, w.Report = Idle, m.Epoch, nil, nil",
	},
	{
		name: "the agent remembers the lift, not the supervisor", at: "agent.Worker.Hello",
		old: "\t\t\tw = w.ended(nil, nil)\n\t\tcase before.State != Ended:",
		new: "\t\t\tw.State, w.Exit, w.Report = Running, nil, nil\n\t\tcase before.State != Ended:",
	},
	{
		name: "an epoch that may have run is started again", at: "agent.Worker.Hello",
		old: "\t\t\tw = w.ended(nil, nil)\n\t\tcase before.State != Ended:",
		new: "\t\t\tw.State, w.Exit, w.Report = Idle, nil, nil\n\t\tcase before.State != Ended:",
	},
	{
		name: "report before all workers have ended", at: "agent.assemble",
		old: "if w := find(v, Worker.Runs); w != nil {\n\t\tif find(v, mustStop) != nil || !self.Ending {",
		new: "if w := find(v, mustStop); w != nil {\n\t\tif find(v, mustStop) != nil || !self.Ending {",
	},
	{
		name: "take over workers of which one does not run", at: "agent.takeOver",
		old: "case idle != nil:",
		new: "case idle != nil && unseen != nil:",
	},
	{
		name: "start again what others have finished", at: "agent.assemble",
		old: "\tcase done != nil:\n\t\treturn leave(",
		new: "\tcase false:\n\t\treturn leave(",
	},
	{
		name: "forget to leave", at: "agent.Decide",
		old: "case self.Leaving != \"\":",
		new: "case false:",
	},
	{
		name: "grace of the tree dropped", at: "supervisor.exited",
		old: "case s.Phase == Running && exit.Stopped:",
		new: "case false:",
	},
	{
		name: "second TERM", at: "supervisor.gotSignal",
		old: "\t\tif s.Stopping {\n\t\t\treturn s, nil // the worker",
		new: "\t\tif false {\n\t\t\treturn s, nil // the worker",
	},
	{
		name: "the time of a stop counts after TERM", at: "supervisor.timedOut",
		old: "\t\tif s.Terminated {\n\t\t\treturn s, nil // the kubelet",
		new: "\t\tif false {\n\t\t\treturn s, nil // the kubelet",
	},
	{
		name: "a Pod without sandbox counted as a member", at: "pkg/policy/internal/view.slotOf",
		old: "now.Sub(pod.NoSandboxSince) >= SandboxPatience { // P74",
		new: "now.Sub(pod.NoSandboxSince) >= SandboxPatience && false {",
	},
	{
		name: "a Pod is late while its worker still stops", at: "pkg/policy/internal/group.stopGrace",
		old: "if v.Synced == 0 || workerpod.ModeOf(policy) != jobset.ProcessMode {",
		new: "if workerpod.ModeOf(policy) != \"\" {",
	},
	{
		name: "plannedBreak left true by a later failure", at: "pkg/policy.apply", scenarios: "planned stops",
		old: "status.PlannedBreak = r.Changes.Any(pass.Planned) &&",
		new: "status.PlannedBreak = (status.PlannedBreak || r.Changes.Any(pass.Planned)) &&",
	},
	{
		name: "time to save after a failure", at: "pkg/policy.changesAsPlanned", scenarios: "planned stops",
		old: "if !v.Watched || tolerance.FailureComesFirst(v) || writes",
		new: "if !v.Watched || tolerance.FailureComesFirst(v) && false || writes",
	},
	{
		name: "lift while the next Jobs are still to come", at: "pkg/policy/internal/jobs.started",
		old: "if v.Back != nil {",
		new: "if false {",
	},
	{
		name: "start the next Jobs before the last report", at: "pkg/policy/internal/jobs.allBack",
		old: "return back == job.Indexes",
		new: "return back > 0 || job.Indexes == 1",
	},
	{
		name: "gate opened for a stopped epoch", at: "supervisor.emptied",
		old: "\ts.Phase = Ended\n\treturn s, []Action{ready(s, set)}\n}",
		new: "\tif s.Standby.Life == Waiting && s.Exit.Stopped {\n\t\treturn launch(s.Standby, s.Run)\n\t}\n" +
			"\ts.Phase = Ended\n\treturn s, []Action{ready(s, set)}\n}",
	},
	{
		name: "standby counted as a worker", at: "supervisor.emptied",
		old: "case !s.Exited || s.Phase == Held || s.Phase == Ended:",
		new: "case !s.Exited || s.Phase == Held || s.Phase == Ended || s.Standby.Life == Waiting:",
	},
	{
		name: "standby killed with the old tree", at: "supervisor.exited",
		old: "\ts.Phase = Killing\n\treturn s, append(actions, Action{Kill: true}, Action{Timeout: set.KillTimeout})\n}",
		new: "\ts.Phase = Killing\n\treturn s, append(actions, Action{Kill: true}, Action{Drop: true}, Action{Timeout: set.KillTimeout})\n}",
	},
	{
		name: "line written twice", at: "supervisor.atGate",
		old: "\t\treturn s, append(actions, more...)\n\tcase g == StandbyAbsent",
		new: "\t\tagain := s.Run\n\t\treturn s, append(append(actions, more...), Action{Open: &again})\n\tcase g == StandbyAbsent",
	},
	{
		name: "the same step again is progress", at: "pkg/policy/internal/group.progressAfter",
		old:       "case epoch.highest > was.HighestStep:",
		new:       "case epoch.highest >= was.HighestStep:",
		scenarios: "progress",
	},
	{
		name: "a step more is no progress", at: "pkg/policy/internal/group.progressAfter",
		old:       "case epoch.highest > was.HighestStep:",
		new:       "case epoch.highest > was.HighestStep+1:",
		scenarios: "progress",
	},
	{
		name: "a resize leads nowhere", at: "pkg/policy/internal/group.progressAfter",
		old:       "case inPlaceRestarts > was.InPlaceRestarts &&",
		new:       "case",
		scenarios: "progress",
	},
	{
		name: "an epoch without steps leads nowhere", at: "pkg/policy/internal/group.progressAfter",
		old:       "case !epoch.steps:",
		new:       "case false:",
		scenarios: "progress",
	},
	{
		name: "fail a restart too late", at: "pkg/policy/internal/group.judgeProgress",
		old:       "next.RestartsWithoutProgress >= limit",
		new:       "next.RestartsWithoutProgress > limit",
		scenarios: "progress",
	},
	{
		name: "run on beside a worker that ended", at: "agent.afterLift",
		old: "if w := find(v, func(w Worker) bool { return w.State == Ended }); w != nil {",
		new: "if w := find(v, func(w Worker) bool { return w.State == Ended && w.Exit == nil }); w != nil {",
	},
}

// all are those of the list, those of faultTolerance and avoidance, and these, which the scenarios in process mode have to find.
func all() []mutant {
	list := slices.Concat(mutants, faultTolerance, avoidance, harm, bypassMutants, lateness)
	for _, m := range processMode {
		m.scenarios = cmp.Or(m.scenarios, "process mode")
		list = append(list, m)
	}
	for _, m := range lostNodes {
		m.scenarios = cmp.Or(m.scenarios, "^lost node, 1 failure")
		list = append(list, m)
	}
	for _, m := range leases {
		m.scenarios = cmp.Or(m.scenarios, "^Leases")
		list = append(list, m)
	}
	return list
}
