/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	corev1 "k8s.io/api/core/v1"

	controlplane "sigs.k8s.io/jobset/test/cluster"
	. "sigs.k8s.io/jobset/test/integration/framework"
	proc "sigs.k8s.io/jobset/test/process"
)

const (
	// flood is how many connections took an agent past the memory limit of the examples when all were served.
	flood = 4000
	// agentLimit is what an agent may have resident, by its budget; the limit of the examples is 64 MiB.
	agentLimit = 20 << 20
)

// agentBinary is the agent, built as its image does.
var agentBinary = sync.OnceValues(func() (string, error) {
	return gexec.BuildWithEnvironment("sigs.k8s.io/jobset/cmd/agent", []string{"CGO_ENABLED=0"}, "-trimpath", "-ldflags", "-s -w")
})

var _ = AfterSuite(gexec.CleanupBuildArtifacts)

// program is an agent in a process of its own.
type program struct {
	cmd     *exec.Cmd
	log     bytes.Buffer
	address string
}

// runsProgram starts the binary for a Pod, with a token bound to it.
func (n *node) runsProgram(pod *corev1.Pod, name string) *program {
	GinkgoHelper()
	path, err := agentBinary()
	Expect(err).NotTo(HaveOccurred())
	kubeconfig := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(controlplane.WriteKubeconfig(kubeconfig, cluster.Config.Host, cluster.Config.CAData, token(n.context, n.space, AgentAccount, pod))).To(Succeed())

	port := FreePort()
	p := &program{address: proc.Address(port)}
	p.cmd = exec.Command(path)
	p.cmd.Stderr = &p.log
	p.cmd.Env = []string{
		"NAMESPACE=" + pod.Namespace, "POD_NAME=" + pod.Name, "JOBSET_NAME=" + name, "KUBECONFIG=" + kubeconfig,
		"BARRIER_ADDRESS=127.0.0.1", "BARRIER_PORT=" + strconv.Itoa(port),
	}
	Expect(p.cmd.Start()).To(Succeed())
	DeferCleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// probe asks as a kubelet does, from the address of the node, and returns the code of the answer.
func (p *program) probe(ctx context.Context, query string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/barrier-is-lifted"+query, nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.ReadAll(response.Body)
	return response.StatusCode, err
}

// floods opens connections and keeps them: those that say nothing, those that begin a request,
// and those that wait for the lift, from the addresses of three Pods.
func (p *program) floods() {
	GinkgoHelper()
	for i := range flood {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 66, 0, byte(1+i%3))}, Timeout: time.Minute}
		conn, err := dialer.Dial("tcp", p.address)
		Expect(err).NotTo(HaveOccurred(), "connection %d", i)
		DeferCleanup(conn.Close)
		text := []string{"", "GET /barrier-is-lifted HTTP/1.1\r\nHost: a\r\nCookie: ", "GET /barrier-is-lifted?wait=3600 HTTP/1.1\r\nHost: a\r\n\r\n"}[i%7%3]
		_, _ = io.WriteString(conn, text) // It may be broken off already.
	}
}

// staysSmall says what the process has, and fails if that was ever more than its budget.
func (p *program) staysSmall(when string) {
	GinkgoHelper()
	now, err := proc.Resident(p.cmd.Process.Pid)
	Expect(err).NotTo(HaveOccurred())
	most, err := proc.PeakResident(p.cmd.Process.Pid)
	Expect(err).NotTo(HaveOccurred())
	_, _ = fmt.Fprintf(GinkgoWriter, "%s: %.1f MiB resident, %.1f MiB at the most\n", when, now/(1<<20), most/(1<<20))
	Expect(most).To(BeNumerically("<=", agentLimit), when)
}

var _ = Describe("The barrier of an agent process", func() {
	// 40 s: the flood comes twice, and the agent keeps its port for a while after the lift.
	It("P35: outlives 4,000 connections before the lift and after it, answers the kubelet among them, and closes its port", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		pod := n.runs("own")
		agent := n.runsProgram(pod, "train")
		(&process{pod: pod}).reports("1")
		agent.staysSmall("before")

		type answer struct {
			code int
			err  error
		}
		early := make(chan answer, 1)
		go func() {
			code, err := agent.probe(ctx, "?wait=3600")
			early <- answer{code, err}
		}()
		agent.floods()
		agent.staysSmall(fmt.Sprintf("%d connections before the lift", flood))
		asked := time.Now()
		Expect(agent.probe(ctx, "")).To(Equal(http.StatusServiceUnavailable), "a probe that comes late is answered")
		_, _ = fmt.Fprintf(GinkgoWriter, "a probe among them is answered after %v\n", time.Since(asked))
		Expect(early).NotTo(Receive(), "the probe that waits has kept its place")

		n.says(train, 0, 1)

		Eventually(early).Should(Receive(Equal(answer{code: http.StatusOK})))
		agent.floods()
		agent.staysSmall(fmt.Sprintf("%d connections after the lift", flood))
		Expect(agent.probe(ctx, "?wait=50")).To(Equal(http.StatusOK), "a kubelet that lost the answer gets it again")

		Eventually(func() error {
			_, err := agent.probe(ctx, "")
			return err
		}).WithTimeout(2*time.Minute).Should(MatchError(syscall.ECONNREFUSED), "the port is still open")
		agent.staysSmall("with the port closed")
		Expect(agent.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
		_ = agent.cmd.Wait()
		Expect(agent.cmd.ProcessState.ExitCode()).To(Equal(143), agent.log.String())
	})
})
