/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/metrics"
)

// carryOut changes each JobSet whose plan differs, by one write, and tells why. Nothing waits for those that give:
// what does not fit yet is pending until it does.
func (a *autoscaler) carryOut(ctx context.Context, in elastic.Input, plan elastic.Plan, owners []*jobset.JobSet, says *verdicts) error {
	var errs []error
	for first := 0; first < len(owners); {
		last := first + 1
		for last < len(owners) && owners[last] == owners[first] {
			last++
		}
		errs = append(errs, a.change(ctx, owners[first], in.Jobs[first:last], plan.Decisions[first:last], says))
		first = last
	}
	return errors.Join(errs...)
}

// change writes the sizes of one JobSet, if one changes, and tells of those that do not.
func (a *autoscaler) change(ctx context.Context, js *jobset.JobSet, jobs []elastic.Job, decisions []elastic.Decision, says *verdicts) error {
	var changed []int
	for i, d := range decisions {
		job := a.known[d.Key]
		switch {
		case d.Size != jobs[i].Size:
			changed = append(changed, i)
		case d.Because == "":
			job.reported = ""
		case job.reported != d.Because:
			job.reported = d.Because
			kind, reason := eventAbout(d.State)
			a.tell(js, kind, reason, fmt.Sprintf("ReplicatedJob %s: %s", d.ReplicatedJob, d.Because))
		}
	}
	// A ceiling comes before the change of size that it is for: without it the next plan would grow again what was refused.
	if !says.say(js, decisions, len(changed) > 0) || len(changed) == 0 {
		return nil
	}
	patch, err := resizePatch(js, decisions, changed, a.clock.Now())
	if err != nil {
		return fmt.Errorf("resizing JobSet %s: %w", klog.KObj(js), err)
	}
	switch err := a.client.Patch(ctx, js.DeepCopy(), client.RawPatch(types.JSONPatchType, patch)); {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return nil // it has changed meanwhile, which starts the next round
	case err != nil:
		return fmt.Errorf("resizing JobSet %s: %w", klog.KObj(js), err)
	}
	for _, i := range changed {
		d := decisions[i]
		job := a.known[d.Key]
		job.reported, job.resized = "", a.clock.Now()
		metrics.ElasticResized(d.Size > jobs[i].Size)
		shared.Wrote(ctx, "Resized a ReplicatedJob", d.Because, "jobSet", klog.KObj(js), "replicatedJob", d.ReplicatedJob, "from", jobs[i].Size, "pods", d.Size)
		a.tell(js, corev1.EventTypeNormal, constants.ElasticResizedReason,
			fmt.Sprintf("ReplicatedJob %s from %d to %d Pods: %s", d.ReplicatedJob, jobs[i].Size, d.Size, d.Because))
	}
	return nil
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// resizePatch changes the sizes of a JobSet that is still as it was, and notes when, for users. It is one write. If the JobSet has
// changed, its resourceVersion makes this a conflict. A "test" that fails would be Invalid, as what a schema or a policy refuses.
func resizePatch(js *jobset.JobSet, decisions []elastic.Decision, changed []int, now time.Time) ([]byte, error) {
	ops := []operation{{"replace", "/metadata/resourceVersion", js.ResourceVersion}}
	for _, i := range changed {
		for k := range js.Spec.ReplicatedJobs {
			if js.Spec.ReplicatedJobs[k].Name != decisions[i].ReplicatedJob {
				continue
			}
			path := fmt.Sprintf("/spec/replicatedJobs/%d/template/spec/", k)
			for _, field := range []string{"parallelism", "completions"} {
				ops = append(ops, operation{"replace", path + field, decisions[i].Size})
			}
		}
	}
	if js.Annotations == nil {
		ops = append(ops, operation{"add", "/metadata/annotations", map[string]string{}})
	}
	key := strings.ReplaceAll(jobset.LastResizeKey, "/", "~1")
	return json.Marshal(append(ops, operation{"add", "/metadata/annotations/" + key, now.UTC().Format(time.RFC3339)}))
}

func eventAbout(state elastic.State) (kind, reason string) {
	if state == elastic.Cools {
		return corev1.EventTypeNormal, constants.ElasticCoolingDownReason
	}
	return corev1.EventTypeWarning, constants.ElasticWaitingReason
}

func (a *autoscaler) tell(js *jobset.JobSet, kind, reason, message string) {
	a.events.Eventf(js, nil, kind, reason, constants.EventAction, "%s", shared.Note(message))
}
