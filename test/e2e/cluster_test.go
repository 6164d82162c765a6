/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/test/stories"
)

// realCluster is one that was there before, with JobSet installed on it. It
// signals containers by a Pod on each node that sees the node's processes.
type realCluster struct {
	config  *rest.Config
	client  kubernetes.Interface
	kubectl string
	// hands is the namespace of those Pods.
	hands string
}

var _ stories.Cluster = &realCluster{}

func (c *realCluster) Config() *rest.Config { return c.config }

// Signal reaches the containers of every node at about the same time.
func (c *realCluster) Signal(ctx context.Context, sig syscall.Signal, targets ...stories.Container) (time.Time, error) {
	ids := map[string][]string{}
	for _, target := range targets {
		id, err := containerID(target)
		if err != nil {
			return time.Time{}, err
		}
		ids[target.Pod.Spec.NodeName] = append(ids[target.Pod.Spec.NodeName], id)
	}
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		first time.Time
		errs  []error
	)
	for node, ids := range ids {
		wg.Go(func() {
			at, err := c.signalOn(ctx, node, sig, ids)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			if first.IsZero() || at.Before(first) {
				first = at
			}
		})
	}
	wg.Wait()
	return first, errors.Join(errs...)
}

func (c *realCluster) signalOn(ctx context.Context, node string, sig syscall.Signal, ids []string) (time.Time, error) {
	hands, err := c.client.CoreV1().Pods(c.hands).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return time.Time{}, err
	}
	if len(hands.Items) == 0 {
		return time.Time{}, fmt.Errorf("there is no Pod of DaemonSet %s on node %s", handsName, node)
	}
	command := slices.Concat([]string{"/worker", "signal", strconv.Itoa(int(sig))}, ids)
	out, err := c.exec(ctx, &hands.Items[0], handsName, command...)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, strings.TrimSpace(out))
}

// containerID is the id by which the node knows the process group of a container.
func containerID(c stories.Container) (string, error) {
	for _, status := range slices.Concat(c.Pod.Status.InitContainerStatuses, c.Pod.Status.ContainerStatuses) {
		if _, id, ok := strings.Cut(status.ContainerID, "://"); ok && status.Name == c.Name {
			return id, nil
		}
	}
	return "", fmt.Errorf("container %s of Pod %s does not run", c.Name, c.Pod.Name)
}

func (c *realCluster) exec(ctx context.Context, pod *corev1.Pod, container string, command ...string) (string, error) {
	args := slices.Concat([]string{"exec", "--namespace", pod.Namespace, pod.Name, "--container", container, "--"}, command)
	return run(ctx, c.kubectl, args...)
}

func run(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, failed.Stderr)
	}
	return string(out), err
}

func (c *realCluster) Log(ctx context.Context, container stories.Container) (string, error) {
	options := &corev1.PodLogOptions{Container: container.Name}
	content, err := c.client.CoreV1().Pods(container.Pod.Namespace).GetLogs(container.Pod.Name, options).DoRaw(ctx)
	return string(content), err
}

func (c *realCluster) Token(ctx context.Context, pod *corev1.Pod) (string, error) {
	out, err := c.exec(ctx, pod, "worker", "/worker", "token")
	return strings.TrimSpace(out), err
}

func (c *realCluster) LimitsMemory() bool { return true }

// SetGate changes the flag of the manager, as an administrator would.
func (c *realCluster) SetGate(ctx context.Context, on bool) error {
	return c.changeManager(ctx, func(spec *corev1.PodSpec) {
		manager := &spec.Containers[0]
		for i, arg := range manager.Args {
			if strings.HasPrefix(arg, "--feature-gates=") { // as test/e2e/config sets it
				manager.Args[i] = strings.Replace(arg, fmt.Sprintf("InPlaceRestart=%t", !on), fmt.Sprintf("InPlaceRestart=%t", on), 1)
			}
		}
	})
}

// changeManager changes the Pod of the manager, starts one if it was stopped, and waits until only the changed one is left.
func (c *realCluster) changeManager(ctx context.Context, change func(*corev1.PodSpec)) error {
	deployments := c.client.AppsV1().Deployments(managerNamespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // with the Deployment controller, which writes its status
		deployment, err := deployments.Get(ctx, managerName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&deployment.Spec.Template.Spec)
		deployment.Spec.Replicas = ptr.To[int32](1)
		_, err = deployments.Update(ctx, deployment, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	if _, err = run(ctx, c.kubectl, "rollout", "status", "--namespace", managerNamespace, "deployment/"+managerName, "--timeout=180s"); err != nil {
		return err
	}
	_, err = run(ctx, c.kubectl, "wait", "--namespace", managerNamespace, "--for=delete", "pod", "--selector", managerSelector,
		"--field-selector=status.phase!=Running", "--timeout=60s")
	return err
}

// startManager starts the manager as it was, if there is none.
func (c *realCluster) startManager(ctx context.Context) error {
	return c.changeManager(ctx, func(*corev1.PodSpec) {})
}

// stopManager leaves no manager.
func (c *realCluster) stopManager(ctx context.Context) error {
	if _, err := run(ctx, c.kubectl, "scale", "--namespace", managerNamespace, "deployment/"+managerName, "--replicas=0"); err != nil {
		return err
	}
	_, err := run(ctx, c.kubectl, "wait", "--namespace", managerNamespace, "--for=delete", "pod", "--selector", managerSelector, "--timeout=60s")
	return err
}

// managerSays is the log of the manager that runs.
func (c *realCluster) managerSays(ctx context.Context) (string, error) {
	pod, err := c.managerPod(ctx)
	if err != nil {
		return "", err
	}
	content, err := c.client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	return string(content), err
}

// managerPod is the Pod of the manager that runs.
func (c *realCluster) managerPod(ctx context.Context) (*corev1.Pod, error) {
	pods, err := c.client.CoreV1().Pods(managerNamespace).List(ctx, metav1.ListOptions{LabelSelector: managerSelector})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			return pod, nil
		}
	}
	return nil, errors.New("no manager runs")
}
