/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// fiveJobs is a JobSet of five Jobs, and those of them that exist.
func fiveJobs(t *testing.T, exist ...int) (*shell, *jobset.JobSet, func(int) *batchv1.Job) {
	t.Helper()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(5).PodMeta("k", "v")).Obj()
	objs := []client.Object{js}
	for _, i := range exist {
		objs = append(objs, builders.MakeJob(js, "a", i).Suspend(i == 4).Change(func(job *batchv1.Job) {
			job.Status.StartTime = ptr.To(metav1.NewTime(now))
		}).Obj())
	}
	s := newShell(t, objs...)
	return s, js, func(i int) *batchv1.Job { return stored(t, s, builders.MakeJob(js, "a", i).Obj()) }
}

// planOf is a plan of these changes, in the order of their kinds like each that is decided.
func planOf(ops ...policy.Op) *policy.Plan {
	slices.SortStableFunc(ops, func(a, b policy.Op) int { return int(a.Kind) - int(b.Kind) })
	return &policy.Plan{Writes: policy.Writes{Ops: ops}}
}

func TestExecuteInOrder(t *testing.T) {
	t.Parallel()
	s, js, job := fiveJobs(t, 0, 3, 4)
	builder := children.NewBuilder(js)
	rjob := &js.Spec.ReplicatedJobs[0]
	resumed, changed := children.Resumed(job(4), rjob, children.Resumption{})
	cached := job(4)
	suspended := job(3)
	plan := planOf(
		policy.Op{Kind: policy.DeleteJobSet},
		policy.Op{Kind: policy.ResumeJob, Job: cached, Resumed: resumed, ResetStartTime: changed},
		policy.Op{Kind: policy.CreateJob, Job: builder.Job(rjob, 1)},
		policy.Op{Kind: policy.CreateJob, Batch: 1, Job: builder.Job(rjob, 2)},
		policy.Op{Kind: policy.ScaleJob, Job: job(3), Workers: 4},
		policy.Op{Kind: policy.CreateClaim, Claim: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-js", Namespace: "ns"}}},
		policy.Op{Kind: policy.CreateService, Service: children.Service(js)},
		policy.Op{Kind: policy.SuspendJob, Job: suspended},
		policy.Op{Kind: policy.DeleteJob, Job: job(0)},
	)
	before := []*batchv1.Job{suspended.DeepCopy(), cached.DeepCopy()}
	if err := s.execute(t.Context(), js, plan); err != nil {
		t.Fatal(err)
	}
	s.Record.Expect(t, "delete Job js-a-0", "patch Job js-a-3", "create Service js", "create PersistentVolumeClaim data-js", "patch Job js-a-3",
		"create Job js-a-1", "create Job js-a-2", "patch status Job js-a-4", "patch Job js-a-4", "delete JobSet js")
	if diff := cmp.Diff(before, []*batchv1.Job{suspended, cached}); diff != "" {
		t.Errorf("P22: what the cache holds changed:\n%s", diff)
	}
	if got := job(3).Spec; *got.Parallelism != 4 || *got.Completions != 4 {
		t.Errorf("C183: Job 3 runs %d of %d Pods, want 4 of 4", *got.Parallelism, *got.Completions)
	}
	if got := *job(3).Spec.Suspend; !got {
		t.Error("C163: Job 3 is not suspended")
	}
	got := job(4)
	if *got.Spec.Suspend || got.Status.StartTime != nil || got.Spec.Template.Labels["k"] != "v" {
		t.Errorf("C168: Job 4 is suspend %v, start %v, labels %v", *got.Spec.Suspend, got.Status.StartTime, got.Spec.Template.Labels)
	}
}

func TestExecuteStopsAtTheFirstStepThatFails(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	all := []string{"delete Job js-a-0", "patch Job js-a-3", "create Service js", "create Job js-a-1", "create Job js-a-2", "patch Job js-a-4", "delete JobSet js"}
	serviceFailed := "event Warning HeadlessServiceCreationFailed Reconciling: down"
	jobFailed := func(name string) string {
		return `event Warning JobCreationFailed Reconciling: job "` + name + `" creation failed with error: down`
	}
	tests := map[string]struct {
		at   int
		told []string
	}{
		"C38: a Job is not deleted":               {0, nil},
		"C163: a Job is not suspended":            {1, nil},
		"C95: the Service is not created":         {2, []string{serviceFailed}},
		"C64: a Job is not created":               {3, []string{jobFailed("js-a-1")}},
		"C64: a Job of the second is not created": {4, []string{jobFailed("js-a-2")}},
		"C166: a Job is not resumed":              {5, []string{"event Warning JobResumeFailed Reconciling: resuming Job ns/js-a-4: down"}},
		"C173: the JobSet is not deleted":         {6, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, js, job := fiveJobs(t, 0, 3, 4)
			builder := children.NewBuilder(js)
			rjob := &js.Spec.ReplicatedJobs[0]
			resumed, _ := children.Resumed(job(4), rjob, children.Resumption{})
			s.Fail = func(request string) error {
				if request == all[tc.at] {
					return down
				}
				return nil
			}
			err := s.execute(t.Context(), js, planOf(
				policy.Op{Kind: policy.DeleteJob, Job: job(0)}, policy.Op{Kind: policy.CreateService, Service: children.Service(js)},
				policy.Op{Kind: policy.CreateJob, Job: builder.Job(rjob, 1)}, policy.Op{Kind: policy.CreateJob, Batch: 1, Job: builder.Job(rjob, 2)},
				policy.Op{Kind: policy.SuspendJob, Job: job(3)}, policy.Op{Kind: policy.ResumeJob, Job: job(4), Resumed: resumed},
				policy.Op{Kind: policy.DeleteJobSet},
			))
			if !errors.Is(err, down) {
				t.Errorf("error %v, want %v", err, down)
			}
			s.Record.Expect(t, append(append([]string{}, all[:tc.at+1]...), tc.told...)...)
		})
	}
}

func TestCreateJobsOfOneBatch(t *testing.T) {
	t.Parallel()
	s, js, _ := fiveJobs(t)
	builder := children.NewBuilder(js)
	var batch []policy.Op
	for i := range 5 {
		batch = append(batch, policy.Op{Kind: policy.CreateJob, Job: builder.Job(&js.Spec.ReplicatedJobs[0], i)})
	}
	s.Fail = func(request string) error {
		if strings.HasSuffix(request, "1") || strings.HasSuffix(request, "3") {
			return errors.New("quota")
		}
		return nil
	}
	err := s.execute(t.Context(), js, planOf(batch...))
	const want = "job \"js-a-1\" creation failed with error: quota\njob \"js-a-3\" creation failed with error: quota"
	if err == nil || err.Error() != want {
		t.Errorf("C63: error %v, want %s", err, want)
	}
	s.Record.Sort()
	s.Record.Expect(t, "create Job js-a-0", "create Job js-a-1", "create Job js-a-2", "create Job js-a-3", "create Job js-a-4",
		"event Warning JobCreationFailed Reconciling: "+want)
}

func TestWhatExistsOrIsGone(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Obj()
	mine := builders.MakeJob(js, "a", 0).Obj()
	foreign := builders.MakeJob(builders.MakeJobSet("js", "ns").UID("an earlier one").Obj(), "a", 0).Obj()
	uncontrolled := builders.MakeJob(js, "a", 0).Change(func(job *batchv1.Job) { job.OwnerReferences = nil }).Obj()
	create := policy.Op{Kind: policy.CreateJob, Job: children.NewBuilder(js).Job(&js.Spec.ReplicatedJobs[0], 0)}
	service := children.Service(js)
	other := service.DeepCopy()
	other.OwnerReferences = nil
	tests := map[string]struct {
		exists client.Object
		op     policy.Op
		fails  bool
	}{
		"C314: a Job of ours that the cache does not show is fine": {mine, create, false},
		"C314: a Job of an earlier JobSet of that name is not":     {foreign, create, true},
		"C314: a Job without a controller is not":                  {uncontrolled, create, true},
		"C94: a Service of ours is fine":                           {service, policy.Op{Kind: policy.CreateService, Service: service.DeepCopy()}, false},
		"C94: a Service of another owner is left alone":            {other, policy.Op{Kind: policy.CreateService, Service: service.DeepCopy()}, false},
		"C103: a Job to delete that is gone is fine":               {js, policy.Op{Kind: policy.DeleteJob, Job: mine}, false},
		"C163: a Job to suspend that is gone is fine":              {js, policy.Op{Kind: policy.SuspendJob, Job: mine}, false},
		"C166: a Job to resume that is gone is fine":               {js, policy.Op{Kind: policy.ResumeJob, Job: mine, Resumed: mine.DeepCopy(), ResetStartTime: true}, false},
		"C173: a JobSet to delete that is gone is fine":            {mine, policy.Op{Kind: policy.DeleteJobSet}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, tc.exists.DeepCopyObject().(client.Object))
			tc.op.Job = tc.op.Job.DeepCopy()
			if err := s.execute(t.Context(), js, planOf(tc.op)); (err != nil) != tc.fails {
				t.Errorf("error %v, wanted one: %v", err, tc.fails)
			}
			events := 0
			for _, entry := range s.Record.All() {
				if strings.HasPrefix(entry, "event Warning JobCreationFailed") {
					events++
				}
			}
			if want := map[bool]int{true: 1}[tc.fails]; events != want {
				t.Errorf("%d events, want %d: %v", events, want, s.Record.All())
			}
		})
	}
}

// TestDeletionsByForceAreCounted is not parallel: the metric is that of the process.
func TestDeletionsByForceAreCounted(t *testing.T) {
	js, job := workers()
	pod := builders.MakePod(job, 0).Obj()
	s := newShell(t, js, pod)
	s.client = s.Fake // the record wants foreground deletions
	before := deletionsByForce(t)
	js = stored(t, s, js)
	plan := planOf(policy.Op{Kind: policy.DeletePod, Pod: facts.Of(stored(t, s, pod)), Force: true, Because: &policy.Event{}}, policy.Op{Kind: policy.CountForced})
	plan.Status = js.Status
	if err := s.execute(t.Context(), js, plan); err != nil {
		t.Fatal(err)
	}
	if _, err := s.report(t.Context(), js, plan); err != nil { // the status stays as it is
		t.Fatal(err)
	}
	if got := deletionsByForce(t) - before; got != 1 {
		t.Errorf("P89: counted %v times, want once", got)
	}
}

func deletionsByForce(t *testing.T) (count float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "jobset_fault_tolerance_steps_total" && metric.GetLabel()[0].GetValue() == string(policy.DeletedByForce) {
				count += metric.GetCounter().GetValue()
			}
		}
	}
	return count
}

// TestRefusedResources: the API server has no gate MutablePodResourcesForSuspendedJobs, or it is off.
func TestRefusedResources(t *testing.T) {
	t.Parallel()
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "js-a-4", field.ErrorList{field.Invalid(field.NewPath("spec", "template"), "", "field is immutable")})
	const advice = "resuming Job ns/js-a-4: the API server refuses other requests and limits of a suspended Job: turn on its feature gate " +
		"MutablePodResourcesForSuspendedJobs (alpha in Kubernetes 1.35, on by default from 1.36), or restore those that the Job has: "
	for name, tc := range map[string]struct {
		cpu     string
		trouble error
		want    string
	}{
		"C401: that resources are refused is told":        {"2", invalid, "event Warning FailedResourcePropagation Reconciling: " + advice + invalid.Error()},
		"C401: what has another reason is told as before": {"2", errors.New("down"), "event Warning JobResumeFailed Reconciling: resuming Job ns/js-a-4: down"},
		"C401: so is a refusal of something else":         {"", invalid, "event Warning JobResumeFailed Reconciling: resuming Job ns/js-a-4: " + invalid.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, js, job := fiveJobs(t, 4)
			resumed, _ := children.Resumed(job(4), &js.Spec.ReplicatedJobs[0], children.Resumption{})
			if tc.cpu != "" {
				requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.cpu)}
				resumed.Spec.Template.Spec.Containers = []corev1.Container{{Name: "w", Resources: corev1.ResourceRequirements{Requests: requests}}}
			}
			s.Fail = func(request string) error {
				if request == "patch Job js-a-4" {
					return tc.trouble
				}
				return nil
			}
			if err := s.execute(t.Context(), js, planOf(policy.Op{Kind: policy.ResumeJob, Job: job(4), Resumed: resumed})); !errors.Is(err, tc.trouble) {
				t.Errorf("error %v, want %v", err, tc.trouble)
			}
			s.Record.Expect(t, "patch Job js-a-4", tc.want)
		})
	}
}
