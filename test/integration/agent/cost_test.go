/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/integration/framework"
)

// POLICY_WRITES=500 measures with this many writes of each account per round, POLICY_JOBSETS=100 with the grants of
// this many JobSets in the namespace, all of which the authorizer evaluates.
const (
	writesEnv  = "POLICY_WRITES"
	jobSetsEnv = "POLICY_JOBSETS"
)

var _ = Describe("The cost of the admission policy", func() {
	It("P56: is a part of what a write of a Pod costs", func(ctx SpecContext) {
		writes, _ := strconv.Atoi(os.Getenv(writesEnv))
		if writes == 0 {
			Skip("set " + writesEnv + "=500 to measure")
		}
		n := newNode(ctx)
		jobSets, _ := strconv.Atoi(os.Getenv(jobSetsEnv))
		for i := range max(1, jobSets) {
			js := framework.Training(1, 10)
			js.Name = "train-" + strconv.Itoa(i)
			n.granted(js, "trainer")
		}
		pod := n.runsAs("trainer", "own")
		n.grant("executor", core("patch", "pods"))
		n.grant("operator", core("patch", "pods"), core("update", "pods"), agentRule)
		accounts := []struct {
			name   string
			client client.Client
		}{
			{"of no account of the namespace", cluster.Client},
			{"executor, patch alone", clientOf(token(ctx, n.space, "executor", nil))},
			{"operator, update and the marker", clientOf(token(ctx, n.space, "operator", nil))},
			{"agent", n.agentOf(pod)},
		}
		const rounds = 8
		server := apiServer()
		spent := map[string]map[bool][]time.Duration{}
		next := 0
		for range rounds {
			for _, with := range []bool{true, false} {
				putPolicy(n, pod, with)
				for _, account := range accounts {
					before := cpuOf(server)
					for range writes {
						next++
						Expect(account.client.Patch(ctx, pod.DeepCopy(), epoch(strconv.Itoa(next)))).To(Succeed())
					}
					if spent[account.name] == nil {
						spent[account.name] = map[bool][]time.Duration{}
					}
					spent[account.name][with] = append(spent[account.name][with], (cpuOf(server)-before)/time.Duration(writes))
				}
			}
		}
		putPolicy(n, pod, true)
		for _, account := range accounts {
			with, without := median(spent[account.name][true]), median(spent[account.name][false])
			_, _ = fmt.Fprintf(GinkgoWriter, "%-32s with %4d us, without %4d us, %+d us\n", account.name,
				with.Microseconds(), without.Microseconds(), (with - without).Microseconds())
		}
	}, SpecTimeout(30*time.Minute))
})

// putPolicy applies the policy or deletes it, and waits until the API server has heard of it.
func putPolicy(n *node, pod *corev1.Pod, wanted bool) {
	GinkgoHelper()
	dir := filepath.Join(cluster.Root, access, "cluster")
	if wanted {
		cluster.Kubectl("apply", "--server-side", "-k", dir)
	} else {
		cluster.Kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", framework.AgentAccount)
	}
	agent := n.agentOf(pod)
	Eventually(func() bool {
		err := agent.Patch(n.context, pod.DeepCopy(), merge(`{"metadata":{"labels":{"a":"b"}}}`), client.DryRunAll)
		return (err != nil) == wanted
	}).Should(BeTrue())
}

// apiServer is the process id of the API server of this suite, its child.
func apiServer() string {
	GinkgoHelper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	Expect(err).NotTo(HaveOccurred())
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(stat, []byte("(kube-apiserver)")) {
			continue
		}
		if statFields(stat)[1] == strconv.Itoa(os.Getpid()) {
			return filepath.Base(filepath.Dir(path))
		}
	}
	Fail("no kube-apiserver is a child of this process")
	return ""
}

// cpuOf is the CPU time that a process has used, user and system, in the clock of /proc: 10 ms.
func cpuOf(pid string) time.Duration {
	GinkgoHelper()
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	Expect(err).NotTo(HaveOccurred())
	var ticks int64
	for _, field := range statFields(stat)[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		Expect(err).NotTo(HaveOccurred())
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// statFields are the fields behind the name of the process: state, parent, and so on.
func statFields(stat []byte) []string {
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
