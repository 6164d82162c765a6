/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/process"
)

const (
	// gracePeriod is what the Deployment gives a manager to end.
	gracePeriod = 10 * time.Second
)

// settings are what a manager of this suite listens on, and further lines of its configuration.
type settings struct {
	webhook, metrics, health int
	certDir, metricsCertDir  string
	lease                    string
	more                     string
}

// A manager that cannot renew its lease in time ends, as it should. Only specs that wait for the end of a lease have short ones.
const (
	longLease  = "leaseDuration: 120s, renewDeadline: 110s"
	shortLease = "leaseDuration: 15s, renewDeadline: 12s"
)

func newSettings() settings {
	GinkgoHelper()
	return settings{webhook: framework.FreePort(), metrics: framework.FreePort(), health: framework.FreePort(), certDir: GinkgoT().TempDir(),
		lease: longLease}
}

// file writes the configuration.
func (s settings) file() string {
	GinkgoHelper()
	text := fmt.Sprintf(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: {host: %[1]s, port: %[2]d, certDir: %[3]s}
metrics: {bindAddress: "%[1]s:%[4]d", certDir: %[5]q}
health: {healthProbeBindAddress: "%[1]s:%[6]d"}
leaderElection: {resourceNamespace: %[7]s, %[8]s, retryPeriod: 500ms}
`, process.Localhost, s.webhook, s.certDir, s.metrics, s.metricsCertDir, s.health, system, s.lease)
	path := filepath.Join(GinkgoT().TempDir(), "controller_manager_config.yaml")
	Expect(os.WriteFile(path, []byte(text+s.more), 0o600)).To(Succeed())
	return path
}

// manager is one that runs.
type manager struct {
	settings
	*gexec.Session
}

// start starts a manager with the rights of its service account. At the end of the spec it
// is stopped as a kubelet does it, and has to end in time and in peace.
func start(ctx context.Context, s settings, flags ...string) *manager {
	GinkgoHelper()
	m := &manager{settings: s, Session: run(append([]string{"--config=" + s.file(), "--kubeconfig=" + accountKubeconfig(ctx)}, flags...)...)}
	DeferCleanup(func() {
		if m.ExitCode() == -1 {
			m.stop()
		}
	})
	return m
}

// startReady starts one whose webhooks the API server asks, and waits until it is ready.
func startReady(ctx context.Context, s settings, flags ...string) *manager {
	GinkgoHelper()
	webhooksOn(ctx, s.webhook, nil)
	mount(s.certDir)
	m := start(ctx, s, flags...)
	m.isReady()
	return m
}

// run starts the program with nothing but these arguments.
func run(args ...string) *gexec.Session {
	GinkgoHelper()
	command := exec.Command(plane.program, args...)
	command.Env = []string{"HOME=" + GinkgoT().TempDir(), "TMPDIR=" + GinkgoT().TempDir()}
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	return session
}

func (m *manager) stop() {
	GinkgoHelper()
	m.Terminate()
	Eventually(m.Session).WithTimeout(gracePeriod).Should(gexec.Exit(0), "stopped by SIGTERM")
}

// crash takes the manager away without a chance to give up its lease.
func (m *manager) crash() {
	GinkgoHelper()
	m.Kill()
	Eventually(m.Session).Should(gexec.Exit(128 + int(syscall.SIGKILL)))
}

// probe asks an endpoint of the health server; 0 means that nobody answered.
func (m *manager) probe(endpoint string) func() int {
	return func() int {
		response, err := (&http.Client{Timeout: time.Minute}).Get("http://" + m.address(m.health) + endpoint)
		if err != nil {
			return 0
		}
		defer response.Body.Close() //nolint:errcheck // the status is all we want
		return response.StatusCode
	}
}

func (m *manager) address(port int) string {
	return process.Address(port)
}

// isReady waits for the webhooks, and for the port of the metrics: readiness is about the
// former alone, and the latter opens only when a certificate has been made for it.
func (m *manager) isReady() {
	GinkgoHelper()
	Eventually(m.probe("/readyz")).Should(Equal(http.StatusOK), "readyz")
	Eventually(func() error {
		conn, err := net.Dial("tcp", m.address(m.metrics))
		if err != nil {
			return err
		}
		return conn.Close()
	}).Should(Succeed(), "metrics")
}

// scrape gets /metrics with a token, if there is one, and tells status and text. The certificate is not verified.
func (m *manager) scrape(token string) (int, string, error) {
	return cluster.Scraper{Address: m.address(m.metrics), Token: token}.Ask(context.Background())
}

// accountKubeconfig writes a kubeconfig with a token of the manager's service account.
func accountKubeconfig(ctx context.Context) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(cluster.WriteKubeconfig(file, plane.Config.Host, plane.Config.CAData, token(ctx, system, account))).To(Succeed())
	return file
}

// token returns one of a service account, which it makes if there is none.
func token(ctx context.Context, namespace, name string) string {
	GinkgoHelper()
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}},
	} {
		Expect(client.IgnoreAlreadyExists(plane.client.Create(ctx, object))).To(Succeed())
	}
	made, err := cluster.Token(ctx, plane.Client, types.NamespacedName{Namespace: namespace, Name: name})
	Expect(err).NotTo(HaveOccurred())
	return made
}

// kubectl runs it as the administrator and returns what it prints.
func kubectl(args ...string) string {
	GinkgoHelper()
	output, err := tryKubectl(args...)
	Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", args, output)
	return output
}

// tryKubectl runs it where it may fail.
func tryKubectl(args ...string) (string, error) {
	return plane.Kubectl(context.Background(), args...)
}

func port(n int) string { return strconv.Itoa(n) }
