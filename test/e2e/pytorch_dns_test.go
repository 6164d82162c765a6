/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

// corefile is kubeadm's, without what asks servers outside of the cluster, with settings of the cache.
const corefile = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    cache 30%s
    reload
    loadbalance
}
`

// kubeadmCache keeps nothing of the cluster itself.
const kubeadmCache = ` {
       disable success cluster.local
       disable denial cluster.local
    }`

// rejoined is how long it took until all ranks were connected again after the Pod of rank 0 was deleted.
type rejoined struct {
	DNS, By string
	// All is from the deletion, Since from the moment when the last rank had imported PyTorch.
	All, Since time.Duration
}

const rejoinedEntry = "ranks that connect to another rank 0"

// A replacement of rank 0 has another address: who looks it up by name can get the old one for a while.
var _ = Describe("a training with PyTorch whose rank 0 gets a new Pod", Serial, Label(pytorch, "dns"), func() {
	for _, dns := range []struct{ name, cache string }{{"as kubeadm sets it", kubeadmCache}, {"with a cache of 30 s", ""}} {
		for _, byName := range []bool{false, true} {
			by := map[bool]string{false: "the address it is told", true: "its name"}[byName]
			It(fmt.Sprintf("P122: finds it by %s, with CoreDNS %s", by, dns.name), func(ctx SpecContext) {
				t := train(ctx, long, goesOn, func(js *jobset.JobSet) {
					startsBy(js, processWay)
					if byName {
						setVariable(js, corev1.EnvVar{Name: "MASTER_ADDR", Value: nameOfRankZero(js.Name)})
					}
				})
				before := t.RunsAt(1)
				t.steps(before)
				useCorefile(ctx, fmt.Sprintf(corefile, dns.cache))
				for _, pod := range before.Pods { // so that what can be kept is fresh
					t.eventually(func(expect Gomega) { // a proxy may still know the old DNS server
						_, err := live.exec(ctx, pod, "worker", "python3", "-c", fmt.Sprintf("import socket; socket.gethostbyname(%q)", nameOfRankZero(t.Name())))
						expect.Expect(err).NotTo(HaveOccurred())
					})
				}
				at := time.Now()
				Expect(stories.API().Delete(ctx, before.Pods[0].DeepCopy())).To(Succeed())
				t.rejoins(dns.name, by, t.RunsEventually(), at) // a rank that does not connect in time fails once more
			}, SpecTimeout(specTime))
		}
	}
})

// rejoins reports when all ranks of a round were connected, since the Pod of rank 0 was deleted.
func (t *training) rejoins(dns, by string, round *stories.Round, deleted time.Time) {
	GinkgoHelper()
	connected := t.milestone(round, "connected")
	AddReportEntry(rejoinedEntry, rejoined{
		DNS: dns, By: by, All: connected.Sub(deleted), Since: connected.Sub(t.milestone(round, "imported")),
	}, ReportEntryVisibilityNever)
}

// nameOfRankZero is the host name of the first Pod of the JobSet of a training.
func nameOfRankZero(jobSet string) string { return fmt.Sprintf("%[1]s-workers-0-0.%[1]s", jobSet) }

// useCorefile restarts the cluster's DNS with a configuration, until the end of the spec.
func useCorefile(ctx SpecContext, text string) {
	GinkgoHelper()
	const system, name = "kube-system", "coredns"
	set := func(ctx context.Context, text string) string {
		config, err := live.client.CoreV1().ConfigMaps(system).Get(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		was := config.Data["Corefile"]
		config.Data["Corefile"] = text
		_, err = live.client.CoreV1().ConfigMaps(system).Update(ctx, config, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		pods := live.client.CoreV1().Pods(system)
		options := metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"}
		Expect(pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, options)).To(Succeed())
		_, err = run(ctx, live.kubectl, "rollout", "status", "--namespace", system, "deployment/"+name, "--timeout=120s")
		Expect(err).NotTo(HaveOccurred())
		return was
	}
	was := set(ctx, text)
	DeferCleanup(func(ctx SpecContext) { set(ctx, was) })
}
