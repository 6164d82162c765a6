/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command client-go creates a JobSet with the typed client, follows it with an
// informer until it is finished, and prints every change of its conditions.
// It exits with 0 if the JobSet completed, else with 1.
//
//	go run ./examples/client-go --kubeconfig ~/.kube/config --namespace default --name hello
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/client-go/clientset/versioned"
	"sigs.k8s.io/jobset/client-go/informers/externalversions"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of a kubeconfig file; empty inside of a cluster")
	namespace := flag.String("namespace", "default", "namespace of the JobSet")
	name := flag.String("name", "hello", "name of the JobSet")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *kubeconfig, newJobSet(*namespace, *name), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run creates the JobSet and returns when it is finished: nil if it completed.
func run(ctx context.Context, kubeconfig string, js *jobset.JobSet, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config, err := loadConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	// The watch comes first, so that it cannot miss what happens to the new JobSet.
	events, err := watch(ctx, client, js.Namespace, js.Name)
	if err != nil {
		return fmt.Errorf("watching JobSets: %w", err)
	}
	created, err := client.JobsetV1alpha2().JobSets(js.Namespace).Create(ctx, js, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating JobSet %s/%s: %w", js.Namespace, js.Name, err)
	}
	fmt.Fprintf(out, "JobSet %s/%s created\n", created.Namespace, created.Name)
	return follow(ctx, events, created, out)
}

func loadConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

// newJobSet is one driver and two Jobs of two workers each.
func newJobSet(namespace, name string) *jobset.JobSet {
	return &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: jobset.JobSetSpec{
			// The JobSet may start over three times before it fails.
			FailurePolicy: &jobset.FailurePolicy{MaxRestarts: 3},
			ReplicatedJobs: []jobset.ReplicatedJob{
				replicatedJob("driver", 1, 1),
				replicatedJob("workers", 2, 2),
			},
		},
	}
}

// replicatedJob is a number of Jobs with a number of Pods each.
func replicatedJob(name string, replicas, pods int32) jobset.ReplicatedJob {
	return jobset.ReplicatedJob{
		Name: name,
		// 0 is left out of what is sent, and then the API server fills in 1.
		Replicas: replicas,
		Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Parallelism:  &pods,
			Completions:  &pods,
			BackoffLimit: ptr.To[int32](0), // a failed Pod fails its Job, which is what the failure policy looks at
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{
					Name:    "main",
					Image:   "busybox:1.37",
					Command: []string{"sh", "-c", "echo hello from $(hostname)"},
				}},
			}},
		}},
	}
}

// event is a JobSet as it is now, or as it was last if it was deleted.
type event struct {
	js      *jobset.JobSet
	deleted bool
}

// watch starts an informer for one JobSet. It runs until the context ends.
func watch(ctx context.Context, client versioned.Interface, namespace, name string) (<-chan event, error) {
	// One namespace and one name: the informer caches nothing that we do not need.
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithNamespace(namespace),
		externalversions.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}))

	// Handlers run in a goroutine of the informer; they only pass on what they see.
	events := make(chan event)
	pass := func(js *jobset.JobSet, deleted bool) {
		select {
		case events <- event{js, deleted}:
		case <-ctx.Done():
		}
	}
	_, err := factory.Jobset().V1alpha2().JobSets().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { pass(object.(*jobset.JobSet), false) },
		UpdateFunc: func(before, now any) {
			old, js := before.(*jobset.JobSet), now.(*jobset.JobSet)
			// A JobSet that was deleted and created again may look like one update.
			if old.UID != js.UID {
				pass(old, true)
			}
			pass(js, false)
		},
		DeleteFunc: func(object any) {
			// An informer that missed the deletion has the last state at best.
			if missed, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = missed.Obj
			}
			js, _ := object.(*jobset.JobSet)
			pass(js, true)
		},
	})
	if err != nil {
		return nil, err
	}
	factory.StartWithContext(ctx)
	return events, factory.WaitForCacheSyncWithContext(ctx).AsError()
}

// follow prints what changes until the JobSet is finished.
func follow(ctx context.Context, events <-chan event, js *jobset.JobSet, out io.Writer) error {
	var known []metav1.Condition
	for {
		var now event
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for JobSet %s/%s: %w", js.Namespace, js.Name, context.Cause(ctx))
		case now = <-events:
		}
		if now.js != nil && now.js.UID != js.UID {
			continue // another JobSet that had this name before
		}
		if now.deleted {
			return fmt.Errorf("JobSet %s/%s was deleted before it finished", js.Namespace, js.Name)
		}
		for _, c := range changes(known, now.js.Status.Conditions) {
			fmt.Fprintf(out, "%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
		known = now.js.Status.Conditions
		if done, err := verdict(now.js); done {
			return err
		}
	}
}

// changes are the conditions that are new or say something else than before.
func changes(before, after []metav1.Condition) []metav1.Condition {
	var changed []metav1.Condition
	for _, c := range after {
		old := apimeta.FindStatusCondition(before, c.Type)
		if old == nil || old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message {
			changed = append(changed, c)
		}
	}
	return changed
}

// verdict says whether a JobSet is finished, with an error if it failed.
func verdict(js *jobset.JobSet) (done bool, err error) {
	if apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetCompleted)) {
		return true, nil
	}
	if apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetFailed)) {
		return true, errors.New("the JobSet failed")
	}
	return false, nil
}
