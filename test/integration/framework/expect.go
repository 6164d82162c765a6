/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Status waits until the status of a JobSet is as wanted.
func (w *World) Status(js *jobset.JobSet, wanted func(g Gomega, status jobset.JobSetStatus)) {
	GinkgoHelper()
	Eventually(func(g Gomega) { wanted(g, Now(w, js).Status) }).Should(Succeed())
}

// Has waits for a condition with this status and reason and returns it. An
// empty reason is any.
func (w *World) Has(js *jobset.JobSet, kind jobset.JobSetConditionType, status metav1.ConditionStatus, reason string) metav1.Condition {
	GinkgoHelper()
	var found metav1.Condition
	Eventually(func() error {
		conditions := Now(w, js).Status.Conditions
		c := apimeta.FindStatusCondition(conditions, string(kind))
		if c == nil || c.Status != status || reason != "" && c.Reason != reason {
			return fmt.Errorf("want condition %s %s %s, have %+v", kind, status, reason, conditions)
		}
		found = *c
		return nil
	}).Should(Succeed())
	return found
}

// HasNo claims that a condition is absent or not True, once the manager has settled.
func (w *World) HasNo(js *jobset.JobSet, kind jobset.JobSetConditionType) {
	GinkgoHelper()
	w.Settles(js)
	Expect(apimeta.IsStatusConditionTrue(Now(w, js).Status.Conditions, string(kind))).To(BeFalse(), "condition %s", kind)
}

// Finishes waits until the JobSet has failed or completed.
func (w *World) Finishes(js *jobset.JobSet, as jobset.JobSetConditionType, reason string) {
	GinkgoHelper()
	w.Has(js, as, metav1.ConditionTrue, reason)
	Expect(Now(w, js).Status.TerminalState).To(Equal(string(as)))
}

// Counters of restarts.
type Counters struct{ Restarts, CountTowardsMax, InPlace int32 }

func countersOf(s *jobset.JobSetStatus) Counters {
	return Counters{s.Restarts, s.RestartsCountTowardsMax, s.InPlaceRestarts}
}

// Counts waits until the JobSet has counted these restarts.
func (w *World) Counts(js *jobset.JobSet, wanted Counters) {
	GinkgoHelper()
	Eventually(func() Counters { return countersOf(&Now(w, js).Status) }).Should(Equal(wanted))
}

// HasCounted expects these counts now.
func (w *World) HasCounted(js *jobset.JobSet, wanted Counters) {
	GinkgoHelper()
	Expect(countersOf(&Now(w, js).Status)).To(Equal(wanted))
}

// epochs are what the status says of the group.
type epochs struct{ Deprecated, Synced int32 }

func epochsOf(s *jobset.JobSetStatus) epochs {
	return epochs{ptr.Deref(s.DeprecatedEpoch, 0), ptr.Deref(s.SyncedEpoch, 0)}
}

// Reaches waits until the deprecated and the synced epoch are these.
func (w *World) Reaches(js *jobset.JobSet, deprecated, synced int32) {
	GinkgoHelper()
	Eventually(func() epochs { return epochsOf(&Now(w, js).Status) }).Should(Equal(epochs{deprecated, synced}))
}

// StaysAt claims that nothing moves the epochs.
func (w *World) StaysAt(js *jobset.JobSet, deprecated, synced int32) {
	GinkgoHelper()
	w.Settles(js)
	Expect(epochsOf(&Now(w, js).Status)).To(Equal(epochs{deprecated, synced}))
}

// StaysUntouched claims that nobody writes the status, but for the counts of
// Jobs, which follow the Job controller at their own pace.
func (w *World) StaysUntouched(js *jobset.JobSet) {
	GinkgoHelper()
	untouched := func() jobset.JobSetStatus {
		status := Now(w, js).Status
		status.ReplicatedJobsStatus = nil
		return status
	}
	before := untouched()
	w.Settles(js)
	Expect(untouched()).To(Equal(before))
}

// CountsJobs waits until the counts of ReplicatedJobs are these, in this order:
// that of the status, descending by name. Names are filled in.
func (w *World) CountsJobs(js *jobset.JobSet, wanted ...jobset.ReplicatedJobStatus) {
	GinkgoHelper()
	var names []string
	for _, rjob := range js.Spec.ReplicatedJobs {
		names = append(names, rjob.Name)
	}
	slices.Sort(names)
	slices.Reverse(names)
	for i := range wanted {
		wanted[i].Name = names[i]
	}
	Eventually(func() []jobset.ReplicatedJobStatus { return countsIn(Now(w, js).Status) }).Should(Equal(wanted))
}

// countsIn are the counts in a status, without the sizes of an epoch (P102) and of elastic groups (P109).
func countsIn(status jobset.JobSetStatus) []jobset.ReplicatedJobStatus {
	counts := slices.Clone(status.ReplicatedJobsStatus)
	for i := range counts {
		counts[i].SyncedWorkers, counts[i].Address, counts[i].Elastic = 0, "", nil
	}
	return counts
}
