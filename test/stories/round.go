/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// Round is the workers of a group as they run in one epoch or attempt.
type Round struct {
	Epoch int32
	// Pods of the workers, and when the process of each started, by its own words.
	Pods    []*corev1.Pod
	Started []time.Time

	group *Group
}

// Worker is the worker in a place, Agent the agent beside it.
func (r *Round) Worker(place int) Container {
	return Container{Pod: r.Pods[place], Name: r.group.shape.Container}
}

// Agent is the agent in a place.
func (r *Round) Agent(place int) Container { return Container{Pod: r.Pods[place], Name: agentName} }

// Workers are all workers.
func (r *Round) Workers() []Container {
	var all []Container
	for i := range r.Pods {
		all = append(all, r.Worker(i))
	}
	return all
}

// LastStart is when the last worker started.
func (r *Round) LastStart() time.Time { return latest(r.Started) }

// IsInPlaceOf expects new processes in the Pods of an earlier round, on the
// same nodes and with the same addresses.
func (r *Round) IsInPlaceOf(before *Round) {
	GinkgoHelper()
	for i := range r.Pods {
		r.isInPlaceOf(before, i)
	}
}

// IsInPodsOf expects new processes in the Pods of an earlier round, in containers that may be new.
func (r *Round) IsInPodsOf(before *Round) {
	GinkgoHelper()
	for i := range r.Pods {
		Expect(r.Pods[i].UID).To(Equal(before.Pods[i].UID), "UID of the worker Pod in place %d", i)
		Expect(r.Started[i]).To(BeTemporally(">", before.Started[i]), "start of the worker in place %d", i)
	}
}

// Replaces expects a new Pod in one place and the others restarted in place.
func (r *Round) Replaces(before *Round, place int) {
	GinkgoHelper()
	for i := range r.Pods {
		if i != place {
			r.isInPlaceOf(before, i)
			continue
		}
		Expect(r.Pods[i].UID).NotTo(Equal(before.Pods[i].UID), "UID of the worker Pod in place %d", i)
	}
}

// IsAllNew expects that no Pod of an earlier round is left.
func (r *Round) IsAllNew(before *Round) {
	GinkgoHelper()
	for i := range r.Pods {
		Expect(r.Pods[i].UID).NotTo(Equal(before.Pods[i].UID), "UID of the worker Pod in place %d", i)
	}
}

// IsUntouched expects the very processes of an earlier round.
func (r *Round) IsUntouched(before *Round) {
	GinkgoHelper()
	for i := range r.Pods {
		Expect(r.Pods[i].UID).To(Equal(before.Pods[i].UID), "UID of the worker Pod in place %d", i)
		Expect(r.Started[i]).To(Equal(before.Started[i]), "start of the worker in place %d", i)
	}
}

func (r *Round) isInPlaceOf(before *Round, i int) {
	GinkgoHelper()
	was, is := before.Pods[i], r.Pods[i]
	Expect(is.UID).To(Equal(was.UID), "UID of the worker Pod in place %d", i)
	Expect(is.Spec.NodeName).To(Equal(was.Spec.NodeName), "node of Pod %s", is.Name)
	Expect(is.Status.PodIP).To(Equal(was.Status.PodIP), "address of Pod %s", is.Name)
	Expect(r.Started[i]).To(BeTemporally(">", before.Started[i]), "start of the worker of Pod %s", is.Name)
	more := ">"
	if r.group.shape.Process {
		more = "==" // the kubelet restarts nothing
	}
	Expect(containerStatus(is, r.group.shape.Container).RestartCount).To(
		BeNumerically(more, containerStatus(was, r.group.shape.Container).RestartCount), "restarts of the worker of Pod %s", is.Name)
}

// starts asks the logs of one container in each Pod when its process started.
func (s *fixture) starts(pods []*corev1.Pod, container string) ([]time.Time, error) {
	starts, errs := make([]time.Time, len(pods)), make([]error, len(pods))
	var wg sync.WaitGroup
	for i, pod := range pods {
		wg.Go(func() {
			starts[i], errs[i] = startOf(s.ctx, Container{Pod: pod, Name: container})
		})
	}
	wg.Wait()
	return starts, errors.Join(errs...)
}

// startLine is how the worker and the agent tell their start, each in its own format.
var startLine = regexp.MustCompile(`(?m)^(?:\{"time":"([^"]+)".*"msg":"start".*|time=(\S+) level=INFO msg=start .*)$`)

// startOf reads when the process of a container started from what it printed.
func startOf(ctx context.Context, c Container) (time.Time, error) {
	log, err := cluster.Log(ctx, c)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the log of container %s of Pod %s: %w", c.Name, c.Pod.Name, err)
	}
	lines := startLine.FindAllStringSubmatch(log, -1)
	if len(lines) == 0 {
		return time.Time{}, fmt.Errorf("container %s of Pod %s has not told its start", c.Name, c.Pod.Name)
	}
	last := lines[len(lines)-1]
	return time.Parse(time.RFC3339Nano, last[1]+last[2])
}

// startedIn looks whether the last process of each worker in process mode tells that it runs in an epoch.
func (g *Group) startedIn(pods []*corev1.Pod, epoch int32) error {
	want := fmt.Sprintf(`"epoch":"%d"`, epoch)
	for _, pod := range pods {
		log, err := cluster.Log(g.ctx, Container{Pod: pod, Name: g.shape.Container})
		if err != nil {
			return fmt.Errorf("reading the log of the worker of Pod %s: %w", pod.Name, err)
		}
		lines := startLine.FindAllString(log, -1)
		if len(lines) == 0 || !strings.Contains(lines[len(lines)-1], want) {
			return fmt.Errorf("the worker of Pod %s has not started in epoch %d", pod.Name, epoch)
		}
	}
	return nil
}

// Worlds are the ranks and world sizes of which the last processes of the workers tell, such as "0 of 2".
func (r *Round) Worlds() []string {
	GinkgoHelper()
	worlds, sizes := r.Reads("rank"), r.Reads("worldSize")
	for i := range worlds {
		worlds[i] += " of " + sizes[i]
	}
	return worlds
}

// Reads are the values that the last processes of the workers found in their environment, as they say at their start.
func (r *Round) Reads(what string) []string {
	GinkgoHelper()
	value := regexp.MustCompile(`"` + what + `":"([^"]*)"`)
	var values []string
	for i := range r.Pods {
		log, err := cluster.Log(r.group.ctx, r.Worker(i))
		Expect(err).NotTo(HaveOccurred())
		lines := startLine.FindAllString(log, -1)
		Expect(lines).NotTo(BeEmpty(), "the start of the worker in place %d", i)
		found := value.FindStringSubmatch(lines[len(lines)-1])
		Expect(found).NotTo(BeEmpty(), "%s of the worker in place %d in %s", what, i, lines[len(lines)-1])
		values = append(values, found[1])
	}
	return values
}

func latest(moments []time.Time) time.Time { return slices.MaxFunc(moments, time.Time.Compare) }
