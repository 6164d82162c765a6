/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// dice draws what Pods are made of.
type dice struct{ *rand.Rand }

func (d dice) yes() bool { return d.Intn(2) == 0 }

func one[T any](d dice, of ...T) T { return of[d.Intn(len(of))] }

func (d dice) time() metav1.Time {
	return metav1.NewTime(now.Add(time.Duration(d.Intn(5)) * time.Second))
}

// fill draws the texts, numbers and bools of a struct: whichever of them becomes a fact is drawn without a line here.
func (d dice) fill(of reflect.Value) {
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() != reflect.Struct && d.yes() {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString(one(d, "", "some"))
		case reflect.Bool:
			field.SetBool(d.yes())
		case reflect.Int32, reflect.Int64:
			field.SetInt(int64(d.Intn(3)))
		}
	}
}

// pod draws a Pod, most of which no kubelet would report.
func (d dice) pod() *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: one(d, "js-w-0-0-abcde", "js-w-0-1-abcde"), Namespace: "ns", UID: types.UID(one(d, "a", "b")), ResourceVersion: "7", CreationTimestamp: d.time(),
			Labels:      map[string]string{jobset.JobSetNameKey: "js", jobset.JobSetUIDKey: "uid", "app": "x"},
			Annotations: map[string]string{"notes": "long"},
			Finalizers:  one(d, nil, []string{"other"}, []string{"other", batchv1.JobTrackingFinalizer}),
		},
	}
	spec, status := &pod.Spec, &pod.Status
	d.fill(reflect.ValueOf(spec).Elem())
	d.fill(reflect.ValueOf(status).Elem())
	spec.NodeName, spec.NodeSelector = one(d, "", "n1"), one(d, nil, map[string]string{"rack": "r1", "zone": "z"})
	spec.SchedulingGates = one(d, nil, []corev1.PodSchedulingGate{{Name: "g"}})
	spec.InitContainers = []corev1.Container{{Name: "setup", RestartPolicyRules: workerpod.RestartAllUnless(0)}, {
		Name: "agent", RestartPolicy: one(d, nil, &always), RestartPolicyRules: workerpod.RestartAllUnless(64),
		Env: one(d, nil, []corev1.EnvVar{{Name: workerpod.RestartExitCodeEnv, Value: "77"}}),
	}}
	spec.Containers = []corev1.Container{{
		Name: "worker", RestartPolicyRules: one(d, nil, workerpod.RestartAllUnless(0)), Command: one(d, nil, []string{"/jobset/bin/supervisor", "--", "train"}),
	}, {Name: "side"}}
	status.Phase = one(d, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded)
	values := map[string][]string{
		jobset.EpochKey: {"1", "2", "02", "x", ""}, batchv1.JobCompletionIndexAnnotation: {"0", "1", "x"}, jobset.ExclusiveKey: {"rack"},
		jobset.NodeSelectorStrategyKey: {"true"}, jobset.AddressKey: {"10.0.0.1"},
		jobset.WorkerExitKey: {`{"container":"worker","epoch":2,"code":3}`}, jobset.ProgressKey: {`{"epoch":2,"startMs":5}`},
		batchv1.JobIndexFailureCountAnnotation: {"0", "3", "-1"}, batchv1.JobIndexIgnoredFailureCountAnnotation: {"2"},
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if d.yes() {
			pod.Annotations[key] = one(d, append(values[key], "x")...)
		}
	}
	if d.yes() {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(d.time()), ptr.To(int64(d.Intn(2)))
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodReady, corev1.ContainersReady, corev1.AllContainersRestarting, corev1.DisruptionTarget,
	} {
		if d.yes() {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: kind, Status: one(d, corev1.ConditionTrue, corev1.ConditionFalse), Reason: one(d, "", "Because"),
				Message: strings.Repeat("ä", d.Intn(2)*400), LastTransitionTime: d.time(),
			})
		}
	}
	if d.Intn(4) > 0 {
		pod.Status.InitContainerStatuses = d.statuses("setup", "agent")
	}
	if d.Intn(4) > 0 {
		pod.Status.ContainerStatuses = d.statuses("worker", "side")
	}
	return pod
}

func (d dice) statuses(names ...string) (all []corev1.ContainerStatus) {
	ends := d.yes() // of all, so that Pods which ended well are drawn often enough
	for _, name := range names {
		s := corev1.ContainerStatus{Name: name, Started: ptr.To(d.yes())}
		if d.Intn(4) == 0 {
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
		}
		switch kind := d.Intn(3); {
		case kind == 0 || ends:
			s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: one[int32](d, 0, 0, 0, 1, 64, 65, 77), Reason: one(d, "Error", "OOMKilled", "RestartingAllContainers"), FinishedAt: d.time()}
		case kind == 1:
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: one(d, "", "PodInitializing", "ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff", "RestartingAllContainers")}
		default:
			s.State.Running = &corev1.ContainerStateRunning{}
		}
		all = append(all, s)
	}
	return all
}

func TestEveryFactIsRead(t *testing.T) {
	t.Parallel()
	const draws = 20000
	d, seen := dice{rand.New(rand.NewSource(1))}, map[string]bool{}
	for range draws {
		pod := d.pod()
		before := pod.DeepCopy()
		m := Of(pod)
		if !reflect.DeepEqual(before, pod) {
			t.Fatalf("P23: the Pod that came in changed (-before +after):\n%s", cmp.Diff(before, pod))
		}
		if again := Of(pod); !reflect.DeepEqual(m, again) {
			t.Fatalf("P23: reading it again shows something else (-once +twice):\n%s", cmp.Diff(m, again))
		}
		joined := Join(m, &Lease{Report: Report{Reported: Reported{Epoch: int32(d.Intn(3))}}}, 1)
		note(seen, "", reflect.ValueOf(*joined))
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if !seen[name] {
			t.Errorf("P23: none of %d Pods has %s: let dice.pod draw it", draws, name)
		}
	}
}

// note notes which facts were drawn.
func note(seen map[string]bool, path string, of reflect.Value) {
	for i := range of.NumField() {
		name, field := path+of.Type().Field(i).Name, of.Field(i)
		if field.Type() == reflect.TypeFor[metav1.ObjectMeta]() {
			continue
		}
		if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
			note(seen, name+".", field)
			continue
		}
		seen[name] = seen[name] || !field.IsZero()
	}
}

// TestWhatIsKept shows the Pods that a cache holds most, and one of which all is known.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	deleted := metav1.NewTime(now)
	always := corev1.ContainerRestartPolicyAlways
	owner := []metav1.OwnerReference{{Kind: "Job", Name: "j", UID: "j-uid", Controller: ptr.To(true)}}
	full := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u", ResourceVersion: "7", CreationTimestamp: deleted, DeletionTimestamp: &deleted, OwnerReferences: owner,
			GenerateName: "p-", DeletionGracePeriodSeconds: ptr.To[int64](30),
			Labels:        map[string]string{jobset.JobSetNameKey: "js", jobset.JobSetUIDKey: "x", "app": "big"},
			Annotations:   map[string]string{jobset.EpochKey: "3", jobset.WorkerExitKey: "{}", jobset.ProgressKey: "{}", batchv1.JobCompletionIndexAnnotation: "1", "notes": "long"},
			Finalizers:    []string{"other", batchv1.JobTrackingFinalizer},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.PodSpec{
			NodeName:       "n1",
			InitContainers: []corev1.Container{{Name: "agent", Image: "i", RestartPolicy: &always, RestartPolicyRules: workerpod.RestartAllUnless(64)}},
			Containers:     []corev1.Container{{Name: "up"}, {Name: "worker", Image: "i", RestartPolicyRules: workerpod.RestartAllUnless(0)}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Reason: "why", Message: "m", PodIP: "1.2.3.4",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}, {Type: corev1.PodInitialized, Status: "True"}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "up", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
				{Name: "worker", Image: "i", RestartCount: 2, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 9, FinishedAt: deleted, Message: "m"}}},
			},
		},
	}
	want := &Member{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u", ResourceVersion: "7", CreationTimestamp: deleted, DeletionTimestamp: &deleted, OwnerReferences: owner,
			Labels: map[string]string{jobset.JobSetNameKey: "js", jobset.JobSetUIDKey: "x"},
		},
		Index: 1, Node: "n1", Reason: "why",
		Standing: Standing{Phase: corev1.PodRunning, Deadline: now, Reported: Reported{Epoch: 3}, Tracked: true},
	}
	if diff := cmp.Diff(want, Of(full)); diff != "" {
		t.Errorf("C6, C353, P23: of a Pod that runs and is ready (-want +got):\n%s", diff)
	}

	full.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: "False", LastTransitionTime: deleted, Message: "containers with unready status: [worker]"},
		{Type: corev1.ContainersReady, Status: "False", LastTransitionTime: deleted},
		{Type: corev1.AllContainersRestarting, Status: "True", Reason: "r"},
	}
	want.Restarting, want.End = true, End{Container: "worker", ExitCode: 9, At: now}
	want.Readiness, want.UnreadySince = Starting, now
	if diff := cmp.Diff(want, Of(full)); diff != "" {
		t.Errorf("C373, P21, P23: of one whose containers restart, why, and since when it is not ready (-want +got):\n%s", diff)
	}
}

// TestLittleIsKeptOfWhatAnybodyMayWrite: whoever may create Pods writes what they like into annotations and owners.
func TestLittleIsKeptOfWhatAnybodyMayWrite(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<17)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{
		jobset.EpochKey: long, jobset.AddressKey: long, jobset.WorkerExitKey: `{"container":"worker","epoch":1,"leave":"` + strings.Repeat("x", 1<<17) + `"}`,
		jobset.ProgressKey: `{"epoch":1}` + strings.Repeat(" ", 1<<17), batchv1.JobCompletionIndexAnnotation: long,
	}}}
	for range 1000 {
		pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{Kind: "Other", Name: "other"})
	}
	pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{Kind: "Job", Name: "j", UID: "j-uid", Controller: ptr.To(true)})
	text := strings.Repeat("é", longestText/2) + "..."
	if diff := cmp.Diff(Reported{Invalid: true, Text: text}, Of(pod).Reported); diff != "" {
		t.Errorf("P12: the beginning of what is no epoch is told (-want +got):\n%s", diff)
	}
	want := Of(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", OwnerReferences: pod.OwnerReferences[1000:], Annotations: map[string]string{jobset.EpochKey: text},
	}})
	if diff := cmp.Diff(want, Of(pod)); diff != "" {
		t.Errorf("P23: more than that is kept (-want +got):\n%s", diff)
	}
	lease := OfLease(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: pod.Annotations}})
	if diff := cmp.Diff(Report{Reported: want.Reported}, lease.Report); diff != "" {
		t.Errorf("P152: more than that is kept of a Lease (-want +got):\n%s", diff)
	}
}

func TestWhoSaysThatItIsDisrupted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		conditions []corev1.PodCondition
		want       bool
	}{
		"C198: a Pod that says so":        {[]corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}, true},
		"C198: a Pod that says it is not": {[]corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse}}, false},
		"C198: a Pod that says other":     {[]corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}, false},
		"C198: a Pod that says nothing":   {nil, false},
	} {
		if got := Of(&corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions}}).Disrupted; got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestWhatTheSchedulerSaysIsCut(t *testing.T) {
	t.Parallel()
	says := func(message string) string {
		return Of(&corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message}}}}).Unscheduled
	}
	if got := says(strings.Repeat("ä", 400)); len(got) > longestSchedulerMessage+3 || !strings.HasSuffix(got, "ä...") {
		t.Errorf("P80a: %d bytes: %s", len(got), got)
	}
}

func BenchmarkOf(b *testing.B) {
	pod := dice{rand.New(rand.NewSource(1))}.pod()
	b.ReportAllocs()
	for b.Loop() {
		if m := Of(pod); m.Name == "" {
			b.Fatal("no name")
		}
	}
}
