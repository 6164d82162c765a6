/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

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
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// record is what the API server was asked for and which events were recorded, in order.
type record struct {
	mu      sync.Mutex
	entries []string
	// about has the resourceVersions of the JobSet that events were about.
	about []string
}

func (d *record) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

// Eventf implements events.EventRecorder.
func (d *record) Eventf(about, _ runtime.Object, eventType, reason, action, note string, args ...any) {
	if object, ok := about.(client.Object); ok {
		d.mu.Lock()
		d.about = append(d.about, object.GetResourceVersion())
		d.mu.Unlock()
	}
	d.write("event %s %s %s: %s", eventType, reason, action, fmt.Sprintf(note, args...))
}

// expect compares the entries since the last call.
func (d *record) expect(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if diff := cmp.Diff(want, d.entries, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	d.entries = nil
}

// shell is a reconciler over a fake API server.
type shell struct {
	*JobSetReconciler
	record *record
	clock  *testingclock.FakePassiveClock
	fake   client.WithWatch
	// fail, if not nil, is called before each write with a text like "create Job js-a-0".
	fail func(request string) error
}

func newShell(t *testing.T, objs ...client.Object) *shell {
	t.Helper()
	objs = slices.Clone(objs)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, jobset.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &shell{record: &record{}, clock: testingclock.NewFakePassiveClock(now)}
	for i, obj := range objs { // the fake writes into what it is given, and tests share that
		objs[i] = obj.DeepCopyObject().(client.Object)
	}
	s.fake = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithStatusSubresource(&jobset.JobSet{}, &batchv1.Job{}).Build()
	write := func(verb string, obj client.Object, do func() error) error {
		kind := map[bool]string{true: "Job"}[isJob(obj)]
		switch obj.(type) {
		case *jobset.JobSet:
			kind = "JobSet"
		case *corev1.Service:
			kind = "Service"
		case *corev1.PersistentVolumeClaim:
			kind = "PersistentVolumeClaim"
		case *rbacv1.Role:
			kind = "Role"
		case *rbacv1.RoleBinding:
			kind = "RoleBinding"
		}
		request := fmt.Sprintf("%s %s %s", verb, kind, obj.GetName())
		s.record.write("%s", request)
		if s.fail != nil {
			if err := s.fail(request); err != nil {
				return err
			}
		}
		return do()
	}
	intercepted := interceptor.NewClient(s.fake, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return write("create", obj, func() error { return c.Create(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			options := (&client.DeleteOptions{}).ApplyOptions(opts)
			if options.PropagationPolicy == nil || *options.PropagationPolicy != "Foreground" {
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
	s.JobSetReconciler = &JobSetReconciler{
		client: intercepted, live: s.fake, events: s.record, clock: s.clock, memory: newMemory(), slots: newSlots(), gates: gates.Set{InPlaceRestart: true},
		jobs: indexed[*batchv1.Job]{index: constants.JobsIndexByJobSetKey, store: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
			constants.JobsIndexByJobSetKey: func(obj any) ([]string, error) {
				return controllerKey(obj.(*batchv1.Job), jobset.GroupVersion.String(), jobset.Kind), nil
			},
		})},
		pods: indexed[*corev1.Pod]{index: constants.PodsIndexByJobKey, store: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
			constants.PodsIndexByJobKey: func(obj any) ([]string, error) {
				return controllerKey(obj.(*corev1.Pod), batchv1.SchemeGroupVersion.String(), "Job"), nil
			},
		})},
	}
	return s
}

func isJob(obj client.Object) bool {
	_, ok := obj.(*batchv1.Job)
	return ok
}

// stored reads an object back from the fake API server.
func stored[T client.Object](t *testing.T, s *shell, obj T) T {
	t.Helper()
	got := obj.DeepCopyObject().(T)
	if err := s.fake.Get(t.Context(), client.ObjectKeyFromObject(obj), got); err != nil {
		t.Fatal(err)
	}
	return got
}

func sorted(all []string) []string {
	slices.Sort(all)
	return all
}
