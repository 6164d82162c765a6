/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/stories"
)

var trainJobs = schema.GroupVersionKind{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: "TrainJob"}

// trainJob is what became of a TrainJob, a line for each change of what its status says, and for each thing that was done to it.
type trainJob struct {
	mu    sync.Mutex
	began time.Time
	last  string
	lines []string
	// conditions that were ever true.
	ever map[string]bool
}

// followTrainJob follows the only TrainJob of a namespace until the end of the spec.
func followTrainJob(namespace string) *trainJob {
	GinkgoHelper()
	t := &trainJob{began: time.Now(), ever: map[string]bool{}}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(trainJobs.GroupVersion().WithKind("TrainJobList"))
	ctx, stop := context.WithCancel(context.Background())
	watching, err := stories.API().Watch(ctx, list, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(stop)
	go func() {
		for event := range watching.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok && object.GetKind() == trainJobs.Kind {
				t.take(object)
			}
		}
	}()
	DeferCleanup(func() { AddReportEntry("the TrainJob over time", t.table()) })
	return t
}

func (t *trainJob) take(object *unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var says []string
	for _, entry := range conditions {
		condition := entry.(map[string]any)
		says = append(says, fmt.Sprintf("%s=%s (%s)", condition["type"], condition["status"], condition["reason"]))
		if condition["status"] == "True" {
			t.ever[condition["type"].(string)] = true
		}
	}
	slices.Sort(says)
	jobs, _, _ := unstructured.NestedSlice(object.Object, "status", "jobsStatus")
	for _, entry := range jobs {
		job := entry.(map[string]any)
		says = append(says, fmt.Sprintf("%s: %v active, %v ready, %v succeeded, %v failed", job["name"], job["active"], job["ready"], job["succeeded"], job["failed"]))
	}
	if text := strings.Join(says, "; "); text != t.last {
		t.last = text
		t.add(text)
	}
}

// does notes what happens to the TrainJob next.
func (t *trainJob) does(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	By(what)
	t.add("**" + what + "**")
}

func (t *trainJob) add(text string) {
	t.lines = append(t.lines, fmt.Sprintf("| %.1f | %s |", time.Since(t.began).Seconds(), text))
}

func (t *trainJob) table() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return "| s | status of the TrainJob |\n|---|---|\n" + strings.Join(t.lines, "\n") + "\n"
}

// says is whether a condition was ever true.
func (t *trainJob) says(condition string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever[condition]
}
