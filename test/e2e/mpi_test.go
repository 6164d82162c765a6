/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
)

const (
	// mpi is the label of stories that need the image with OpenMPI.
	mpi = "mpi"
	// mpiImageVariable is an image of examples/mpi, which hack/e2e/mpi-image.sh builds.
	mpiImageVariable = "E2E_MPI_IMAGE"
	mpiPatience      = 2 * time.Minute
)

var _ = Describe("An MPI run", Label(mpi), func() {
	It("P126: starts with its nodes, starts again in the same Pods when a rank is killed, and is Completed when its launcher is", func(ctx SpecContext) {
		group := launches(ctx)
		launcher := ranked(ctx, group)
		nodes := podsOf(ctx, group, "node")
		Expect(nodes).To(HaveLen(2))

		By("killing a rank")
		_, err := run(ctx, live.kubectl, "exec", "--namespace", group.Namespace(), nodes[1].Name, "--container=node", "--", "pkill", "-KILL", "python3")
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() int32 { return ptr.Deref(group.Status().SyncedEpoch, 0) }).WithTimeout(mpiPatience).Should(BeEquivalentTo(2))
		group.Charged(1)
		Expect(ranked(ctx, group).UID).To(Equal(launcher.UID), "the Pod of the launcher")
		for i, pod := range podsOf(ctx, group, "node") {
			Expect(pod.UID).To(Equal(nodes[i].UID), "Pod %s", pod.Name)
		}
		told, err := logOf(ctx, launcher)
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry("log of the launcher", told, ReportEntryVisibilityAlways)

		By("losing a node's Pod")
		Expect(stories.API().Delete(ctx, nodes[0].DeepCopy(), client.GracePeriodSeconds(0))).To(Succeed())
		Eventually(func() int32 { return ptr.Deref(group.Status().SyncedEpoch, 0) }).WithTimeout(mpiPatience).Should(BeEquivalentTo(3))
		Expect(ranked(ctx, group).UID).To(Equal(launcher.UID), "the Pod of the launcher")
		Eventually(func() string { return group.Status().TerminalState }).WithTimeout(mpiPatience).Should(Equal(string(jobset.JobSetCompleted)))
		group.Told(corev1.EventTypeNormal, constants.AllJobsCompletedReason, "")
	}, SpecTimeout(specTime))
})

// launches creates the JobSet of examples/mpi as it is, but for its name and image and a program that ends.
func launches(ctx SpecContext) *stories.Group {
	GinkgoHelper()
	image := os.Getenv(mpiImageVariable)
	if image == "" {
		Skip(mpiImageVariable + " names no image with OpenMPI, which hack/e2e/mpi-image.sh builds")
	}
	private, public := sshKey()
	return stories.CreateBy(ctx, stories.Shape{Process: true}, func(namespace string) error {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mpi-ssh"}, Data: map[string][]byte{"id": private, "id.pub": public},
		}
		if err := client.IgnoreAlreadyExists(stories.API().Create(ctx, secret)); err != nil {
			return err
		}
		js := exampleIn("../../examples/mpi/jobset.yaml")
		js.Namespace, js.Name = namespace, stories.JobSetName
		for i := range js.Spec.ReplicatedJobs {
			container := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec.Containers[0]
			container.Image = image
			for j, word := range container.Command {
				// Pods are named after the JobSet, and so is their subdomain.
				container.Command[j] = strings.NewReplacer("mpi-node", js.Name+"-node", ".mpi", "."+js.Name).Replace(word)
			}
		}
		launcher := &js.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.Containers[0]
		launcher.Command = append(launcher.Command, "20") // steps, of a second each
		return stories.API().Create(ctx, js)
	})
}

// ranked waits until the launcher's last run tells of its ranks, and returns its Pod.
func ranked(ctx SpecContext, group *stories.Group) *corev1.Pod {
	GinkgoHelper()
	var launcher *corev1.Pod
	Eventually(func(expect Gomega) {
		pods := podsOf(ctx, group, "launcher")
		expect.Expect(pods).To(HaveLen(1))
		launcher = pods[0]
		told, err := logOf(ctx, launcher)
		expect.Expect(err).NotTo(HaveOccurred(), "its container may not have started")
		synced := ptr.Deref(group.Status().SyncedEpoch, 0)
		expect.Expect(synced).NotTo(BeZero(), "the launcher's Pod may run before the status says that it was lifted")
		expect.Expect(strings.Count(told, "step 3: 4 ranks, sum 12")).To(BeEquivalentTo(synced), "%s", told)
	}).WithTimeout(mpiPatience).WithPolling(time.Second).Should(Succeed())
	return launcher
}

func logOf(ctx SpecContext, pod *corev1.Pod) (string, error) {
	return live.Log(ctx, stories.Container{Pod: pod, Name: pod.Spec.Containers[0].Name})
}

// podsOf are the live Pods of a ReplicatedJob, by name.
func podsOf(ctx SpecContext, group *stories.Group, replicatedJob string) (pods []*corev1.Pod) {
	GinkgoHelper()
	var list corev1.PodList
	Expect(stories.API().List(ctx, &list, client.InNamespace(group.Namespace()), client.MatchingLabels{jobset.ReplicatedJobNameKey: replicatedJob})).To(Succeed())
	for i := range list.Items {
		if pod := &list.Items[i]; pod.DeletionTimestamp == nil {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// sshKey is a key as ssh and its server read it: PEM, and a line of authorized_keys (RFC 5656).
func sshKey() (private, public []byte) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalECPrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	point, err := key.PublicKey.Bytes()
	Expect(err).NotTo(HaveOccurred())
	const kind, curve = "ecdsa-sha2-nistp256", "nistp256"
	var blob []byte
	for _, part := range [][]byte{[]byte(kind), []byte(curve), point} {
		blob = append(binary.BigEndian.AppendUint32(blob, uint32(len(part))), part...)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), []byte(kind + " " + base64.StdEncoding.EncodeToString(blob) + "\n")
}
