/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leases

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

func TestWhatIsCached(t *testing.T) {
	t.Parallel()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l", Annotations: map[string]string{jobset.EpochKey: "3", "notes": "long"}}}
	kept, err := keep(lease)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(facts.OfLease(lease)), kept); diff != "" {
		t.Errorf("P152: what is kept of a Lease (-want +got):\n%s", diff)
	}
	if again, err := keep(kept); err != nil || again != kept { // an informer shows a transform what it returned, too
		t.Errorf("P152: what was kept came back as %v, %v", again, err)
	}
	tombstone := toolscache.DeletedFinalStateUnknown{Key: "ns/l", Obj: kept}
	if got, err := keep(tombstone); err != nil || got != any(tombstone) {
		t.Errorf("P152: a tombstone came back as %v, %v", got, err)
	}
}

func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	a, b := &facts.Lease{}, &facts.Lease{}
	gap := ""
	l := &Leases{guard: func() (string, bool) { return gap, gap != "unknown" }}
	l.tell(nil, a) // while another leads
	var told [][2]*facts.Lease
	l.OnChange(func(before, after *facts.Lease) {
		told = append(told, [2]*facts.Lease{before, after})
	})
	l.tell(nil, a)
	for _, gap = range []string{"unknown", "the policy is missing"} { // P153b
		l.tell(nil, a)
	}
	gap = ""
	l.tell(a, b)
	l.tell(toolscache.DeletedFinalStateUnknown{Obj: b}, nil)
	want := [][2]*facts.Lease{{nil, a}, {a, b}, {b, nil}}
	if len(told) != len(want) {
		t.Fatalf("P152: told of %d changes, want %d", len(told), len(want))
	}
	for i := range want {
		if told[i] != want[i] {
			t.Errorf("P152: change %d is %v, want %v", i, told[i], want[i])
		}
	}
}

func TestNoLeaseIsReadWithoutItsGuard(t *testing.T) {
	t.Parallel()
	lease := &facts.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l"}}
	store := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, nil)
	if err := store.Add(lease); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		gap   string
		known bool
		want  *facts.Lease
	}{
		"P153b: the policy is in force":                  {"", true, lease},
		"P153b: it is missing, or not ours":              {"it is missing", true, nil},
		"P153b: whether it is in force is not known yet": {"", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &Leases{store: store, guard: func() (string, bool) { return tc.gap, tc.known }}
			if got := l.Reader()("ns/l"); got != tc.want {
				t.Errorf("read %v, want %v", got, tc.want)
			}
		})
	}
}
