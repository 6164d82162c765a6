/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
)

// observer sees every state of every JobSet in a namespace and checks the
// invariants: epochs and counters never fall, D <= S, S rises
// by one, and whenever it does, the whole group has reached the new epoch. Who
// the group is, it works out from the spec, not by the code under test.
type observer struct {
	world *World
	mu    sync.Mutex
	// last is what the watch showed of the JobSets that exist.
	last map[types.UID]jobset.JobSet
	// lifted is the highest synced epoch that a manager wrote.
	lifted map[types.UID]int32
	wrong  []string
}

func (w *World) observe() *observer {
	GinkgoHelper()
	o := &observer{world: w, last: map[types.UID]jobset.JobSet{}, lifted: map[types.UID]int32{}}
	ctx, cancel := context.WithCancel(context.Background())
	shown, err := w.Client.Watch(ctx, &jobset.JobSetList{}, client.InNamespace(w.Namespace))
	Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range shown.ResultChan() {
			if js, ok := event.Object.(*jobset.JobSet); ok {
				o.see(js, event.Type == watch.Deleted)
			}
		}
		if ctx.Err() == nil {
			o.cannotCheck("the watch of JobSets ended before the spec")
		}
	}()
	DeferCleanup(func() {
		cancel()
		shown.Stop()
		Eventually(done).Should(BeClosed())
	})
	return o
}

// cannotCheck makes a spec fail of which something was not seen.
func (o *observer) cannotCheck(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrong = append(o.wrong, "not checked: "+why)
}

func (o *observer) see(js *jobset.JobSet, deleted bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was, is := o.last[js.UID].Status, js.Status
	if o.last[js.UID] = *js; deleted {
		delete(o.last, js.UID)
	}
	before, after := epochsOf(&was), epochsOf(&is)
	if after.Deprecated < before.Deprecated || after.Synced < before.Synced || after.Synced > before.Synced+1 || after.Deprecated > after.Synced {
		o.wrong = append(o.wrong, fmt.Sprintf("%s: epochs went from %+v to %+v", js.Name, before, after))
	}
	from, to := countersOf(&was), countersOf(&is)
	if to.Restarts < from.Restarts || to.CountTowardsMax < from.CountTowardsMax || to.InPlace < from.InPlace {
		o.wrong = append(o.wrong, fmt.Sprintf("%s: counters went from %+v to %+v", js.Name, from, to))
	}
	if to.CountTowardsMax+to.InPlace > from.CountTowardsMax+from.InPlace+1 {
		o.wrong = append(o.wrong, fmt.Sprintf("%s: one write charged twice: %+v to %+v", js.Name, from, to))
	}
}

// checkLift looks at the group right before a manager lifts it.
func (o *observer) checkLift(write Write) func() {
	nothing := func() {}
	js, ok := write.Object.(*jobset.JobSet)
	if !ok || !write.Status {
		return nothing
	}
	is := epochsOf(&js.Status)
	synced := is.Synced
	epoch := strconv.Itoa(int(synced))
	o.mu.Lock()
	lift := synced > o.lifted[js.UID] && is.Deprecated < synced // else the end of a bypass spends an epoch (P34b)
	o.mu.Unlock()
	if !lift {
		return nothing
	}
	ctx := context.Background()
	var jobs batchv1.JobList
	var pods corev1.PodList
	var leases coordinationv1.LeaseList
	for _, list := range []client.ObjectList{&jobs, &pods, &leases} {
		if err := o.world.Client.List(ctx, list, client.InNamespace(js.Namespace)); err != nil {
			return func() { o.cannotCheck(fmt.Sprintf("%s: the lift to epoch %d: %v", js.Name, synced, err)) }
		}
	}
	for i := range pods.Items {
		addReport(&pods.Items[i], leases.Items, epoch)
	}
	missing := missingAt(js, jobs.Items, pods.Items, epoch)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lifted[js.UID] = synced
		for _, worker := range missing {
			o.wrong = append(o.wrong, fmt.Sprintf("%s: lifted to epoch %d without worker %s", js.Name, synced, worker))
		}
		if ptr.Deref(js.Spec.Suspend, false) {
			o.wrong = append(o.wrong, fmt.Sprintf("%s: lifted to epoch %d while suspended", js.Name, synced))
		}
	}
}

// addReport puts an epoch into a Pod if the Lease that the Pod owns alone has it (P152).
func addReport(pod *corev1.Pod, leases []coordinationv1.Lease, epoch string) {
	for i := range leases {
		owners := leases[i].OwnerReferences
		if leases[i].Name == "jobset."+pod.Name && len(owners) == 1 && owners[0].UID == pod.UID && leases[i].Annotations[jobset.EpochKey] == epoch {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, jobset.EpochKey, epoch)
		}
	}
}

// missingAt lists the workers that the spec wants and that neither have reached the epoch nor are done.
func missingAt(js *jobset.JobSet, jobs []batchv1.Job, pods []corev1.Pod, epoch string) []string {
	var missing []string
	for _, rjob := range js.Spec.ReplicatedJobs {
		for i := range int(rjob.Replicas) {
			name := placement.JobName(js.Name, rjob.Name, i)
			var job *batchv1.Job
			for j := range jobs {
				if jobs[j].Name == name && metav1.IsControlledBy(&jobs[j], js) {
					job = &jobs[j]
				}
			}
			if job == nil {
				missing = append(missing, name)
				continue
			}
			if job.Status.CompletionTime != nil {
				continue
			}
			for index := range int(ptr.Deref(rjob.Template.Spec.Completions, 1)) {
				if !standsAt(job, pods, strconv.Itoa(index), epoch) {
					missing = append(missing, fmt.Sprintf("%s-%d", name, index))
				}
			}
		}
	}
	return missing
}

func standsAt(job *batchv1.Job, pods []corev1.Pod, index, epoch string) bool {
	for i := range pods {
		pod := &pods[i]
		if !metav1.IsControlledBy(pod, job) || pod.Annotations[batchv1.JobCompletionIndexAnnotation] != index {
			continue
		}
		done := pod.Status.Phase == corev1.PodSucceeded
		live := pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed
		if done || live && pod.Annotations[jobset.EpochKey] == epoch {
			return true
		}
	}
	return false
}

// verdict fails the spec if an invariant was broken, be it by the last write.
func (o *observer) verdict() {
	GinkgoHelper()
	Eventually(o.lag).Should(BeEmpty(), "the watch of JobSets lags (-API server +watch)")
	o.mu.Lock()
	defer o.mu.Unlock()
	Expect(o.wrong).To(BeEmpty(), "an invariant was broken")
}

// lag is how what the watch showed differs from what the API server has. If something is wrong, the watch may have ended.
func (o *observer) lag() (string, error) {
	var stored jobset.JobSetList
	if err := o.world.Client.List(context.Background(), &stored, client.InNamespace(o.world.Namespace)); err != nil {
		return "", err
	}
	there, shown := map[types.UID]string{}, map[types.UID]string{}
	for i := range stored.Items {
		there[stored.Items[i].UID] = stored.Items[i].ResourceVersion
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for uid := range o.last {
		shown[uid] = o.last[uid].ResourceVersion
	}
	if len(o.wrong) > 0 {
		return "", nil
	}
	return cmp.Diff(there, shown), nil
}
