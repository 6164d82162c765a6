/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package testshell is a fake API server with a clock and a record, for the tests of controllers.
package testshell

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Now is the time at which tests start.
var Now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// Record is what the API server was asked for and which events were recorded, in order.
type Record struct {
	mu      sync.Mutex
	entries []string
	// About has the resourceVersions of the JobSet that events were about.
	About []string
}

func (d *Record) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

// Eventf implements events.EventRecorder.
func (d *Record) Eventf(about, _ runtime.Object, eventType, reason, action, note string, args ...any) {
	if object, ok := about.(client.Object); ok {
		d.mu.Lock()
		d.About = append(d.About, object.GetResourceVersion())
		d.mu.Unlock()
	}
	d.write("event %s %s %s: %s", eventType, reason, action, fmt.Sprintf(note, args...))
}

// All returns the entries since the last call of Expect.
func (d *Record) All() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.entries)
}

// Sort sorts the entries, for writes that are made at the same time.
func (d *Record) Sort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.entries)
}

// Expect compares the entries since the last call.
func (d *Record) Expect(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if diff := cmp.Diff(want, d.entries, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	d.entries = nil
}

// API is a fake API server, and a cache of Jobs and Pods that is filled by hand.
type API struct {
	// Client writes into the record what it is asked for, Fake does not.
	Client client.Client
	Fake   client.WithWatch
	Record *Record
	Clock  *testingclock.FakePassiveClock
	Jobs   shared.Indexed[*batchv1.Job]
	Pods   shared.Indexed[*facts.Member]
	// Fail, if not nil, is called before each write with a text like "create Job js-a-0".
	Fail func(request string) error
}

func kindOf(obj client.Object) string {
	switch obj.(type) {
	case *jobset.JobSet:
		return "JobSet"
	case *corev1.Service:
		return "Service"
	case *corev1.PersistentVolumeClaim:
		return "PersistentVolumeClaim"
	case *rbacv1.Role:
		return "Role"
	case *rbacv1.RoleBinding:
		return "RoleBinding"
	case *batchv1.Job:
		return "Job"
	case *corev1.Pod:
		return "Pod"
	}
	return ""
}

// New returns an API server that has these objects.
func New(t *testing.T, objs ...client.Object) *API {
	t.Helper()
	objs = slices.Clone(objs)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, jobset.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &API{Record: &Record{}, Clock: testingclock.NewFakePassiveClock(Now), Jobs: newIndex(constants.JobsIndexByJobSetKey, jobset.GroupVersion.String(), jobset.Kind, &batchv1.Job{}),
		Pods: newIndex(constants.PodsIndexByJobKey, batchv1.SchemeGroupVersion.String(), "Job", &facts.Member{})}
	for i, obj := range objs { // the fake writes into what it is given, and tests share that
		objs[i] = obj.DeepCopyObject().(client.Object)
	}
	s.Fake = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithStatusSubresource(&jobset.JobSet{}, &batchv1.Job{}).
		WithIndex(&coordinationv1.Lease{}, metav1.ObjectNameField, func(lease client.Object) []string { return []string{lease.GetName()} }).Build()
	write := func(verb string, obj client.Object, do func() error) error {
		request := fmt.Sprintf("%s %s %s", verb, kindOf(obj), obj.GetName())
		s.Record.write("%s", request)
		if s.Fail != nil {
			if err := s.Fail(request); err != nil {
				return err
			}
		}
		return do()
	}
	s.Client = interceptor.NewClient(s.Fake, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return write("create", obj, func() error { return c.Create(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			options := (&client.DeleteOptions{}).ApplyOptions(opts)
			if _, isPod := obj.(*corev1.Pod); !isPod && (options.PropagationPolicy == nil || *options.PropagationPolicy != "Foreground") {
				t.Errorf("C103: %s is not deleted in the foreground", obj.GetName())
			}
			if options.Preconditions == nil || options.Preconditions.UID == nil || *options.Preconditions.UID != obj.GetUID() {
				t.Errorf("%s is deleted by name, whatever its UID", obj.GetName())
			}
			return write("delete", obj, func() error { return c.Delete(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return write("patch", obj, func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return write("patch "+sub, obj, func() error { return c.SubResource(sub).Patch(ctx, obj, patch, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			return write("update "+sub, obj, func() error { return c.SubResource(sub).Update(ctx, obj, opts...) })
		},
	})
	return s
}

// newIndex returns an empty index of objects by their controller.
func newIndex[T client.Object](name, apiVersion, kind string, _ T) shared.Indexed[T] {
	return shared.Indexed[T]{Index: name, Store: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
		name: func(obj any) ([]string, error) { return shared.ControllerKey(obj.(T), apiVersion, kind), nil },
	})}
}

// Stored reads an object back from the fake API server.
func Stored[T client.Object](t *testing.T, api client.Reader, obj T) T {
	t.Helper()
	got := obj.DeepCopyObject().(T)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), got); err != nil {
		t.Fatal(err)
	}
	return got
}

// Cached adds objects to the cache of controllers.
func (s *API) Cached(t *testing.T, jobs []*batchv1.Job, pods ...*corev1.Pod) {
	t.Helper()
	for _, job := range jobs {
		if err := s.Jobs.Store.Add(job); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		if err := s.Pods.Store.Add(facts.Of(pod)); err != nil {
			t.Fatal(err)
		}
	}
}
