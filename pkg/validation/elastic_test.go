/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

const workersJob = "spec.replicatedJobs[1].template.spec"

var elastic = gates.Set{ElasticJobSet: true}

// sized sets the size of the workers, which is 2 at first.
func sized(parallelism, completions *int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { job(js, 1).Parallelism, job(js, 1).Completions = parallelism, completions }
}

func size(n int32) func(*jobset.JobSet) { return sized(&n, &n) }

func each(changes ...func(*jobset.JobSet)) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		for _, change := range changes {
			change(js)
		}
	}
}

func TestUpdateElastic(t *testing.T) {
	nonIndexed := func(js *jobset.JobSet) { job(js, 1).CompletionMode = ptr.To(batchv1.NonIndexedCompletion) }
	with := func(condition jobset.JobSetConditionType, status metav1.ConditionStatus) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Status.Conditions = []metav1.Condition{{Type: string(condition), Status: status}}
		}
	}
	refused := []violation{invalid(replicatedJobs, "field is immutable, changed: "+workersJob+".parallelism, "+workersJob+".completions")}
	refusedByGate := []violation{invalid(replicatedJobs, refused[0].Detail+"; a size may change behind a feature gate of the manager: "+
		"start it with --feature-gates=ElasticJobSet=true")}
	runUpdate(t, plainJobSet, map[string]updateCase{
		"W90, W91, W137: an Indexed Job grows":                   {gates: elastic, mut: size(4)},
		"W90, W91: an Indexed Job shrinks":                       {gates: elastic, mut: size(1)},
		"W79, W137, W139: with the gate off it does not":         {mut: size(4), want: refusedByGate},
		"W79: with the gate off a Job without indexes does not":  {old: nonIndexed, mut: size(4), want: refused},
		"O370, W90: a Job without indexes does not":              {gates: elastic, old: nonIndexed, mut: size(4), want: refused},
		"W90: neither does one that no longer says what it is":   {gates: elastic, old: func(js *jobset.JobSet) { job(js, 1).CompletionMode = nil }, mut: size(4), want: refused},
		"W90: suspended as well, which makes no difference here": {gates: elastic, old: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }, mut: size(4)},
		"W92: a completed JobSet": {
			gates: elastic, old: with(jobset.JobSetCompleted, metav1.ConditionTrue), mut: size(4),
			want: []violation{forbidden(workersJob, "Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)")},
		},
		"W92: a failed JobSet, whatever else is wrong with the numbers": {
			gates: elastic, old: with(jobset.JobSetFailed, metav1.ConditionTrue), mut: sized(ptr.To[int32](0), nil),
			want: []violation{forbidden(workersJob, "Cannot mutate parallelism or completions when JobSet is in a terminal state")},
		},
		"W92: a failed JobSet whose coordinator would lose its Pod": {
			gates: elastic,
			old: each(with(jobset.JobSetFailed, metav1.ConditionTrue), func(js *jobset.JobSet) {
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "workers", PodIndex: 1}
			}),
			mut:  size(1),
			want: []violation{forbidden(workersJob, "Cannot mutate parallelism or completions when JobSet is in a terminal state")},
		},
		"W92: a condition that is not True does not end anything": {
			gates: elastic, old: with(jobset.JobSetFailed, metav1.ConditionFalse), mut: size(4),
		},
		"W92: a finished JobSet may change in other ways": {
			gates: elastic, old: with(jobset.JobSetFailed, metav1.ConditionTrue),
			mut: func(js *jobset.JobSet) { js.Finalizers = nil; js.Spec.Suspend = ptr.To(true) },
		},
		"O371, W93, W94: scaled to nothing": {
			gates: elastic, mut: size(0),
			want: []violation{invalid(workersJob+".parallelism", "parallelism must be >= 1"), invalid(workersJob+".completions", "completions must be >= 1")},
		},
		"W93, W95: only parallelism is scaled to nothing": {
			gates: elastic, mut: sized(ptr.To[int32](0), ptr.To[int32](2)),
			want: []violation{
				invalid(workersJob+".parallelism", "parallelism must be >= 1"),
				invalid(workersJob+".completions", "completions must be equal to parallelism for Elastic Indexed Jobs"),
			},
		},
		"W94, Q23: a value below 1 counts although only the other changes": {
			gates: elastic, old: sized(ptr.To[int32](2), ptr.To[int32](0)), mut: sized(ptr.To[int32](3), ptr.To[int32](0)),
			want: []violation{
				invalid(workersJob+".completions", "completions must be >= 1"),
				invalid(workersJob+".completions", "completions must be equal to parallelism for Elastic Indexed Jobs"),
			},
		},
		"O369, W95: 4 and 5": {
			gates: elastic, mut: sized(ptr.To[int32](4), ptr.To[int32](5)),
			want: []violation{invalid(workersJob+".completions", "completions must be equal to parallelism for Elastic Indexed Jobs: set both to the same number, parallelism is 4")},
		},
		"W95: numbers that always differed stay if they do not change": {
			gates: elastic, old: sized(ptr.To[int32](1), ptr.To[int32](5)),
			mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) },
		},
		"W95: numbers that differed may become equal": {
			gates: elastic, old: sized(ptr.To[int32](1), ptr.To[int32](5)), mut: size(5),
		},
		"W96, Q23: parallelism is cleared": {
			gates: elastic, mut: sized(nil, ptr.To[int32](2)),
			want: []violation{required(workersJob+".parallelism", "an Elastic Indexed Job needs parallelism and completions: set parallelism: 2")},
		},
		"W96, Q23: completions are cleared": {
			gates: elastic, mut: sized(ptr.To[int32](2), nil),
			want: []violation{required(workersJob+".completions", "set completions: 2")},
		},
		"W96, Q23: both are cleared": {
			gates: elastic, mut: sized(nil, nil),
			want: []violation{required(workersJob+".parallelism", "set parallelism: 1"), required(workersJob+".completions", "set completions: 1")},
		},
		"W96, Q23: completions change where parallelism was never set": {
			gates: elastic, old: sized(nil, ptr.To[int32](2)), mut: sized(nil, ptr.To[int32](3)),
			want: []violation{required(workersJob+".parallelism", "set parallelism: 3")},
		},
		"W96: numbers that were never set are set": {gates: elastic, old: sized(nil, nil), mut: size(3)},
		"W97: anything else in the same request stays immutable": {
			gates: elastic, mut: each(size(4), func(js *jobset.JobSet) { pod(js, 1).Hostname = "x" }),
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: "+workersJob+".template.spec.hostname")},
		},
		"W91, W97: both kinds of violations are reported": {
			gates: elastic, mut: each(sized(ptr.To[int32](4), ptr.To[int32](5)), func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].GroupName = "x" }),
			want: []violation{
				invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[0].groupName"),
				invalid(workersJob+".completions", "completions must be equal to parallelism"),
			},
		},
		"W97: the position is that in the new list": {
			gates: elastic, mut: each(sized(ptr.To[int32](4), ptr.To[int32](5)), func(js *jobset.JobSet) {
				rjs := js.Spec.ReplicatedJobs
				rjs[0], rjs[1] = rjs[1], rjs[0]
			}),
			want: []violation{
				invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[0].name"),
				invalid("spec.replicatedJobs[0].template.spec.completions", "completions must be equal to parallelism"),
			},
		},
		"W98: while suspended both exceptions apply together": {
			gates: elastic, old: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }, mut: each(size(4), fiveFields),
		},
		"W88, W98: running, the five fields stay, with the way to change them": {
			gates: elastic, mut: each(size(4), fiveFields),
			want: []violation{invalid(replicatedJobs, "set spec.suspend to true in the same update")},
		},
	})
}

func TestUpdateElasticCreateRules(t *testing.T) {
	coordinator := func(podIndex int) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "workers", PodIndex: podIndex}
		}
	}
	long := func(js *jobset.JobSet) { js.Name = strings.Repeat("a", 63-len("-workers-1-1-abcde")) }
	runUpdate(t, plainJobSet, map[string]updateCase{
		"W43, Q23: more Pods than 32 bits count": {
			gates: elastic, mut: size(1 << 30),
			want: []violation{unpathed("the product of replicas and parallelism must not exceed 2147483647 for replicatedJob 'workers'")},
		},
		"W46, Q23: Pod names with as many digits": {gates: elastic, old: long, mut: size(10)},
		"W46, Q23: Pod names with one digit more": {
			gates: elastic, old: long, mut: size(11),
			want: []violation{invalid("spec.replicatedJobs[1].name", "pod names generated for this JobSet will exceed 63 characters")},
		},
		"W62, Q23: the coordinator loses its Pod": {
			gates: elastic, old: coordinator(1), mut: size(1),
			want: []violation{unpathed("coordinator pod index 1 is invalid for replicatedJob workers job index 0")},
		},
		"W62, Q23: the coordinator keeps its Pod":              {gates: elastic, old: coordinator(0), mut: size(1)},
		"W62, Q23: the coordinator changes in the same update": {gates: elastic, old: coordinator(1), mut: each(size(1), coordinator(0))},
		"W62, Q23: the coordinator moves to a Pod that is new": {gates: elastic, mut: each(size(4), coordinator(3))},
		"Q17, Q23: a coordinator in a Job that keeps its size": {gates: elastic, old: func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "leader", JobIndex: 7}
		}, mut: size(1)},
		"W43, W46, Q4: what was wrong before and stays is fine": {gates: elastic, old: each(size(1<<30), long), mut: func(js *jobset.JobSet) { js.Finalizers = nil }},
		"W43, W46, Q4: another ReplicatedJob may change its own": {gates: elastic, old: each(size(1<<30), long), mut: func(js *jobset.JobSet) {
			job(js, 0).Parallelism, job(js, 0).Completions = ptr.To[int32](2), ptr.To[int32](2)
		}},
		"W63, Q23: the coordinator's address is looked at again": {
			gates: elastic,
			old:   each(coordinator(0), func(js *jobset.JobSet) { js.Spec.Network.Subdomain = strings.Repeat("a", 60) }),
			mut:   size(4),
			want:  []violation{unpathed("spec will lead to invalid label value")},
		},
	})
}

func TestUpdateElasticInPlace(t *testing.T) {
	both := gates.Set{ElasticJobSet: true, InPlaceRestart: true}
	runUpdate(t, inPlaceJobSet, map[string]updateCase{
		"W50, P16: a group that restarts in place may change its size": {gates: both, mut: size(4)},
		"W50, Q24: but not to unequal numbers": {
			gates: both, mut: sized(ptr.To[int32](4), ptr.To[int32](2)),
			want: []violation{
				invalid(workersJob+".completions", "completions must be equal to parallelism for Elastic Indexed Jobs"),
				invalid(workersJob+".completions", "replicatedJob workers: completions and parallelism must be set and equal"),
			},
		},
		"W50, P41, Q24: and neither number may be cleared": {
			gates: both, mut: sized(nil, ptr.To[int32](2)),
			want: []violation{
				required(workersJob+".parallelism", "set parallelism: 2"),
				invalid(workersJob+".completions", "replicatedJob workers: completions and parallelism must be set and equal"),
			},
		},
	})
}

// bounded makes the leader elastic.
func bounded(least, most int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: least, MaxInstances: most}
	}
}

func leaderSize(n int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { job(js, 0).Parallelism, job(js, 0).Completions = &n, &n }
}

func TestElasticBounds(t *testing.T) {
	const rjob = "spec.replicatedJobs[0]"
	runCreate(t, plainJobSet, map[string]createCase{
		"P100: a size within the bounds":             {gates: elastic, mut: each(bounded(2, 4), leaderSize(3))},
		"P100: bounds that allow one size only":      {gates: elastic, mut: bounded(1, 1)},
		"P100: a size below them":                    {gates: elastic, mut: bounded(2, 4), want: []violation{invalid(rjob+".template.spec.completions", "must be from minInstances to maxInstances of spec.replicatedJobs[0].elastic, which are 2 and 4")}},
		"P100: a size above them":                    {gates: elastic, mut: each(bounded(2, 4), leaderSize(5)), want: []violation{invalid(rjob+".template.spec.completions", "which are 2 and 4")}},
		"P100: with the gate off bounds are refused": {mut: bounded(1, 4), want: []violation{forbidden(rjob+".elastic", "--feature-gates=ElasticJobSet=true")}},
		"P100: all that is wrong is said at once": {
			gates: elastic,
			mut: each(bounded(0, -1), func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Replicas = 2
				job(js, 0).CompletionMode, job(js, 0).Parallelism = ptr.To(batchv1.NonIndexedCompletion), nil
			}),
			want: []violation{
				invalid(rjob+".elastic.maxInstances", "must be at least minInstances, which is 0"),
				invalid(rjob+".replicas", "must be 1 with elastic"),
				invalid(rjob+".template.spec.completionMode", "must be Indexed"),
				required(rjob+".template.spec.parallelism", "set parallelism: 1"),
				invalid(rjob+".template.spec.completions", "which are 0 and -1"),
			},
		},
		"P100 W62: a coordinator that would leave": {
			gates: elastic,
			mut: each(bounded(2, 4), leaderSize(3), func(js *jobset.JobSet) {
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "leader", PodIndex: 2}
			}),
			want: []violation{invalid(rjob+".elastic.minInstances", "must be above spec.coordinator.podIndex, which is 2")},
		},
		"P100 W46: a largest size for which the names of Pods are too long": {
			gates: elastic,
			mut:   each(bounded(1, 1001), func(js *jobset.JobSet) { js.Name = strings.Repeat("j", 63-len("-leader-0-999-abcde")); leaderOnly(js) }),
			want:  []violation{invalid(rjob+".elastic.maxInstances", "is too large: JobSet name or ReplicatedJob name is too long, pod names generated for this JobSet will exceed 63 characters")},
		},
		"W2 P100: a violation of one ReplicatedJob hides none of the next": {
			gates: elastic,
			mut: each(bounded(2, 4), func(js *jobset.JobSet) {
				next := js.Spec.ReplicatedJobs[0].DeepCopy()
				next.Name = "next"
				next.Template.Spec.Parallelism, next.Template.Spec.Completions = ptr.To[int32](3), ptr.To[int32](3)
				js.Spec.ReplicatedJobs[1] = *next
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "next", PodIndex: 2}
			}),
			want: []violation{
				invalid(rjob+".template.spec.completions", "which are 2 and 4"),
				invalid("spec.replicatedJobs[1].elastic.minInstances", "must be above spec.coordinator.podIndex, which is 2"),
			},
		},
	})
	coordinatedBy := func(index int) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "leader", PodIndex: index}
		}
	}
	elasticJobSet := func() *jobset.JobSet { js := plainJobSet(); each(bounded(2, 4), leaderSize(2))(js); return js }
	runUpdate(t, elasticJobSet, map[string]updateCase{
		"P100: it grows to its largest size":                                 {gates: elastic, mut: leaderSize(4)},
		"P100: and not beyond":                                               {gates: elastic, mut: leaderSize(5), want: []violation{invalid(rjob+".template.spec.completions", "which are 2 and 4")}},
		"P100: it does not shrink below either":                              {gates: elastic, mut: leaderSize(1), want: []violation{invalid(rjob+".template.spec.completions", "which are 2 and 4")}},
		"P100: a coordinator that stays may come":                            {gates: elastic, mut: coordinatedBy(1)},
		"P100: one that would leave may not":                                 {gates: elastic, old: leaderSize(4), mut: coordinatedBy(2), want: []violation{invalid(rjob+".elastic.minInstances", "must be above spec.coordinator.podIndex, which is 2")}},
		"P100: one that is stored does not keep the JobSet from changing":    {gates: elastic, old: each(leaderSize(4), coordinatedBy(3)), mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }},
		"P100: the bounds do not change":                                     {gates: elastic, mut: bounded(2, 5), want: []violation{invalid(replicatedJobs, "field is immutable, changed: "+rjob+".elastic.maxInstances")}},
		"P100: with the gate off other fields of one that has bounds change": {mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }},
		"P100: a size outside that is stored is left alone":                  {gates: elastic, old: leaderSize(9), mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }},
	})
}
