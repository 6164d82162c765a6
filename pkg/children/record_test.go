/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// flavor puts what a queueing system puts into a template for one set of nodes.
func flavor(name string) func(*corev1.PodTemplateSpec) {
	return func(p *corev1.PodTemplateSpec) {
		p.Labels, p.Annotations = merged(p.Labels, map[string]string{"label-" + name: "v"}), merged(p.Annotations, map[string]string{"annotation-" + name: "v"})
		p.Spec.NodeSelector = merged(p.Spec.NodeSelector, map[string]string{"flavor-" + name: "yes"})
		p.Spec.Tolerations = append(p.Spec.Tolerations,
			corev1.Toleration{Key: "flavor", Value: name, Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: "flavor", Value: name, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](5)})
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "gate-" + name})
	}
}

// kept is what the Job controller and we put into the template of a Job.
func kept(p *corev1.PodTemplateSpec) {
	for _, key := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"} {
		p.Labels = merged(p.Labels, map[string]string{key: "x"})
	}
	p.Spec.NodeSelector = merged(p.Spec.NodeSelector, map[string]string{jobset.NamespacedJobKey: "ns_js-a-0"})
	p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: jobset.NoScheduleTaintKey, Operator: corev1.TolerationOpExists})
}

func TestResumedWithAnotherFlavor(t *testing.T) {
	t.Parallel()
	nothing := func(*corev1.PodTemplateSpec) {}
	both := func(p *corev1.PodTemplateSpec) { flavor("a")(p); flavor("b")(p) }
	for name, tc := range map[string]struct {
		// built, then resumed once with each of these, each as a change of the template as submitted.
		built    func(*corev1.PodTemplateSpec)
		resumes  []func(*corev1.PodTemplateSpec)
		want     func(*corev1.PodTemplateSpec)
		unmarked bool // by a version that records nothing
	}{
		"C334a: what an earlier admission put there goes":          {built: nothing, resumes: []func(*corev1.PodTemplateSpec){flavor("a"), flavor("b")}, want: flavor("b")},
		"C334a: and comes again with it":                           {built: nothing, resumes: []func(*corev1.PodTemplateSpec){flavor("a"), flavor("b"), flavor("a")}, want: flavor("a")},
		"C334a: what the Job was built with, too":                  {built: flavor("a"), resumes: []func(*corev1.PodTemplateSpec){flavor("b")}, want: flavor("b")},
		"C334a: what it still has stays":                           {built: flavor("a"), resumes: []func(*corev1.PodTemplateSpec){both, flavor("a")}, want: flavor("a")},
		"C334a: all of it may go":                                  {built: flavor("a"), resumes: []func(*corev1.PodTemplateSpec){nothing}, want: nothing},
		"C334a: of a Job without a record nothing goes, once":      {unmarked: true, built: flavor("a"), resumes: []func(*corev1.PodTemplateSpec){flavor("b")}, want: both},
		"C334a: but what a later version put there":                {unmarked: true, built: nothing, resumes: []func(*corev1.PodTemplateSpec){flavor("a"), flavor("b")}, want: flavor("b")},
		"C334a: what is kept goes not even if the template had it": {built: kept, resumes: []func(*corev1.PodTemplateSpec){nothing}, want: nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Suspend(true).ReplicatedJob(builders.MakeReplicatedJob("a").Workers(2)).Obj()
			plain := js.DeepCopy()
			tc.built(&js.Spec.ReplicatedJobs[0].Template.Spec.Template)
			job := build(t, js, 0, 0)
			if tc.unmarked {
				delete(job.Annotations, constants.TemplateEntriesKey)
			}
			flavor("foreign")(&job.Spec.Template) // by admission of Jobs, or another controller
			kept(&job.Spec.Template)
			for _, admitted := range tc.resumes {
				now := plain.DeepCopy()
				admitted(&now.Spec.ReplicatedJobs[0].Template.Spec.Template)
				job, _ = Resumed(job, &now.Spec.ReplicatedJobs[0], Resumption{})
			}
			want := build(t, plain, 0, 0).Spec.Template
			tc.want(&want)
			flavor("foreign")(&want)
			kept(&want)
			if diff := cmp.Diff(sortedTemplate(want), sortedTemplate(job.Spec.Template), sameEmptyMaps()); diff != "" {
				t.Errorf("template of the Job (-want +got):\n%s", diff)
			}
		})
	}
}

// sortedTemplate has each toleration and gate once, in an order of its own.
func sortedTemplate(p corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	p = *p.DeepCopy()
	p.Spec.Tolerations = union(nil, p.Spec.Tolerations, SameToleration)
	slices.SortFunc(p.Spec.Tolerations, func(a, b corev1.Toleration) int { return strings.Compare(tolerationEntry(a), tolerationEntry(b)) })
	p.Spec.SchedulingGates = union(nil, p.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) string { return g.Name })
	slices.SortFunc(p.Spec.SchedulingGates, func(a, b corev1.PodSchedulingGate) int { return strings.Compare(a.Name, b.Name) })
	return p
}

func TestRecord(t *testing.T) {
	t.Parallel()
	many := func(n int) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprintf("key-%05d", i)] = strings.Repeat("v", 20)
		}
		return all
	}
	for name, tc := range map[string]struct {
		onJob, labels map[string]string
		want          func(record string) bool
	}{
		"C334a: a template without such entries needs none": {want: func(record string) bool { return record == "" }},
		"C334a: one that its author wrote counts for nothing": {
			onJob: map[string]string{constants.TemplateEntriesKey: `["labels/x"]`}, want: func(record string) bool { return record == "" },
		},
		"C334a: it has keys, no values": {labels: map[string]string{"k": "v"}, want: func(record string) bool { return record == `["schedulingGates/g","labels/k"]` }},
		"C334a: it is bounded, and what Pods are scheduled by comes first": {labels: many(2000), want: func(record string) bool {
			return len(record) <= 16<<10 && len(record) > 15<<10 && strings.HasPrefix(record, `["schedulingGates/g","labels/key-00000"`)
		}},
		"C334a: it leaves the annotations of the author room": {
			onJob: map[string]string{"large": strings.Repeat("x", 256<<10-len("large")-60)}, labels: many(10),
			want: func(record string) bool { return record == `["schedulingGates/g"]` },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{}
			job.Annotations = maps.Clone(tc.onJob)
			template := &corev1.PodTemplateSpec{}
			if template.Labels = tc.labels; tc.labels != nil {
				template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
			}
			record(job, template)
			if got := job.Annotations[constants.TemplateEntriesKey]; !tc.want(got) {
				t.Errorf("record of %d bytes: %.100s", len(got), got)
			}
		})
	}
}
