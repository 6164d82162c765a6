/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/faults/observer"
	"sigs.k8s.io/jobset/test/faults/plane"
	"sigs.k8s.io/jobset/test/faults/player"
	"sigs.k8s.io/jobset/test/faults/proxy"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	namespace   = "default"
	jobSetName  = "group"
	agentImage  = "agent"
	workerImage = "worker"

	jobs, workersPerJob = 2, 25
	workers             = jobs * workersPerJob
)

var managerAccount = types.NamespacedName{Namespace: "jobset-system", Name: "jobset-controller-manager"}

// world is a group of workers and all that it needs.
type world struct {
	plane    *plane.Plane
	proxy    *proxy.Proxy
	managers []*plane.Manager
	players  *player.Players
	observer *observer.Observer
	client   client.WithWatch
	// deletions counts the Pods that were deleted on purpose.
	deletions int
}

// newWorld brings the group up. It ends with the suite.
func newWorld(ctx context.Context, assets, root, manager string) *world {
	GinkgoHelper()
	w := &world{players: player.New()}
	dir := GinkgoT().TempDir()
	var err error
	w.plane, err = plane.Start(ctx, plane.Options{Assets: assets, Dir: dir})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.plane.Stop)
	for _, config := range []string{"config/components/crd", "test/demo/config"} {
		Expect(w.plane.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(root, config))).To(Succeed())
	}
	Expect(w.plane.Kubectl(ctx, "wait", "--for=condition=Established", "crd/jobsets.jobset.x-k8s.io")).To(Succeed())

	w.proxy, err = proxy.New(proxy.Options{Upstream: w.plane.URL, CA: w.plane.CA, Certificate: w.plane.Certificate()})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.proxy.Close)
	for _, name := range []string{"manager-a", "manager-b"} {
		front, err := w.proxy.Front(name)
		Expect(err).NotTo(HaveOccurred())
		m, err := w.plane.NewManager(ctx, plane.ManagerOptions{Name: name, Program: manager, Server: front.URL, Account: managerAccount})
		Expect(err).NotTo(HaveOccurred())
		w.managers = append(w.managers, m)
	}
	Expect(w.managers[0].Start()).To(Succeed())
	w.startNodes(dir)

	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(jobset.AddToScheme(scheme)).To(Succeed())
	w.client, err = client.NewWithWatch(w.plane.Admin, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	js := group()
	Expect(w.client.Create(ctx, js)).To(Succeed())
	watching, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	w.observer = observer.Start(watching, w.client, js)
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	Expect(w.recovers(ctx, 0, 0)).To(Succeed(), "the group comes up")
	return w
}

// startNodes starts two simulated nodes whose containers are functions of this process.
func (w *world) startNodes(dir string) {
	GinkgoHelper()
	front, err := w.proxy.Front("")
	Expect(err).NotTo(HaveOccurred())
	timings := simnode.RealisticTimings()
	// What a kubelet is slow at is not what is tested.
	timings.RelistInterval, timings.ContainerStart, timings.ContainerStop = timings.RelistInterval/10, 0, 0
	containers := w.players.Runtime(agentImage, workerImage)
	// Other tests on this machine have nodes too.
	prefix := 130 + rand.IntN(60)
	for i, name := range []string{"node-a", "node-b"} {
		node, err := simnode.New(simnode.Options{
			Client: w.plane.Client, Name: name, Runtime: containers, Timings: &timings,
			RootDir: filepath.Join(dir, name), PodCIDR: fmt.Sprintf("127.%d.0.0/16", prefix+60*i),
			EnvFor: func(pod *corev1.Pod) []corev1.EnvVar {
				return []corev1.EnvVar{{Name: "BARRIER_ADDRESS", Value: pod.Status.PodIP}}
			},
			Tokens: &simnode.TokenOptions{ServerURL: front.URL, CAData: w.plane.CA},
		})
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := context.WithCancel(context.Background())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			_ = node.Run(ctx) // ends with the context
		}()
		DeferCleanup(func() {
			cancel()
			<-stopped
		})
	}
}

// group is a JobSet of 50 workers that restarts in place as often as it takes.
func group() *jobset.JobSet {
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobSetName},
		Spec: jobset.JobSetSpec{
			FailurePolicy: &jobset.FailurePolicy{MaxRestarts: 1_000_000, RestartStrategy: jobset.InPlaceRestart},
			ReplicatedJobs: []jobset.ReplicatedJob{{
				Name: "workers", Replicas: ptr.To[int32](jobs),
				Template: *workerpod.PrepareJob(&batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
					Parallelism: ptr.To[int32](workersPerJob),
					Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
						TerminationGracePeriodSeconds: ptr.To[int64](1),
						Containers:                    []corev1.Container{{Name: "worker", Image: workerImage}},
					}},
				}}, workerpod.Options{AgentImage: agentImage, ServiceAccountName: "jobset-agent"}),
			}},
		},
	}
	webhooks.Default(js)
	return js
}

// recovers waits until all workers run in one epoch later than the given one, the group is
// told the same, and both stay so for the settling time.
func (w *world) recovers(ctx context.Context, after int32, settle time.Duration) error {
	for {
		err := w.observer.Until(ctx, func(s observer.State) bool { return w.runsAfter(after, s) })
		if err != nil {
			running, epoch := w.players.Running()
			return fmt.Errorf("%d workers run, in epoch %d: %w", running, epoch, err)
		}
		if settle == 0 {
			return nil
		}
		settled, stop := context.WithTimeout(ctx, settle)
		err = w.observer.Until(settled, func(s observer.State) bool { return !w.runsAfter(after, s) })
		stop()
		if err != nil {
			return nil // nothing moved
		}
	}
}

func (w *world) runsAfter(epoch int32, s observer.State) bool {
	running, in := w.players.Running()
	return running == workers && in > epoch && in == s.Synced && s.Deprecated == s.Synced-1
}
