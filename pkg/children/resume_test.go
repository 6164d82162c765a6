/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestResumed(t *testing.T) {
	t.Parallel()
	lasting := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, TolerationSeconds: ptr.To[int64](5)}
	}
	tolerations := func(all ...corev1.Toleration) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Tolerations = all }
	}
	gates := func(all ...string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			for _, name := range all {
				s.SchedulingGates = append(s.SchedulingGates, corev1.PodSchedulingGate{Name: name})
			}
		}
	}
	selector := func(all map[string]string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.NodeSelector = all }
	}
	labels := func(pods *corev1.PodTemplateSpec, key, value string) {
		if pods.Labels == nil {
			pods.Labels, pods.Annotations = map[string]string{}, map[string]string{}
		}
		pods.Labels[key], pods.Annotations[key] = value, value
	}
	tests := map[string]struct {
		// onJob is what the Job got beside what was built, wanted what the JobSet says now, result what is to come out.
		onJob, wanted, result func(*corev1.PodTemplateSpec)
		changed               bool
	}{
		"C168: nothing new": {changed: false},
		"C168: a new label and annotation": {
			wanted:  func(p *corev1.PodTemplateSpec) { labels(p, "k", "new") },
			result:  func(p *corev1.PodTemplateSpec) { labels(p, "k", "new") },
			changed: true,
		},
		"C168: the JobSet wins": {
			onJob:   func(p *corev1.PodTemplateSpec) { labels(p, "k", "old") },
			wanted:  func(p *corev1.PodTemplateSpec) { labels(p, "k", "new") },
			result:  func(p *corev1.PodTemplateSpec) { labels(p, "k", "new") },
			changed: true,
		},
		"C168: what others put on the Job is kept": {
			onJob: func(p *corev1.PodTemplateSpec) {
				labels(p, "kueue", "x")
				selector(map[string]string{"a": "1"})(&p.Spec)
			},
			result: func(p *corev1.PodTemplateSpec) {
				labels(p, "kueue", "x")
				selector(map[string]string{"a": "1"})(&p.Spec)
			},
		},
		"C335: the controller's own keys win": {
			onJob: func(p *corev1.PodTemplateSpec) {
				selector(map[string]string{jobset.NamespacedJobKey: "ns_js-a-0"})(&p.Spec)
			},
			wanted: func(p *corev1.PodTemplateSpec) {
				labels(p, jobset.JobSetNameKey, "forged")
				labels(p, jobset.JobIndexKey, "forged")
				labels(p, prefix+"restart-attempt", "forged")
				selector(map[string]string{jobset.NamespacedJobKey: "forged"})(&p.Spec)
			},
			result: func(p *corev1.PodTemplateSpec) {
				selector(map[string]string{jobset.NamespacedJobKey: "ns_js-a-0"})(&p.Spec)
			},
		},
		"C168: node selectors are merged": {
			onJob:   func(p *corev1.PodTemplateSpec) { selector(map[string]string{"a": "1", "b": "1"})(&p.Spec) },
			wanted:  func(p *corev1.PodTemplateSpec) { selector(map[string]string{"b": "2", "c": "2"})(&p.Spec) },
			result:  func(p *corev1.PodTemplateSpec) { selector(map[string]string{"a": "1", "b": "2", "c": "2"})(&p.Spec) },
			changed: true,
		},
		"C168: tolerations are united, in order": {
			onJob: func(p *corev1.PodTemplateSpec) { tolerations(lasting("a"), lasting("z"))(&p.Spec) },
			wanted: func(p *corev1.PodTemplateSpec) {
				tolerations(lasting("c"), lasting("z"), lasting("b"), lasting("c"))(&p.Spec)
			},
			result: func(p *corev1.PodTemplateSpec) {
				tolerations(lasting("a"), lasting("z"), lasting("c"), lasting("b"))(&p.Spec)
			},
			changed: true,
		},
		"C333: a toleration with seconds equals its copy": {
			onJob:  func(p *corev1.PodTemplateSpec) { tolerations(lasting("a"))(&p.Spec) },
			wanted: func(p *corev1.PodTemplateSpec) { tolerations(lasting("a"))(&p.Spec) },
			result: func(p *corev1.PodTemplateSpec) { tolerations(lasting("a"))(&p.Spec) },
		},
		"C168: a toleration with other seconds is another": {
			onJob:   func(p *corev1.PodTemplateSpec) { tolerations(lasting("a"))(&p.Spec) },
			wanted:  func(p *corev1.PodTemplateSpec) { tolerations(corev1.Toleration{Key: "a"})(&p.Spec) },
			result:  func(p *corev1.PodTemplateSpec) { tolerations(lasting("a"), corev1.Toleration{Key: "a"})(&p.Spec) },
			changed: true,
		},
		"C168: scheduling gates are united, in order": {
			onJob:   func(p *corev1.PodTemplateSpec) { gates("a", "b")(&p.Spec) },
			wanted:  func(p *corev1.PodTemplateSpec) { gates("d", "b", "c")(&p.Spec) },
			result:  func(p *corev1.PodTemplateSpec) { gates("a", "b", "d", "c")(&p.Spec) },
			changed: true,
		},
		"C169: the rest is not propagated": {
			wanted: func(p *corev1.PodTemplateSpec) {
				p.Spec.PriorityClassName, p.Spec.Containers = "high", []corev1.Container{{Image: "new"}}
				p.Spec.Affinity = &corev1.Affinity{}
			},
		},
	}
	apply := func(change func(*corev1.PodTemplateSpec), to *corev1.PodTemplateSpec) {
		if change != nil {
			change(to)
		}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Suspend(true).ReplicatedJob(builders.MakeReplicatedJob("a").Workers(2)).Obj()
			job := build(t, js, 0, 0)
			want := job.DeepCopy()
			apply(tc.onJob, &job.Spec.Template)
			apply(tc.result, &want.Spec.Template)
			want.Spec.Suspend = ptr.To(false)
			rjob := &js.Spec.ReplicatedJobs[0]
			apply(tc.wanted, &rjob.Template.Spec.Template)
			jobBefore, rjobBefore := job.DeepCopy(), rjob.DeepCopy()
			got, changed := Resumed(job, rjob, Resumption{})
			delete(got.Annotations, constants.TemplateEntriesKey) // see TestRecord
			if diff := cmp.Diff(want, got, sameEmptyMaps()); diff != "" {
				t.Errorf("Job (-want +got):\n%s", diff)
			}
			if changed != tc.changed {
				t.Errorf("changed %v, want %v", changed, tc.changed)
			}
			scribble(got)
			if diff := cmp.Diff(jobBefore, job); diff != "" {
				t.Errorf("the Job itself changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(rjobBefore, rjob); diff != "" {
				t.Errorf("the JobSet changed (-before +after):\n%s", diff)
			}
		})
	}
}

// scribble writes over all that a client's decoder might write over.
func scribble(job *batchv1.Job) {
	pods := &job.Spec.Template
	for i := range pods.Spec.Tolerations {
		if pods.Spec.Tolerations[i].TolerationSeconds != nil {
			*pods.Spec.Tolerations[i].TolerationSeconds = 99
		}
	}
	for _, all := range []map[string]string{pods.Labels, pods.Annotations, pods.Spec.NodeSelector} {
		all["scribble"] = "x"
	}
}

// sameEmptyMaps lets a nil map equal an empty one, as they do on the wire.
func sameEmptyMaps() cmp.Option {
	return cmp.FilterValues(func(a, b map[string]string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Comparer(func(_, _ map[string]string) bool { return true }))
}

func TestResumedTwice(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").PodMeta("k", "v").PodSpec(func(s *corev1.PodSpec) {
		s.Tolerations = []corev1.Toleration{{Key: "a", TolerationSeconds: ptr.To[int64](1)}}
	})).Obj()
	once, _ := Resumed(build(t, js, 0, 0), &js.Spec.ReplicatedJobs[0], Resumption{})
	twice, changed := Resumed(once, &js.Spec.ReplicatedJobs[0], Resumption{})
	if diff := cmp.Diff(once, twice); diff != "" || changed {
		t.Errorf("C333: a second resume changed the Job (%v, -once +twice):\n%s", changed, diff)
	}
}

func resources(requests, limits string) corev1.ResourceRequirements {
	list := func(cpu string) corev1.ResourceList {
		if cpu == "" {
			return nil
		}
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	return corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits), Claims: []corev1.ResourceClaim{{Name: "gpu"}}}
}

// TestResumedWithOtherResources: a container of a Job is "name requests limits", and so is one of the template.
func TestResumedWithOtherResources(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		job, template, want []string
		off                 bool
	}{
		"C400: requests and limits follow the template":        {job: []string{"w 1 2"}, template: []string{"w 3 4"}, want: []string{"w 3 4"}},
		"C400: by name, whatever the order":                    {job: []string{"a 1 1", "w 1 2"}, template: []string{"w 3 4", "a 5 5"}, want: []string{"a 5 5", "w 3 4"}},
		"C400: what the template has no longer goes":           {job: []string{"w 1 2"}, template: []string{"w 3 "}, want: []string{"w 3 "}},
		"C400: a container that was added keeps its own":       {job: []string{"w 1 2", "jobset-agent 1 1"}, template: []string{"w 3 4"}, want: []string{"w 3 4", "jobset-agent 1 1"}},
		"C400: with the gate off the Job keeps what it has":    {job: []string{"w 1 2"}, template: []string{"w 3 4"}, want: []string{"w 1 2"}, off: true},
		"C400: a value that is written differently is no news": {job: []string{"w 1 2"}, template: []string{"w 1000m 2"}, want: []string{"w 1 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			containers := func(all []string) (out []corev1.Container) {
				for _, words := range all {
					of := strings.Split(words, " ")
					out = append(out, corev1.Container{Name: of[0], Resources: resources(of[1], of[2])})
				}
				return out
			}
			js := builders.MakeJobSet("js", "ns").Suspend(true).ReplicatedJob(builders.MakeReplicatedJob("a").PodSpec(func(s *corev1.PodSpec) {
				s.Containers, s.InitContainers = containers(tc.template), containers(tc.template)
			})).Obj()
			job := build(t, js, 0, 0)
			job.Spec.Template.Spec.Containers, job.Spec.Template.Spec.InitContainers = containers(tc.job), containers(tc.job)
			before := job.DeepCopy()
			got, changed := Resumed(job, &js.Spec.ReplicatedJobs[0], Resumption{Resources: !tc.off})
			for what, list := range map[string][]corev1.Container{"containers": got.Spec.Template.Spec.Containers, "initContainers": got.Spec.Template.Spec.InitContainers} {
				if !apiequality.Semantic.DeepEqual(list, containers(tc.want)) {
					t.Errorf("%s are %v, want %v", what, list, tc.want)
				}
			}
			resized := !slices.Equal(tc.want, tc.job)
			if changed != resized || Resized(got, job) != resized {
				t.Errorf("changed %v, resized %v, want %v", changed, Resized(got, job), resized)
			}
			if diff := cmp.Diff(before, job); diff != "" {
				t.Errorf("the Job itself changed:\n%s", diff)
			}
		})
	}
}
