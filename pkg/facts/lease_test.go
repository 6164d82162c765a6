/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// exitOf is an exit as an agent writes it.
func exitOf(t *testing.T, epoch int32, second int, done bool) string {
	t.Helper()
	exit := protocol.WorkerExit{Container: "worker", Epoch: epoch, Done: done}
	if !done {
		exit.Code = 1
	}
	exit.Time = time.Date(2026, 3, 14, 12, 0, second, 0, time.UTC)
	text, err := exit.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAReportIsAReportWhereverItStands(t *testing.T) {
	t.Parallel()
	const none = "none"
	cases := map[string]struct {
		pod, lease string
		synced     int32
		want       string
	}{
		"P152: neither reports":                                              {none, none, 2, none},
		"P152: only the Pod reports":                                         {"3", none, 2, "3"},
		"P152: only the Lease reports":                                       {none, "3", 2, "3"},
		"P152: the Lease is ahead":                                           {"2", "3", 2, "3"},
		"P152: an older report overwrote the Lease":                          {"3", "1", 2, "3"},
		"P152: a stale epoch of the Pod above S+1 hides nothing":             {"9", "3", 2, "3"},
		"P152: a stale epoch of the Lease above S+1 hides nothing":           {"3", "9", 2, "3"},
		"P12: two epochs above S+1 are no report, and that of the Pod stays": {"9", "8", 2, "9"},
		"P12: what is no number in the Lease hides nothing":                  {"3", "x", 2, "3"},
		"P12: what is no number in the Pod hides nothing":                    {"x", "3", 2, "3"},
		"P12: a Lease without a number is told where the Pod says nothing":   {none, "x", 2, "x"},
		"P12: an empty value in the Lease is told, too":                      {none, "", 2, ""},
		"P12: a leading zero is no number":                                   {"3", "04", 3, "3"},
		"P152: S+1 does not overflow":                                        {"5", "2147483647", math.MaxInt32, "2147483647"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, lease := &corev1.Pod{}, &coordinationv1.Lease{}
			if tc.pod != none {
				pod.Annotations = map[string]string{jobset.EpochKey: tc.pod}
			}
			if tc.lease != none {
				lease.Annotations = map[string]string{jobset.EpochKey: tc.lease}
			}
			want := Reported{}
			if tc.want != none {
				want = reportedIn(tc.want)
			}
			if got := Join(Of(pod), OfLease(lease), tc.synced).Reported; got != want {
				t.Errorf("want %+v, got %+v", want, got)
			}
		})
	}
}

func TestTheExitOfTheGreaterEpochCounts(t *testing.T) {
	t.Parallel()
	failedIn1, failedIn2 := exitOf(t, 1, 5, false), exitOf(t, 2, 1, false)
	laterIn2, doneIn2, failedIn9 := exitOf(t, 2, 9, false), exitOf(t, 2, 0, true), exitOf(t, 9, 9, false)
	cases := map[string]struct{ pod, lease, want string }{
		"P152: only the Pod tells":                            {failedIn2, "", failedIn2},
		"P152: only the Lease tells":                          {"", failedIn2, failedIn2},
		"P152: the greater epoch wins over the later time":    {failedIn1, failedIn2, failedIn2},
		"P152: an older report overwrote the Lease":           {failedIn2, failedIn1, failedIn2},
		"P152: done in the Pod wins over a later time":        {doneIn2, laterIn2, doneIn2},
		"P152: done in the Lease wins over a later time":      {laterIn2, doneIn2, doneIn2},
		"P152: of one epoch the later time wins":              {failedIn2, laterIn2, laterIn2},
		"P152: so it does the other way round":                {laterIn2, failedIn2, laterIn2},
		"P12: an exit of an epoch to come hides nothing":      {failedIn9, failedIn2, failedIn2},
		"P12: nor does it in the Lease":                       {failedIn2, failedIn9, failedIn2},
		"P66: what cannot be read in the Lease hides nothing": {failedIn2, "{", failedIn2},
		"P66: what cannot be read in the Pod hides nothing":   {"{", failedIn2, failedIn2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := func(text string) map[string]string { return map[string]string{jobset.WorkerExitKey: text} }
			pod := Of(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: told(tc.pod)}})
			got := Join(pod, &Lease{Report: reportIn(told(tc.lease))}, 2).Exit
			if diff := cmp.Diff(reportIn(told(tc.want)).Exit, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJoinChangesNeitherAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	pod := Of(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Annotations: map[string]string{jobset.EpochKey: "1", jobset.AddressKey: "10.0.0.1", "batch.kubernetes.io/job-completion-index": "4"}}})
	lease := func(epoch int32, address string) *Lease {
		return &Lease{Report: Report{Reported: Reported{Epoch: epoch}, Address: address}}
	}
	before := *pod
	if got := Join(pod, nil, 1); got != pod {
		t.Error("P152: a Pod without a Lease is copied")
	}
	want := *pod
	want.Reported, want.Address, want.Leased, want.FromLease = Reported{Epoch: 2}, "10.0.0.2", 2, true
	if diff := cmp.Diff(&want, Join(pod, lease(2, "10.0.0.2"), 1)); diff != "" {
		t.Errorf("P152: the Pod that reports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&before, pod); diff != "" {
		t.Errorf("P152: the Pod of the cache changed (-want +got):\n%s", diff)
	}
	if got := Join(pod, lease(1, "10.0.0.3"), 2).Address; got != "10.0.0.3" {
		t.Errorf("P122: the address that goes with the epoch is %s", got)
	}
}

func TestAllPodsAreJoined(t *testing.T) {
	t.Parallel()
	pod := func(uid string) *Member {
		return &Member{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: uid, UID: types.UID(uid)}}
	}
	all := []*Member{pod("a"), pod("b"), pod("c")}
	leases := Leases(func(key string) *Lease {
		return map[string]*Lease{
			"ns/jobset.b": {Of: "b", Report: Report{Reported: Reported{Epoch: 2}}},
			"ns/jobset.c": {Of: "an earlier c", Report: Report{Reported: Reported{Epoch: 3}}},
		}[key]
	})
	joined := leases.JoinAll(all, 1)
	if joined[0] != all[0] || joined[1] == all[1] || joined[1].Reported.Epoch != 2 || joined[2] != all[2] || all[1].Reported.Epoch != 0 {
		t.Errorf("P152: joined %+v of %+v", joined, all)
	}
	if got := Leases(nil).JoinAll(all, 1); &got[0] != &all[0] {
		t.Error("P152: without Leases the list is copied")
	}
}

func TestTheLaterProgressCounts(t *testing.T) {
	t.Parallel()
	report := func(epoch int32, last int64) string {
		said, err := protocol.ProgressReport{Epoch: epoch, StartMillis: 1, Steps: &protocol.Steps{First: 1, Last: last, Highest: last}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	for name, tc := range map[string]struct{ pod, lease, want string }{
		"P137 P152: of the greater epoch":             {report(1, 9), report(2, 3), report(2, 3)},
		"P137 P152: of the greater epoch, in Pods":    {report(2, 3), report(1, 9), report(2, 3)},
		"P137 P152: of one epoch, the later step":     {report(2, 9), report(2, 3), report(2, 9)},
		"P137 P152: what cannot be read is no report": {report(2, 9), "{", report(2, 9)},
		"P137 P152: nor in the Pod":                   {"{", report(2, 9), report(2, 9)},
		"P137 P152: none":                             {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := func(text string) map[string]string { return map[string]string{jobset.ProgressKey: text} }
			pod := Of(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: told(tc.pod)}})
			got := Join(pod, &Lease{Report: reportIn(told(tc.lease))}, 1).Progress
			if diff := cmp.Diff(reportIn(told(tc.want)).Progress, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoseReportALeaseIs(t *testing.T) {
	t.Parallel()
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}
	other := owner
	other.Kind = "Node"
	cases := map[string]struct {
		name   string
		owners []metav1.OwnerReference
		want   string
	}{
		"P151: that of its only owner":               {"jobset.p", []metav1.OwnerReference{owner}, "u"},
		"P151: nobody's without an owner":            {"jobset.p", nil, ""},
		"P151: nobody's with a second owner":         {"jobset.p", []metav1.OwnerReference{owner, other}, ""},
		"P151: nobody's with an owner of other kind": {"jobset.p", []metav1.OwnerReference{other}, ""},
		"P151: nobody's under the name of another":   {"jobset.q", []metav1.OwnerReference{owner}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{
					Name: tc.name, Namespace: "ns", UID: "l", ResourceVersion: "7", OwnerReferences: tc.owners,
					Labels:        map[string]string{jobset.JobSetUIDKey: "js", "other": "x"},
					Annotations:   map[string]string{jobset.EpochKey: "3", jobset.WorkerExitKey: "e", jobset.AddressKey: "10.0.0.1", jobset.ProgressKey: "g", "other": "x"},
					ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
				},
				Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("h")},
			}
			want := &Lease{
				ObjectMeta: metav1.ObjectMeta{Name: tc.name, Namespace: "ns", UID: "l", ResourceVersion: "7", Labels: map[string]string{jobset.JobSetUIDKey: "js"}},
				Report:     Report{Reported: Reported{Epoch: 3}, Address: "10.0.0.1"}, Of: types.UID(tc.want),
			}
			if diff := cmp.Diff(want, OfLease(full)); diff != "" {
				t.Errorf("P152: what is kept of a Lease (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutside(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pod, lease string // "" for no report
		want       bool
	}{
		"P153: a Pod that tells its epoch and has no Lease":                             {"2", "", true},
		"P153: one whose Lease was refused in this round":                               {"2", "1", true},
		"P154: one that repeats the report of its Lease":                                {"2", "2", false},
		"P153: one whose Lease is later":                                                {"1", "2", false},
		"P153: one that tells nothing":                                                  {"", "", false},
		"P12: one with an epoch of a status that was lost, which counts as no report":   {"9", "", false},
		"P12: nor does one that is no number":                                           {"x", "", false},
		"P12: one whose Lease has an epoch that counts as no report, and so hides none": {"2", "9", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{}
			if tc.pod != "" {
				pod.Annotations = map[string]string{jobset.EpochKey: tc.pod}
			}
			var lease *Lease
			if tc.lease != "" {
				lease = &Lease{Report: reportIn(map[string]string{jobset.EpochKey: tc.lease})}
			}
			if got := Join(Of(pod), lease, 1).Outside(1); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}
