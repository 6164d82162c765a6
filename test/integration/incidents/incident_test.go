/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package incidents

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/ownagent"
	"sigs.k8s.io/jobset/test/simnode"
)

const account = "jobset-agent"

// incident is one group in a namespace, and on nodes, of its own.
type incident struct {
	ctx       context.Context
	namespace string
	jobSet    *jobset.JobSet
	// before are the values of the manager's metrics when the incident began.
	before map[string]float64
}

// begin makes a namespace with the account of the agents. Whether that may do what agents do is said by role.
func begin(ctx SpecContext, role string) *incident {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "incident-"}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	i := &incident{ctx: ctx, namespace: namespace.Name}
	Expect(api.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: account}})).To(Succeed())
	i.binds(role)
	Eventually(func(g Gomega) { i.before = scrape(ctx, g) }).WithContext(ctx).Should(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(api.Delete(ctx, i.jobSet))).To(Succeed())
		Expect(client.IgnoreNotFound(api.Delete(ctx, namespace))).To(Succeed())
	})
	return i
}

// binds the account of the agents to a ClusterRole.
func (i *incident) binds(role string) {
	GinkgoHelper()
	Expect(api.Create(i.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: i.namespace, Name: account}},
	})).To(Succeed())
}

// trains creates a group of two workers, one on a node, with these init containers.
func (i *incident) trains(maxRestarts int32, prepares ...corev1.Container) {
	GinkgoHelper()
	alone := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{jobset.JobSetNameKey: "train"}},
	}}}}
	var tolerations []corev1.Toleration // without an end, so that there is time to look; see isEvicted
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerations = append(tolerations, corev1.Toleration{Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	job := ownagent.Job(&batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		Parallelism: ptr.To[int32](2),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			InitContainers: prepares,
			Containers:     []corev1.Container{{Name: "worker", Image: workerImage}},
			NodeSelector:   map[string]string{"incident": i.namespace}, Affinity: alone, Tolerations: tolerations,
			TerminationGracePeriodSeconds: ptr.To(int64(minute.Seconds())),
		}},
	}}, account, workerpod.Options{AgentImage: agentImage})
	i.jobSet = &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: "train"},
		Spec: jobset.JobSetSpec{
			FailurePolicy:  &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: maxRestarts},
			ReplicatedJobs: []jobset.ReplicatedJob{{Name: "workers", Replicas: 1, Template: *job}},
		},
	}
	Eventually(func() error { return api.Create(i.ctx, i.jobSet) }).WithContext(i.ctx).Should(Succeed())
}

// isEvicted lets the time be over that a Pod may stay on a node that is silent.
func (i *incident) isEvicted(pod *corev1.Pod) {
	GinkgoHelper()
	over := pod.DeepCopy()
	for at := range over.Spec.Tolerations {
		if over.Spec.Tolerations[at].Effect == corev1.TaintEffectNoExecute {
			over.Spec.Tolerations[at].TolerationSeconds = ptr.To[int64](0)
		}
	}
	Expect(api.Patch(i.ctx, over, client.MergeFrom(pod))).To(Succeed())
}

func (i *incident) now() *jobset.JobSet {
	js := &jobset.JobSet{}
	Expect(api.Get(i.ctx, client.ObjectKeyFromObject(i.jobSet), js)).To(Succeed())
	return js
}

// runsAt waits until both workers run at an epoch, and returns their Pods.
func (i *incident) runsAt(epoch int32) []*corev1.Pod {
	GinkgoHelper()
	var pods []*corev1.Pod
	Eventually(func(g Gomega) {
		status := i.now().Status
		g.Expect([]int32{ptr.Deref(status.DeprecatedEpoch, 0), ptr.Deref(status.SyncedEpoch, 0)}).To(Equal([]int32{epoch - 1, epoch}))
		pods = i.pods()
		g.Expect(pods).To(HaveLen(2))
		for _, pod := range pods {
			g.Expect(ready(pod)).To(BeTrue(), "Pod %s is ready", pod.Name)
			g.Expect(pod.Annotations).To(HaveKeyWithValue(jobset.EpochKey, fmt.Sprint(epoch)))
		}
	}).WithContext(i.ctx).Should(Succeed())
	return pods
}

func (i *incident) pods() []*corev1.Pod {
	GinkgoHelper()
	var list corev1.PodList
	Expect(api.List(i.ctx, &list, client.InNamespace(i.namespace))).To(Succeed())
	var pods []*corev1.Pod
	for at := range list.Items {
		if list.Items[at].Status.Phase != corev1.PodFailed {
			pods = append(pods, &list.Items[at])
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// on is the Pod on a node.
func on(pods []*corev1.Pod, node string) *corev1.Pod {
	GinkgoHelper()
	at := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == node })
	Expect(at).NotTo(Equal(-1), "a Pod on %s", node)
	return pods[at]
}

// signal reaches the worker of a Pod.
func signal(pod *corev1.Pod, sig syscall.Signal) {
	GinkgoHelper()
	pid, ok := containers.PID(pod.UID, "worker")
	Expect(ok).To(BeTrue(), "the worker of Pod %s runs", pod.Name)
	Expect(syscall.Kill(pid, sig)).To(Succeed())
}

// log is what a container of a Pod printed in all its runs.
func log(pod *corev1.Pod, container string) (string, error) {
	content, err := os.ReadFile(containers.LogPath(pod, container))
	return string(content), err
}

// listens waits until the nth run of a worker hears signals. The status of its Pod may lag behind its containers, and
// shows a container as ready before its process listens.
func (i *incident) listens(pod *corev1.Pod, run int32) {
	GinkgoHelper()
	Eventually(func() (string, error) {
		content, err := log(pod, "worker")
		runs := strings.Split(content, "--- simnode: ")
		return runs[len(runs)-1], err
	}).WithContext(i.ctx).Should(MatchRegexp(`(?s)^\S+ run %d .*"msg":"start"`, run))
}

// kubectl does what a runbook says.
func kubectl(ctx context.Context, line string) {
	GinkgoHelper()
	_, err := plane.Kubectl(ctx, strings.Fields(line)...)
	Expect(err).NotTo(HaveOccurred())
}

// cannotPull is the runtime of a node that cannot pull the image of the worker.
type cannotPull struct{ simnode.Runtime }

func (c cannotPull) Start(ctx context.Context, request simnode.ContainerRequest) (simnode.Process, error) {
	if request.Container.Image == workerImage {
		return nil, fmt.Errorf("pulling image %q: connection refused: %w", workerImage, simnode.ErrUnknownImage)
	}
	return c.Runtime.Start(ctx, request)
}
