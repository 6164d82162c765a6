/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"reflect"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// origins are the Pods that the Members of tests were read from, so that a table can change a Pod and have it read again.
var origins sync.Map // *facts.Member -> *corev1.Pod

func memberOf(pod *corev1.Pod) *facts.Member {
	m := facts.Of(pod)
	origins.Store(m, pod)
	return m
}

// podOf returns the Pod that a Member was read from, nil if it was made in another way.
func podOf(m *facts.Member) *corev1.Pod {
	pod, ok := origins.Load(m)
	if !ok {
		return nil
	}
	return pod.(*corev1.Pod)
}

// edit changes the Pod that a Member was read from.
func edit(m *facts.Member, change func(*corev1.Pod)) {
	pod := podOf(m)
	change(pod)
	*m = *facts.Of(pod)
}

// editAll changes all Pods of the Jobs.
func editAll(in *Input, change func(*corev1.Pod)) {
	for _, pods := range in.Pods {
		for _, m := range pods {
			edit(m, change)
		}
	}
}

// copyOf returns a Member that shares nothing with another: whoever writes into what a cache holds is found out.
func copyOf(m *facts.Member) *facts.Member {
	other := m.DeepCopyObject().(*facts.Member)
	other.ObjectMeta = *m.ObjectMeta.DeepCopy()
	other.Exit, other.Progress, other.Domain = own(m.Exit), own(m.Progress), own(m.Domain)
	if p := other.Progress; p != nil {
		p.Steps, p.Warm = own(p.Steps), own(p.Warm)
	}
	if pod := podOf(m); pod != nil {
		origins.Store(other, pod.DeepCopy())
	}
	return other
}

func own[T any](of *T) *T {
	if of == nil {
		return nil
	}
	return ptr.To(*of)
}

func allOwn(pods map[types.UID][]*facts.Member) map[types.UID][]*facts.Member {
	if pods == nil {
		return nil
	}
	copies := map[types.UID][]*facts.Member{}
	for uid, of := range pods {
		copies[uid] = nil
		for _, pod := range of {
			copies[uid] = append(copies[uid], copyOf(pod))
		}
	}
	return copies
}

// TestACopySharesNothing: else no test would see that a decision writes into a Member (P23).
func TestACopySharesNothing(t *testing.T) {
	t.Parallel()
	m := facts.Of(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{jobset.JobSetNameKey: "js"}, DeletionTimestamp: ptr.To(metav1.NewTime(now)), OwnerReferences: []metav1.OwnerReference{{Controller: ptr.To(true)}},
			Annotations: map[string]string{
				jobset.WorkerExitKey: `{"container":"worker","epoch":1}`, jobset.ExclusiveKey: "rack",
				jobset.ProgressKey: `{"epoch":1,"startMs":1,"steps":{"first":1,"last":1,"highest":1},"warm":{"warm":true}}`,
			},
		},
		Spec: corev1.PodSpec{NodeSelector: map[string]string{"rack": "r1"}},
	})
	var walk func(a, b reflect.Value, path string)
	walk = func(a, b reflect.Value, path string) {
		switch a.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Slice:
			if a.Type() == reflect.TypeFor[*time.Location]() {
				return
			}
			if !a.IsNil() && a.Pointer() == b.Pointer() {
				t.Errorf("P23: the copy shares %s", path)
			}
			if a.Kind() == reflect.Pointer && !a.IsNil() {
				walk(a.Elem(), b.Elem(), path)
			}
		case reflect.Struct:
			for i := range a.NumField() {
				walk(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
			}
		}
	}
	walk(reflect.ValueOf(m), reflect.ValueOf(copyOf(m)), "Member")
	if m.Exit == nil || m.Progress == nil || m.Progress.Steps == nil || m.Progress.Warm == nil || m.Domain == nil {
		t.Errorf("not all is there to be shared: %+v", m)
	}
}
