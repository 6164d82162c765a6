/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/compare"
	"sigs.k8s.io/jobset/pkg/phases"
)

const (
	// requestTimeout is for what must happen although the user has interrupted.
	requestTimeout = 30 * time.Second
	// copyPrefix and five characters are the name of a copy.
	copyPrefix = "compare-"
)

// comparison runs copies of a JobSet, one after the other.
type comparison struct {
	*cluster
	options *compareOptions
	jobSet  *jobset.JobSet
	errOut  io.Writer
	// kubectl are the flags by which kubectl reaches the cluster.
	kubectl []string
	// noLeases is what the user may not do with Leases, in which some agents report.
	noLeases string
}

// run returns what was measured until an error too.
func (x *comparison) run(ctx context.Context) (compare.Report, error) {
	if err := x.checkRights(ctx); err != nil {
		return compare.Report{}, err
	}
	warnings := compare.Warnings(x.jobSet)
	for _, warning := range warnings {
		fmt.Fprintln(x.errOut, "Warning:", warning)
	}
	var results []compare.Result
	var errs []error
	unmeasured := 0
	for _, strategy := range compare.Strategies {
		result, err := x.measure(ctx, strategy)
		if err != nil {
			errs = append(errs, err)
		}
		results = append(results, result)
		if ctx.Err() != nil {
			errs = append(errs, errors.New("interrupted"))
			break
		}
		if result.Failed != "" || err != nil {
			unmeasured++
		}
	}
	if !slices.ContainsFunc(results, func(r compare.Result) bool { return r.Refused == "" }) {
		errs = append(errs, errors.New("admission accepts no copy, whatever the strategy"))
	}
	if unmeasured > 0 {
		errs = append(errs, fmt.Errorf("%d of %d strategies were not measured to the end", unmeasured, len(compare.Strategies)))
	}
	report := compare.Of(results, x.options.rate)
	report.Namespace, report.Failure, report.Notes = x.namespace, fmt.Sprintf("A worker failed because of `%s`.", x.options.exec), warnings
	if x.options.exec == "" {
		report.Failure = "A worker failed because its Pod was deleted."
		report.Notes = append(report.Notes, "the Job controller waits before it replaces a Pod: 10 s for the first one that a Job lost, then twice as long each time. "+
			"Most failures are of programs, which cost no Pod in place: measure them with --exec.")
	}
	return report, errors.Join(errs...)
}

func (x *comparison) tell(format string, values ...any) {
	fmt.Fprintf(x.errOut, format+"\n", values...)
}

// measure runs one copy. The error is about what is left of it; why it was not measured is in the result.
func (x *comparison) measure(ctx context.Context, s compare.Strategy) (result compare.Result, left error) {
	result = compare.Result{Strategy: s}
	name := copyPrefix + utilrand.String(5)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen, err := x.observe(ctx, name)
	if err != nil {
		result.Failed = err.Error()
		return result, nil
	}
	created := time.Now()
	if err := x.create(ctx, s.Copy(x.jobSet, name, x.options.restarts)); err != nil {
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
			result.Refused = err.Error()
			x.tell("%s: refused", s)
			return result, nil
		}
		// Whoever did not hear of a success may have created it all the same.
		result.Failed = err.Error()
		return result, x.remove(ctx, name, seen)
	}
	result.JobSet = name
	x.tell("%s: created JobSet %s/%s", s, x.namespace, name)
	defer func() { left = x.remove(ctx, name, seen) }()
	if err := x.fail(ctx, s, seen, created, &result); err != nil {
		if result.Failed = err.Error(); ctx.Err() != nil {
			result.Failed = "interrupted"
		}
		x.tell("%s: %s", s, result.Failed)
	}
	return result, nil
}

// create creates a copy. It is not interrupted: the name is known, but not whether the request arrived.
func (x *comparison) create(ctx context.Context, js *jobset.JobSet) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(js)
	if err != nil {
		return err
	}
	object["apiVersion"], object["kind"] = jobset.GroupVersion.String(), jobset.Kind
	delete(object, "status")
	// The Go type leaves out replicas: 0, which the API server would take for 1.
	rjobs := object["spec"].(map[string]any)["replicatedJobs"].([]any)
	for i := range rjobs {
		rjobs[i].(map[string]any)["replicas"] = int64(js.Spec.ReplicatedJobs[i].Replicas)
	}
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	return x.jobSets.JobsetV1alpha2().RESTClient().Post().Namespace(x.namespace).Resource("jobsets").Body(body).Do(ctx).Error()
}

// fail waits until the workers of a copy run, and then makes one after the other fail.
func (x *comparison) fail(ctx context.Context, s compare.Strategy, seen *observer, created time.Time, result *compare.Result) error {
	started, err := x.untilRunning(ctx, s, seen, nil, created)
	if err != nil {
		return err
	}
	first := seen.group()
	result.FirstStart, result.Workers, result.Nodes = started.Sub(created), first.Wanted(), first.Nodes()
	x.tell("%s: %d workers run on %d nodes after %.1f s", s, result.Workers, result.Nodes, result.FirstStart.Seconds())
	for i := range int(x.options.restarts) {
		if err := pause(ctx, x.options.between); err != nil {
			return err
		}
		before, err := x.untilSettled(ctx, s, seen)
		if err != nil {
			return err
		}
		workers := before.Running()
		if len(workers) == 0 {
			return errors.New("no worker is left that could fail")
		}
		failed, err := x.makeFail(ctx, s, seen, before, workers[i%len(workers)])
		if err != nil {
			return err
		}
		if started, err = x.untilRunning(ctx, s, seen, &before, failed); err != nil {
			return err
		}
		restart := seen.measure(s, failed, started)
		result.Restarts = append(result.Restarts, restart)
		x.tell("%s: restart %d of %d took %.2f s", s, i+1, x.options.restarts, restart.Total().Seconds())
	}
	return nil
}

// untilSettled waits until all workers run: one may have failed although it was not made to.
func (x *comparison) untilSettled(ctx context.Context, s compare.Strategy, seen *observer) (group compare.Group, err error) {
	err = seen.until(ctx, x.options.timeout, func() (string, error) {
		group = seen.group()
		return group.Waits(s, nil), group.Over()
	})
	return group, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// makeFail makes a worker fail, and returns when that was.
func (x *comparison) makeFail(ctx context.Context, s compare.Strategy, seen *observer, before compare.Group, worker *corev1.Pod) (time.Time, error) {
	at := time.Now()
	if x.options.exec == "" {
		err := x.kubernetes.CoreV1().Pods(x.namespace).Delete(ctx, worker.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &worker.UID}})
		if err != nil {
			return at, fmt.Errorf("deleting Pod %s: %w", worker.Name, err)
		}
		return at, nil
	}
	container := cmp.Or(x.options.container, worker.Spec.Containers[0].Name)
	args := append([]string{"exec", worker.Name, "--namespace=" + x.namespace, "--container=" + container}, x.kubectl...)
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	printed, failure := exec.CommandContext(limited, "kubectl", append(args, "--", "sh", "-c", x.options.exec)...).CombinedOutput()
	err := seen.until(ctx, requestTimeout, func() (string, error) {
		if group := seen.group(); group.Over() == nil && !group.Broken(s, before) {
			return "the group was not told to restart", nil
		}
		return "", nil
	})
	if err != nil { // the command itself may be a victim of what it did, so its own end says little
		said := strings.TrimSpace(string(printed))
		if failure != nil {
			said += " (" + failure.Error() + ")"
		}
		return at, fmt.Errorf("%w by `%s` in container %s of Pod %s; kubectl exec said: %s", err, x.options.exec, container, worker.Name, said)
	}
	return at, nil
}

// remove deletes a copy, and waits until nothing of it runs, so that the next one finds the same nodes.
func (x *comparison) remove(ctx context.Context, name string, seen *observer) error {
	if x.options.keep {
		return nil
	}
	request, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	err := x.jobSets.JobsetV1alpha2().JobSets(x.namespace).Delete(request, name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("JobSet %[1]s is left, delete it: kubectl delete jobset %[1]s --namespace %[2]s: %[3]w", name, x.namespace, err)
	}
	if ctx.Err() != nil {
		x.tell("deleted JobSet %s/%s", x.namespace, name)
		return nil
	}
	return seen.until(ctx, x.options.timeout, func() (string, error) {
		group := seen.group()
		if group.JobSet != nil || len(group.Pods) > 0 {
			return fmt.Sprintf("JobSet %s is deleted, and %d Pods of it are left", name, len(group.Pods)), nil
		}
		return "", nil
	})
}

// measure returns the phases of the restart that led to what is seen now.
func (o *observer) measure(s compare.Strategy, failed, started time.Time) phases.Restart {
	group := o.group()
	views := o.since(failed)
	if s.Restart == jobset.InPlaceRestart {
		return views.InPlace(failed, len(group.Running()), group.Epoch(), started)
	}
	return views.Recreate(failed, group.Running(), group.JobSet.Status.Restarts, started)
}
