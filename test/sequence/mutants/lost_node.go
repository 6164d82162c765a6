/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// lostNodes are mistakes about workers on lost nodes (P172 to P176).
var lostNodes = []mutant{
	{
		name: "replace a lost worker without the wait", at: "pkg/policy/internal/group.LostWorkers",
		old: "if left := v.Left(after, v.StoppedAt()); left > 0 {",
		new: "if left := v.Left(after, v.StoppedAt()); false {",
	},
	{
		name: "a node is silent after one read", at: "pkg/facts.Heard.Silent",
		old: "h.SilentFor() >= h.enough()",
		new: "true",
	},
	{
		name: "a renewed Lease does not end the silence", at: "pkg/facts.Heard.Read",
		old: "next.Renewed = h.Version != version; !next.Renewed",
		new: "next.Renewed = h.Version != version; true",
	},
	{
		name: "rely on a Lease that is to be read again", at: "pkg/policy/internal/group.LostWorkers",
		old: "v.Heard[node].Due(v.Now) }) {\n\t\treturn r // ",
		new: "false && v.Heard[node].Due(v.Now) }) {\n\t\treturn r // ",
		in:  decisions, by: "TestLostNodes/P173",
	},
	{
		name: "replace workers of most nodes at once", at: "pkg/policy/internal/group.LostWorkers",
		old: "case len(silent) > 1 && 3*len(silent) > all:",
		new: "case false:",
		in:  decisions, by: "TestLostNodes/P173",
	},
	{
		name: "nobody need be back", at: "pkg/policy/internal/group.LostWorkers",
		old:       "case heard || !othersAreBack(v):",
		new:       "case heard:",
		scenarios: "lost node, a Pod is deleted by force",
	},
	{
		name: "replace whom a healthy node keeps", at: "pkg/policy/internal/group.LostWorkers",
		old: "case heard || !othersAreBack(v):",
		new: "case heard && false || !othersAreBack(v):",
	},
	{
		name: "a lost worker is charged again", at: "pkg/policy/internal/group.replaceLost",
		old: "r := pass.RequeueAfter(facts.HeardInterval)",
		new: "r := pass.RequeueAfter(facts.HeardInterval)\n\tr.Changes |= pass.ChargeGroup",
	},
	{
		name: "a silent node breaks a group that runs", at: "pkg/policy/internal/group.LostWorkers",
		old: "r := heardAgain(v, &before)\n",
		new: `r := heardAgain(v, &before)
	if all := awaited(v); v.Running() && len(all) > 0 {
		r = r.And(AskNodes(v, NodesOf(all)))
		for _, pod := range all {
			if v.Heard[pod.Node].Silent(v.Now) {
				r.Writes.Do(pass.Op{Kind: pass.ReplaceLost, Pod: pod, Epoch: v.Synced + 1})
			}
		}
	}
`,
	},
	{
		name: "new Pods do not keep off a lost node", at: "pkg/policy/internal/group.LostNodes", in: decisions, by: "TestLostNodes/P174",
		old: "if n.HeardTime == nil {",
		new: "if false {",
	},
	{
		name: "the Pod webhook knows at once who is back", at: "pkg/policy/internal/group.heardAgain", in: decisions, by: "TestNodesThatAreHeardAgain",
		old: "m.Created().After(n.HeardTime.Add(webhookLag))",
		new: "m.Created().After(n.HeardTime.Time)",
	},
	{
		name: "a worker that was replaced has its grace", at: "agent.JobSet.replaced", in: "./agent", by: "TestWhoIsKilledAtOnce",
		old: "return epoch > 0 && ",
		new: "return false && epoch > 0 && ",
	},
}
