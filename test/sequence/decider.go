/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// decider asks policy.Decide, and remembers what it answered.
type decider struct {
	objects
	answers sync.Map // of the encoded view
	forget  bool
}

func newDecider(sc *scenario) *decider { return &decider{objects: objects{sc: sc}} }

func (d *decider) decide(v view) *decided {
	if d.forget {
		return d.ask(v)
	}
	key := v.key()
	if answer, ok := d.answers.Load(key); ok {
		return answer.(*decided)
	}
	answer, _ := d.answers.LoadOrStore(key, d.ask(v))
	return answer.(*decided)
}

func (d *decider) ask(v view) *decided {
	in := policy.Input{
		JobSet: d.jobSet(v.js), ServiceExists: true, Now: now, HeldSince: heldSince[v.held], Claims: d.claimsOf(v),
		Gates: gates.Set{InPlaceRestart: v.gate, ElasticJobSet: true, ExecutionAttemptsTracking: d.sc.executions},
	}
	if d.sc.clock {
		in.Deadlines.Assembly = period
	}
	in.Clock.SteadySince = v.jumped.since()
	in.Clock.LedSince = in.Clock.SteadySince
	if v.reportsRead {
		in.ReportsRead = map[types.UID]bool{}
	}
	in.InLeases = d.sc.leases != 0
	if d.sc.pauses {
		in.Deadlines.QuickFailurePause = time.Minute
	}
	if d.sc.force {
		in.Deadlines.ForcefulDeletion, in.NotReady = time.Second, map[string]bool{"node": true}
	}
	if d.sc.ft != nil {
		d.tolerate(&in, v)
	}
	if d.sc.lost {
		d.hearNodes(&in, v)
	}
	if v.gate {
		in.Pods = map[types.UID][]*facts.Member{}
	}
	for i, j := range v.jobs {
		object := d.job(j)
		in.Jobs = append(in.Jobs, object)
		if i == v.confirmed {
			in.Confirmed = &policy.Loss{Job: object, Indexes: v.asked.list()}
		}
		for _, p := range v.pods[i] {
			if v.gate {
				pod := d.reporting(p, j, v.js.s)
				in.Pods[object.UID] = append(in.Pods[object.UID], pod)
				if v.reportsRead { // Pods of which nobody asks are not late
					in.ReportsRead[pod.UID] = true
				}
			}
		}
	}
	in.Strays = d.strays(v)
	plan, err := policy.Decide(in)
	if err != nil {
		return &decided{confirm: -1, err: fmt.Errorf("policy.Decide: %w", err)}
	}
	return d.read(v, &plan)
}

// opKinds are the kinds of changes of Jobs that exist.
var opKinds = map[policy.OpKind]opKind{policy.DeleteJob: opDelete, policy.SuspendJob: opSuspend, policy.ScaleJob: opScale}

// read makes values of a plan.
func (d *decider) read(v view, plan *policy.Plan) *decided {
	at := func(uid types.UID) int {
		return slices.IndexFunc(v.jobs, func(j job) bool { return uidText(j.uid) == string(uid) })
	}
	seen := func(uid types.UID) job { // which Job it is, without the past that no write reads
		j := v.jobs[at(uid)]
		return job{uid: j.uid, rjob: j.rjob, index: j.index}
	}
	answer := &decided{confirm: -1, next: d.statusOf(&plan.Status), held: plan.Held, stands: plan.ClockStands, claims: plan.Does(policy.CreateClaim)}
	answer.moving, answer.readChildren = plan.Moving, plan.ReadChildren
	answer.nodes = asksNodes(plan)
	answer.reads = d.lateReporters(v, plan.ReadReports)
	if plan.Confirm != nil {
		answer.confirm = at(plan.Confirm.Job.UID)
		for _, index := range plan.Confirm.Indexes {
			answer.asked |= 1 << index
		}
		return answer
	}
	batch := 0
	for i, o := range plan.Ops {
		kind, known := opKinds[o.Kind]
		switch {
		case o.Kind == policy.DeletePod:
			answer.ops = append(answer.ops, d.podDeletion(v, &o, seen)...)
		case o.Kind == policy.ReplaceLost:
			answer.ops = append(answer.ops, op{kind: opReplaceLost, job: seen(metav1.GetControllerOf(o.Pod).UID), pod: int16(numberOf(o.Pod.Node)), workers: int8(o.Epoch)})
		case o.Kind == policy.CreateJob:
			created, err := d.jobOfPlan(o.Job)
			if err != nil {
				return &decided{confirm: -1, err: err}
			}
			if i > 0 && plan.Ops[i-1].Kind == o.Kind && !plan.Ops[i-1].Together(&o) {
				batch++
			}
			answer.ops = append(answer.ops, op{kind: opCreate, batch: int8(batch), job: created})
		case o.Kind == policy.ResumeJob:
			resumed := seen(o.Job.UID)
			resumed.number = executionOf(o.Resumed)
			answer.ops = append(answer.ops, op{kind: opResume, job: resumed})
		case known:
			answer.ops = append(answer.ops, op{kind: kind, job: seen(o.Job.UID), workers: int8(o.Workers)})
		}
	}
	return answer
}
