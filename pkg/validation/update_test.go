/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

type updateCase struct {
	gates gates.Set
	old   func(js *jobset.JobSet) // changes the base on both sides
	mut   func(js *jobset.JobSet)
	want  []violation
}

func runUpdate(t *testing.T, base func() *jobset.JobSet, cases map[string]updateCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := base()
			if tc.old != nil {
				tc.old(old)
			}
			updated := old.DeepCopy()
			if tc.mut != nil {
				tc.mut(updated)
			}
			wantOld, wantNew := old.DeepCopy(), updated.DeepCopy()
			expect(t, tc.want, Update(old, updated, tc.gates))
			if diff := cmp.Diff([]*jobset.JobSet{wantOld, wantNew}, []*jobset.JobSet{old, updated}); diff != "" {
				t.Errorf("validation changed an object:\n%s", diff)
			}
		})
	}
}

const replicatedJobs = "spec.replicatedJobs"

func TestUpdateMutability(t *testing.T) {
	suspended := func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }
	dependsOn := func(on ...jobset.DependsOn) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].DependsOn = on }
	}
	runUpdate(t, plainJobSet, map[string]updateCase{
		"an update that changes nothing": {},
		"W72, W73, W74: labels, suspend and the time to live": {
			mut: func(js *jobset.JobSet) {
				js.Labels = map[string]string{"a": "b"}
				js.Annotations = map[string]string{"a": "b"}
				js.Finalizers = []string{"a/b"}
				js.Spec.Suspend = ptr.To(true)
				js.Spec.TTLSecondsAfterFinished = ptr.To[int32](5)
			},
		},
		"W78: managedBy is set later": {
			mut:  func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To("a/b") },
			want: []violation{invalid("spec.managedBy", "field is immutable")},
		},
		"O353, W78: managedBy changes, suspended or not": {
			old:  func(js *jobset.JobSet) { suspended(js); js.Spec.ManagedBy = ptr.To("a/b") },
			mut:  func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To("a/c") },
			want: []violation{invalid("spec.managedBy", "field is immutable")},
		},
		"W78: managedBy is cleared": {
			old:  func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To("a/b") },
			mut:  func(js *jobset.JobSet) { js.Spec.ManagedBy = nil },
			want: []violation{invalid("spec.managedBy", "field is immutable")},
		},
		"W79, Q20: the paths that differ are named, the list is not printed": {
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Replicas = 9
				job(js, 1).Parallelism = ptr.To[int32](9)
				pod(js, 1).Containers[0].Image = "other"
			},
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[0].replicas, "+
				"spec.replicatedJobs[1].template.spec.parallelism, spec.replicatedJobs[1].template.spec.template.spec.containers[0].image")},
		},
		"W80: adding a ReplicatedJob, also while suspended": {
			old: suspended,
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, replicatedJob("x", 1, 1))
			},
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs")},
		},
		"W80: removing a ReplicatedJob, also while suspended": {
			old: suspended, mut: leaderOnly,
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs")},
		},
		"W80: renaming a ReplicatedJob": {
			mut:  func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].Name = "x" },
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[0].name")},
		},
		"W80: reordering ReplicatedJobs": {
			mut: func(js *jobset.JobSet) {
				rjs := js.Spec.ReplicatedJobs
				rjs[0], rjs[1] = rjs[1], rjs[0]
			},
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[0].name")},
		},
		"W81: nothing else changes while suspended": {
			old: suspended,
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].GroupName = "x"
				js.Spec.ReplicatedJobs[0].Template.Labels = map[string]string{"a": "b"}
				pod(js, 0).PriorityClassName = "x"
				pod(js, 0).Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
				pod(js, 0).Hostname, pod(js, 0).Subdomain = "x", "x"
			},
			want: []violation{invalid(replicatedJobs, "spec.replicatedJobs[0].groupName, spec.replicatedJobs[0].template.metadata.labels[a], ")},
		},
		"W79: meaning counts, not spelling": {
			old: func(js *jobset.JobSet) {
				pod(js, 0).Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1000m")}
			},
			mut: func(js *jobset.JobSet) {
				pod(js, 0).Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
				pod(js, 0).Tolerations, pod(js, 0).NodeSelector = []corev1.Toleration{}, map[string]string{}
				js.Spec.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{}
			},
		},
		"W79: a quantity that differs is named by its key": {
			old: func(js *jobset.JobSet) {
				pod(js, 0).Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("2")}
			},
			mut: func(js *jobset.JobSet) {
				pod(js, 0).Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
			},
			want: []violation{invalid(replicatedJobs, "spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.limits[cpu]")},
		},
		"W77, W79: dependsOn is added": {
			mut:  dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyReady}),
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[1].dependsOn")},
		},
		"W77, W79: dependsOn is removed": {
			old:  dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyReady}),
			mut:  dependsOn(),
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[1].dependsOn")},
		},
		"O360, W77, S2: dependsOn changes, suspended or not": {
			old: func(js *jobset.JobSet) {
				suspended(js)
				dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyReady})(js)
			},
			mut:  dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyComplete}),
			want: []violation{invalid("spec.replicatedJobs[1].dependsOn", "Value is immutable")},
		},
		"W77: a dependency more": {
			old: dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyReady}),
			mut: dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyReady}, jobset.DependsOn{Name: "x"}),
			want: []violation{invalid("spec.replicatedJobs[1].dependsOn",
				"Value is immutable: it cannot be added, removed or changed after creation")},
		},
		"W77, W79: the order of ReplicatedJobs that depend on each other": {
			old: dependsOn(jobset.DependsOn{Name: "leader", Status: jobset.DependencyReady}),
			mut: func(js *jobset.JobSet) {
				rjs := js.Spec.ReplicatedJobs
				rjs[0], rjs[1] = rjs[1], rjs[0]
			},
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[0].name")},
		},
	})
}

// fiveFields changes everything that may change while suspended.
func fiveFields(js *jobset.JobSet) {
	for i := range js.Spec.ReplicatedJobs {
		template := &job(js, i).Template
		template.Labels = map[string]string{"a": "b"}
		template.Annotations = map[string]string{"a": "not valid / at all"}
		template.Spec.NodeSelector = map[string]string{"zone": "a"}
		template.Spec.Tolerations = []corev1.Toleration{{Key: "a"}}
		template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}}
	}
}

func TestUpdateSuspended(t *testing.T) {
	suspend := func(v *bool) func(*jobset.JobSet) { return func(js *jobset.JobSet) { js.Spec.Suspend = v } }
	both := func(fs ...func(*jobset.JobSet)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			for _, f := range fs {
				f(js)
			}
		}
	}
	running := []violation{invalid(replicatedJobs, "may change while the JobSet is suspended")}
	runUpdate(t, plainJobSet, map[string]updateCase{
		"W84, W85: suspended":                {old: suspend(ptr.To(true)), mut: fiveFields},
		"W86: resuming":                      {old: suspend(ptr.To(true)), mut: both(suspend(ptr.To(false)), fiveFields)},
		"W86: resuming by leaving it out":    {old: suspend(ptr.To(true)), mut: both(suspend(nil), fiveFields)},
		"W87: suspending":                    {mut: both(suspend(ptr.To(true)), fiveFields)},
		"W88: running":                       {mut: fiveFields, want: running},
		"W88: running, false instead of nil": {old: suspend(ptr.To(false)), mut: fiveFields, want: running},
		"W80, W84: by name, so a reordering is still refused": {
			old: suspend(ptr.To(true)),
			mut: both(fiveFields, func(js *jobset.JobSet) {
				rjs := js.Spec.ReplicatedJobs
				rjs[0], rjs[1] = rjs[1], rjs[0]
			}),
			want: []violation{invalid(replicatedJobs, "field is immutable")},
		},
		"W84, Q4: the new entries, and those only, must be such as a Job can have": {
			old: both(suspend(ptr.To(true)), func(js *jobset.JobSet) {
				job(js, 0).Template.Labels = map[string]string{"old": "no value", "other": "b"}
				pod(js, 0).Tolerations = []corev1.Toleration{{Key: "a", TolerationSeconds: ptr.To[int64](30)}}
				pod(js, 0).SchedulingGates = []corev1.PodSchedulingGate{{Name: "a b"}}
			}),
			mut: func(js *jobset.JobSet) {
				job(js, 0).Template.Labels["other"] = "no value"
				job(js, 1).Template.Annotations = map[string]string{"a/b/c": ""}
				pod(js, 1).NodeSelector = map[string]string{"a": "no value"}
				pod(js, 0).Tolerations = append(pod(js, 0).Tolerations, corev1.Toleration{Key: "a", TolerationSeconds: ptr.To[int64](31)})
				pod(js, 0).SchedulingGates = append(pod(js, 0).SchedulingGates, corev1.PodSchedulingGate{Name: "b c"})
			},
			want: []violation{
				invalid("spec.replicatedJobs[0].template.spec.template.metadata.labels", "a valid label must be"),
				invalid("spec.replicatedJobs[0].template.spec.template.spec.tolerations[1].effect", "must be NoExecute"),
				invalid("spec.replicatedJobs[0].template.spec.template.spec.schedulingGates[1].name", "name part must consist of"),
				invalid("spec.replicatedJobs[1].template.spec.template.metadata.annotations", "a valid label key must consist"),
				invalid("spec.replicatedJobs[1].template.spec.template.spec.nodeSelector", "a valid label must be"),
			},
		},
		"W89: neither conditions nor Jobs that ran before matter": {
			old: both(suspend(ptr.To(true)), func(js *jobset.JobSet) {
				js.Status.Restarts = 2
				js.Status.Conditions = []metav1.Condition{{Type: "Completed", Status: "True"}, {Type: "Suspended", Status: "True"}}
			}),
			mut: fiveFields,
		},
		"W73: a finished JobSet is suspended and resumed": {
			old: func(js *jobset.JobSet) { js.Status.Conditions = []metav1.Condition{{Type: "Failed", Status: "True"}} },
			mut: suspend(ptr.To(true)),
		},
		"W79, W84: what may change does not hide what may not": {
			old:  suspend(ptr.To(true)),
			mut:  both(fiveFields, func(js *jobset.JobSet) { pod(js, 1).Hostname = "x" }),
			want: []violation{invalid(replicatedJobs, "field is immutable, changed: spec.replicatedJobs[1].template.spec.template.spec.hostname")},
		},
	})
}

func TestUpdatePolicies(t *testing.T) {
	failurePolicy := func(js *jobset.JobSet) {
		js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1, Rules: []jobset.FailurePolicyRule{{Name: "a", Action: jobset.FailJobSet}}}
	}
	runUpdate(t, plainJobSet, map[string]updateCase{
		"P44: failurePolicy is added": {
			mut:  failurePolicy,
			want: []violation{invalid("spec.failurePolicy", "Value is immutable")},
		},
		"P44: failurePolicy is removed": {
			old:  failurePolicy,
			mut:  func(js *jobset.JobSet) { js.Spec.FailurePolicy = nil },
			want: []violation{invalid("spec.failurePolicy", "Value is immutable")},
		},
		"O351, P44: failurePolicy changes, and the message says where": {
			old:  failurePolicy,
			mut:  func(js *jobset.JobSet) { js.Spec.FailurePolicy.Rules[0].Action = jobset.RestartJobSet },
			want: []violation{invalid("spec.failurePolicy", "changed: spec.failurePolicy.rules[0].action")},
		},
		"P44: empty lists are as good as absent ones": {
			old: func(js *jobset.JobSet) {
				js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{}}
			},
			mut: func(js *jobset.JobSet) { js.Spec.FailurePolicy.Rules = nil },
		},
		"W83, Q4: the rules of creation are not held against what does not change": {
			old: func(js *jobset.JobSet) {
				js.Name = "1.js"
				js.Spec.Network.Subdomain = "a.b"
				js.Spec.ManagedBy = ptr.To("nobody")
				js.Spec.SuccessPolicy.TargetReplicatedJobs = []string{"x"}
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "x"}
				js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{claimPolicy(jobset.RetentionPolicyDelete, "a.b", "a.b")}
				js.Annotations = map[string]string{jobset.ExclusiveKey: "a b"}
				js.Spec.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{{Name: "leader"}}
				pod(js, 0).RestartPolicy = corev1.RestartPolicyAlways
				job(js, 1).Completions, job(js, 1).CompletionMode = nil, nil
				job(js, 1).Template.Labels = map[string]string{"a": "b c"}
				js.Finalizers = []string{"a/b"}
			},
			mut: func(js *jobset.JobSet) {
				js.Finalizers, js.Labels = nil, map[string]string{"a": "b"}
				js.Spec.Suspend, js.Spec.TTLSecondsAfterFinished = ptr.To(true), ptr.To[int32](1)
			},
		},
		"P44: a policy that today would be refused does not block other changes": {
			old: func(js *jobset.JobSet) {
				js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: -1, RestartStrategy: jobset.InPlaceRestart,
					Rules: []jobset.FailurePolicyRule{{Action: jobset.RestartJob}}}
				js.Finalizers = []string{"a/b"}
			},
			mut: func(js *jobset.JobSet) { js.Finalizers = nil; js.Spec.Suspend = ptr.To(true) },
		},
		"W76, Q5, Q16: policies are removed": {
			mut: func(js *jobset.JobSet) {
				js.Spec.Network, js.Spec.SuccessPolicy, js.Spec.StartupPolicy = nil, nil, nil
			},
			want: []violation{
				invalid("spec.network", valueImmutable),
				invalid("spec.successPolicy", valueImmutable),
				invalid("spec.startupPolicy", valueImmutable),
			},
		},
		"W76, Q4, Q16: policies are added": {
			old: func(js *jobset.JobSet) {
				js.Spec.Network, js.Spec.SuccessPolicy, js.Spec.StartupPolicy = nil, nil, nil
			},
			mut: func(js *jobset.JobSet) {
				js.Spec.Network, js.Spec.SuccessPolicy = &jobset.Network{}, &jobset.SuccessPolicy{}
				js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder}
				js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{}}
			},
			want: []violation{
				invalid("spec.network", valueImmutable),
				invalid("spec.successPolicy", valueImmutable),
				invalid("spec.startupPolicy", valueImmutable),
				invalid("spec.volumeClaimPolicies", valueImmutable),
			},
		},
		"O350, O364, W76: policies change": {
			old: func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{}} },
			mut: func(js *jobset.JobSet) {
				js.Spec.Network.Subdomain, js.Spec.SuccessPolicy.TargetReplicatedJobs = "x", []string{"leader"}
				js.Spec.StartupPolicy.StartupPolicyOrder = jobset.InOrder
				js.Spec.VolumeClaimPolicies[0].RetentionPolicy = &jobset.VolumeRetentionPolicy{}
			},
			want: []violation{
				invalid("spec.network", valueImmutable),
				invalid("spec.successPolicy", valueImmutable),
				invalid("spec.startupPolicy", valueImmutable),
				invalid("spec.volumeClaimPolicies", valueImmutable),
			},
		},
		"W75: the coordinator may change, to a valid one": {
			mut: func(js *jobset.JobSet) { js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "workers"} },
		},
		"W75, Q17: the coordinator changes to an invalid one": {
			mut: func(js *jobset.JobSet) {
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "workers", PodIndex: 7}
			},
			want: []violation{unpathed("coordinator pod index 7 is invalid for replicatedJob workers job index 0")},
		},
		"Q17: a coordinator that was invalid before stays": {
			old: func(js *jobset.JobSet) { js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "x"} },
			mut: func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) },
		},
	})
}

func TestDifferences(t *testing.T) {
	t.Run("Q20: many paths are cut", func(t *testing.T) {
		got := summary([]string{"a", "b", "c", "d", "e", "f", "g"})
		if want := "a, b, c, d, e and 2 more"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("a path ends where one side has nothing", func(t *testing.T) {
		got := differences(specPath, batchv1.JobSpec{BackoffLimit: ptr.To[int32](1)}, batchv1.JobSpec{})
		if diff := cmp.Diff([]string{"spec.backoffLimit"}, got); diff != "" {
			t.Errorf("paths (-want +got):\n%s", diff)
		}
	})
}
