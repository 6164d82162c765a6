/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/integration/framework"
	proc "sigs.k8s.io/jobset/test/process"
)

// POLICY_WRITES=500 measures with this many writes of each account per round, POLICY_JOBSETS=100 with the grants of
// this many JobSets in the namespace, all of which the authorizer evaluates.
const (
	writesEnv  = "POLICY_WRITES"
	jobSetsEnv = "POLICY_JOBSETS"
)

// writer is an account, and one write of it; number differs each time.
type writer struct {
	name  string
	write func(number string) error
}

var _ = Describe("The cost of an admission policy", func() {
	writesEach := func() int {
		writes, _ := strconv.Atoi(os.Getenv(writesEnv))
		if writes == 0 {
			Skip("set " + writesEnv + "=500 to measure")
		}
		return writes
	}
	// trainers have the rights that the controller grants for so many JobSets.
	trainers := func(ctx SpecContext) (*node, *corev1.Pod) {
		n := newNode(ctx)
		jobSets, _ := strconv.Atoi(os.Getenv(jobSetsEnv))
		for i := range max(1, jobSets) {
			js := framework.Training(1, 10)
			js.Name = "train-" + strconv.Itoa(i)
			n.granted(js, "trainer")
		}
		return n, n.runsAs("trainer", "own")
	}

	It("P56: is a part of what a write of a Pod costs", func(ctx SpecContext) {
		writes := writesEach()
		n, pod := trainers(ctx)
		n.grant("executor", core("patch", "pods"))
		n.grant("operator", core("patch", "pods"), core("update", "pods"), agentRule)
		by := func(name string, c client.Client) writer {
			return writer{name, func(number string) error { return c.Patch(ctx, pod.DeepCopy(), epoch(number)) }}
		}
		agent := n.agentOf(pod)
		measure(writes, framework.AgentAccount, func() error {
			return agent.Patch(ctx, pod.DeepCopy(), merge(`{"metadata":{"labels":{"a":"b"}}}`), client.DryRunAll)
		},
			by("of no account of the namespace", cluster.Client),
			by("executor, patch alone", clientOf(token(ctx, n.space, "executor", nil))),
			by("operator, update and the marker", clientOf(token(ctx, n.space, "operator", nil))),
			by("agent", agent))
	}, SpecTimeout(30*time.Minute))

	It("P153: is a part of what a write of a Lease costs", func(ctx SpecContext) {
		writes := writesEach()
		n, pod := trainers(ctx)
		n.grant("elector", leases("create", "patch", "update"))
		elector, agent := clientOf(token(ctx, n.space, "elector", nil)), n.agentOf(pod)
		Expect(elector.Create(ctx, election(n.space, "operator"))).To(Succeed())
		Expect(agent.Create(ctx, reportOf(pod))).To(Succeed())
		elects := func(c client.Client) func(string) error {
			return func(number string) error {
				return c.Patch(ctx, election(n.space, "operator"), merge(`{"spec":{"leaseTransitions":`+number+`}}`))
			}
		}
		measure(writes, constants.AgentLeases, func() error { return agent.Create(ctx, election(n.space, "mine"), client.DryRunAll) },
			writer{"of no account of the namespace", elects(cluster.Client)},
			writer{"leader election", elects(elector)},
			writer{"agent", func(number string) error {
				return agent.Patch(ctx, reportOf(pod), mergeOf(reportOf(pod, annotated(jobset.EpochKey, number))))
			}})
	}, SpecTimeout(30*time.Minute))
})

// measure prints what a write of each costs the API server with a policy and without. The policy refuses what is forbidden, and nothing
// else does.
func measure(writes int, name string, forbidden func() error, writers ...writer) {
	GinkgoHelper()
	const rounds = 8
	spent := map[string]map[bool][]time.Duration{}
	next := 0
	for range rounds {
		for _, with := range []bool{true, false} {
			putPolicy(name, forbidden, with)
			for _, by := range writers {
				before := cpuOfAPIServer()
				for range writes {
					next++
					Expect(by.write(strconv.Itoa(next))).To(Succeed())
				}
				if spent[by.name] == nil {
					spent[by.name] = map[bool][]time.Duration{}
				}
				spent[by.name][with] = append(spent[by.name][with], (cpuOfAPIServer()-before)/time.Duration(writes))
			}
		}
	}
	putPolicy(name, forbidden, true)
	for _, by := range writers {
		with, without := median(spent[by.name][true]), median(spent[by.name][false])
		_, _ = fmt.Fprintf(GinkgoWriter, "%-32s with %4d us, without %4d us, %+d us\n", by.name,
			with.Microseconds(), without.Microseconds(), (with - without).Microseconds())
	}
}

// putPolicy applies a policy or deletes it, and waits until the API server has heard of it.
func putPolicy(name string, forbidden func() error, wanted bool) {
	GinkgoHelper()
	if wanted {
		cluster.Kubectl("apply", "--server-side", "-k", filepath.Join(cluster.Root, access, "cluster"))
	} else {
		cluster.Kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", name)
	}
	Eventually(func() bool { return (forbidden() != nil) == wanted }).Should(BeTrue())
}

// cpuOfAPIServer is the CPU time that the API server of this suite, its child, has used.
func cpuOfAPIServer() time.Duration {
	GinkgoHelper()
	children, err := proc.Children()
	Expect(err).NotTo(HaveOccurred())
	at := slices.IndexFunc(children, func(c proc.Child) bool { return c.Name == "kube-apiserver" })
	Expect(at).To(BeNumerically(">=", 0), "a kube-apiserver is a child of this process")
	return children[at].CPU
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
