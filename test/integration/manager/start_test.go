/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("Starting", func() {
	It("O4-O9, O12, O13, O16: takes typed flags over the file over the defaults, and says so once", func(ctx SpecContext) {
		s := newSettings()
		health := framework.FreePort()
		s.more = "clientConnection: {qps: 77, burst: 88}\nfeatureGates: {RestartJob: true, ElasticJobSet: true}\n" +
			"controller: {maxConcurrentReconciles: 4}\n"
		m := start(ctx, s, "--kube-api-qps=99", "--health-probe-bind-address="+(&manager{}).address(health),
			"--leader-elect=false", "--feature-gates=ElasticJobSet=false")
		fromFile := m.health
		m.health = health
		Eventually(m.probe("/healthz")).Should(Equal(http.StatusOK), "at the address of the flag")
		Expect((&manager{settings: settings{health: fromFile}}).probe("/healthz")()).To(BeZero(), "at the address of the file")

		Eventually(m.Err).Should(gbytes.Say(`Starting workers.*"worker count": 4`), "O42, O515")
		log := string(m.Err.Contents())
		Expect(strings.Count(log, "Effective configuration")).To(Equal(1), log)
		_, effective, _ := strings.Cut(log, "Effective configuration")
		effective, _, _ = strings.Cut(effective, "\n")
		for _, line := range []string{
			`qps: 99\n`, `burst: 88\n`, `leaderElect: false\n`, `port: ` + port(m.webhook) + `\n`,
			`bindAddress: ` + m.address(m.metrics) + `\n`, `healthProbeBindAddress: ` + m.address(health) + `\n`,
			`featureGates:\n  ElasticJobSet: false\n  RestartJob: true\n`,
			`resourceName: ` + leaseName + `\n`, `webhookServiceName: ` + serviceName + `\n`, `webhookSecretName: ` + secretName + `\n`,
		} {
			Expect(effective).To(ContainSubstring(line))
		}
		Expect(strings.Index(log, "Starting the JobSet manager")).To(BeNumerically("<", strings.Index(log, "Effective configuration")),
			"the version comes first")
		Expect(log).To(ContainSubstring(`"version": "` + gitVersion + `"`))
	})

	DescribeTable("O15: fails with status 1 and one line that says what is wrong",
		func(file, flag, want string) {
			path := filepath.Join(GinkgoT().TempDir(), "config.yaml")
			Expect(os.WriteFile(path, []byte("apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n"+file), 0o600)).To(Succeed())
			args := []string{"--config=" + path, "--kubeconfig=" + plane.Kubeconfig}
			if flag != "" {
				args = append(args, flag)
			}
			session := run(args...)
			Eventually(session).Should(gexec.Exit(1))
			lines := strings.Split(strings.TrimSuffix(string(session.Err.Contents()), "\n"), "\n")
			Expect(lines[len(lines)-1]).To(ContainSubstring(want))
			Expect(session.Out.Contents()).To(BeEmpty())
		},
		Entry("O14: a key that is none", "webhok: {port: 1}\n", "", `unknown field \"webhok\"`),
		Entry("O14: a key twice", "health: {}\nhealth: {}\n", "", "health"),
		Entry("O21: a value out of its range", "webhook: {port: 70000}\n", "", "webhook.port: Invalid value: 70000: must be between 1 and 65535"),
		Entry("O34: a version of TLS that is refused by name", "tls: {minVersion: VersionTLS11}\n", "", "VersionTLS11 is not secure"),
		Entry("O41: a gate that is none, in the file", "featureGates: {Foo: true}\n", "", "unknown feature gates: Foo"),
		Entry("O12: a gate that is none, in the flag", "", "--feature-gates=Foo=true", "unknown feature gates: Foo"),
		Entry("O47: a gate that is locked", "featureGates: {TLSOptions: false}\n", "", "feature gate TLSOptions is locked to true"),
		Entry("O4: a file that is not there", "", "--config=/does/not/exist", "/does/not/exist"),
		Entry("O10: a kubeconfig that is not there", "", "--kubeconfig=/does/not/exist", "/does/not/exist"),
		Entry("O25: a certificate of the metrics server that is not there", "metrics: {certDir: /does/not/exist}\n", "", "/does/not/exist/tls.crt"),
	)

	It("O67: fails if certificates are left to others and are not there", func() {
		path := filepath.Join(GinkgoT().TempDir(), "config.yaml")
		text := "apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\ninternalCertManagement: {enable: false}\n" +
			"leaderElection: {leaderElect: false}\nmetrics: {bindAddress: \"0\"}\nhealth: {healthProbeBindAddress: \"0\"}\n" +
			"webhook: {certDir: /does/not/exist, port: " + port(framework.FreePort()) + "}\n"
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		session := run("--config="+path, "--kubeconfig="+plane.Kubeconfig)
		Eventually(session).Should(gexec.Exit(1))
		Expect(session.Err).To(gbytes.Say("/does/not/exist/tls.crt"))
	})

	It("O19: tells its version, which the build wrote into it", func() {
		session := run("--version")
		Eventually(session).Should(gexec.Exit(0))
		Expect(string(session.Out.Contents())).To(SatisfyAll(ContainSubstring(gitVersion), ContainSubstring(gitCommit[:7])))
	})

	It("ends at once and in peace when it is told to while it waits for certificates", func(ctx SpecContext) {
		m := start(ctx, newSettings())
		Eventually(m.probe("/healthz")).Should(Equal(http.StatusOK))
		begin := time.Now()
		m.stop()
		Expect(time.Since(begin)).To(BeNumerically("<", gracePeriod))
	})
})
