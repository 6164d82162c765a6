/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("Internal certificates", func() {
	It("W131, W133, C12, O58-O66, O68-O70: are made, trusted and served, and only then the manager is ready", func(ctx SpecContext) {
		s := newSettings()
		webhooksOn(ctx, s.webhook, nil)
		m := start(ctx, s)

		By("filling the Secret that was there before (O58, O61, O63)")
		Eventually(secretNow(ctx)).Should(SatisfyAll(HaveKey("ca.crt"), HaveKey("ca.key"), HaveKey("tls.crt"), HaveKey("tls.key"), HaveLen(4)))
		data := secretNow(ctx)()
		ca, cert := parse(data["ca.crt"]), parse(data["tls.crt"])
		Expect(ca.Subject.CommonName).To(Equal("jobset-ca"), "O59")
		Expect(ca.Subject.Organization).To(Equal([]string{"jobset"}), "O59")
		Expect(ca.NotAfter).To(BeTemporally("~", time.Now().Add(10*365*24*time.Hour), 24*time.Hour), "O59")
		Expect(cert.NotAfter).To(BeTemporally("~", time.Now().Add(365*24*time.Hour), 24*time.Hour), "O59")
		Expect(cert.DNSNames).To(Equal([]string{dnsName}), "O60")
		Expect(cert.Verify(x509.VerifyOptions{DNSName: dnsName, Roots: pool(data["ca.crt"])})).NotTo(BeEmpty())

		By("writing the authority into every webhook (O62)")
		Eventually(authorities(ctx)).Should(Equal(everyWebhook(data["ca.crt"])))

		By("being alive and not ready before the kubelet brings the files (O66, O68, O69, O507)")
		Eventually(m.probe("/healthz")).Should(Equal(http.StatusOK))
		log := func() string { return string(m.Err.Contents()) }
		Eventually(log).Should(And(
			MatchRegexp(`Starting workers.*"controller": "jobset"`), MatchRegexp(`Starting workers.*"controller": "pod"`)))
		Expect(m.probe("/readyz")()).To(Equal(http.StatusInternalServerError))
		Expect(m.probe("/healthz")()).To(Equal(http.StatusOK))

		By("having registered everything before it waits (C12)")
		for _, path := range []string{"/mutate-jobset-x-k8s-io-v1alpha2-jobset", "/validate-jobset-x-k8s-io-v1alpha2-jobset", "/mutate--v1-pod", "/validate--v1-pod"} {
			Expect(log()).To(MatchRegexp(`Registering webhook.*` + path))
		}
		Expect(log()).NotTo(ContainSubstring("Serving webhooks"))

		By("being ready once they exist (O64, O69)")
		mount(m.certDir)
		m.isReady()
		state, err := dial(m.address(m.webhook), trusting(data["ca.crt"], dnsName))
		Expect(err).NotTo(HaveOccurred())
		Expect(state.PeerCertificates[0].Equal(cert)).To(BeTrue())

		By("answering the API server, which verifies the name of the Service (O70)")
		answersWebhooks(ctx)
	})

	It("O62: are trusted again when somebody takes the authority out", func(ctx SpecContext) {
		startReady(ctx, newSettings())
		want := authorities(ctx)()

		var validating admissionregistrationv1.ValidatingWebhookConfiguration
		Expect(plane.client.Get(ctx, client.ObjectKey{Name: validatingName}, &validating)).To(Succeed())
		for i := range validating.Webhooks {
			validating.Webhooks[i].ClientConfig.CABundle = nil
		}
		Expect(plane.client.Update(ctx, &validating)).To(Succeed())
		Eventually(authorities(ctx)).Should(Equal(want))
		answersWebhooks(ctx)
	})

	It("O59: are renewed 90 days early, by the same authority and without a restart", func(ctx SpecContext) {
		s := newSettings()
		old := issue(dnsName, 89*24*time.Hour)
		fillSecret(ctx, old)
		put(s.certDir, old.data())
		webhooksOn(ctx, s.webhook, nil)
		m := start(ctx, s)

		Eventually(func() []byte { return secretNow(ctx)()["tls.crt"] }).ShouldNot(Equal(old.cert))
		data := secretNow(ctx)()
		Expect(data["ca.crt"]).To(Equal(old.ca))
		Expect(parse(data["tls.crt"]).NotAfter).To(BeTemporally(">", time.Now().Add(300*24*time.Hour)))

		By("serving the old one until the kubelet brings the new one, then the new one")
		m.isReady()
		Expect(m.serves(old.ca)).To(Equal(parse(old.cert).NotAfter))
		mount(m.certDir)
		Eventually(func() (time.Time, error) { return m.serves(old.ca) }).Should(Equal(parse(data["tls.crt"]).NotAfter))
		answersWebhooks(ctx)
	})

	It("O59: stay as they are while they live long enough", func(ctx SpecContext) {
		old := issue(dnsName, 91*24*time.Hour)
		fillSecret(ctx, old)
		startReady(ctx, newSettings())
		Expect(secretNow(ctx)()).To(Equal(old.data()))
		Expect(authorities(ctx)()).To(Equal(everyWebhook(old.ca)))
	})

	It("O63: may not read or change any other Secret of the namespace", func(ctx SpecContext) {
		may := func(verb, name string) bool {
			GinkgoHelper()
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + system + ":" + account,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: system, Verb: verb, Resource: "secrets", Version: "v1", Name: name}}}
			Expect(plane.client.Create(ctx, review)).To(Succeed())
			return review.Status.Allowed
		}
		for _, verb := range []string{"get", "list", "watch", "update"} {
			Expect(may(verb, secretName)).To(BeTrue(), verb)
			Expect(may(verb, "another")).To(BeFalse(), verb)
			Expect(may(verb, "")).To(BeFalse(), verb)
		}
		Expect(may("create", secretName)).To(BeFalse())
	})

	It("O63: need the Secret, which the manager may not make", func(ctx SpecContext) {
		Expect(plane.client.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: secretName}})).To(Succeed())
		m := start(ctx, newSettings())
		Eventually(m.Session).Should(gexec.Exit(1))
		Expect(m.Err).To(gbytes.Say(`The manager stops.*` + secretName))
	})
})

// serves tells until when the certificate of the webhook server is valid.
func (m *manager) serves(ca []byte) (time.Time, error) {
	state, err := dial(m.address(m.webhook), trusting(ca, dnsName))
	if err != nil {
		return time.Time{}, err
	}
	return state.PeerCertificates[0].NotAfter, nil
}

var _ = Describe("Certificates from somebody else", func() {
	const metricsName = "jobset-controller-manager-metrics-service." + system + ".svc"

	// others is the configuration of config/overlays/certmanager, with certificates where
	// that mounts them.
	others := func(webhooks, metrics issued) settings {
		GinkgoHelper()
		s := newSettings()
		s.metricsCertDir = GinkgoT().TempDir()
		put(s.certDir, webhooks.data())
		put(s.metricsCertDir, metrics.data())
		s.more = "internalCertManagement: {enable: false}\n"
		return s
	}

	It("O25, O67, O69: are served to API server and scraper, without a right to Secrets, and read again when they change", func(ctx SpecContext) {
		withoutRightsToSecrets(ctx)
		webhooks, metrics := issue(dnsName, time.Hour), issue(metricsName, time.Hour)
		s := others(webhooks, metrics)
		webhooksOn(ctx, s.webhook, webhooks.ca)
		m := start(ctx, s)
		m.isReady()
		answersWebhooks(ctx)
		state, err := dial(m.address(m.metrics), trusting(metrics.ca, metricsName))
		Expect(err).NotTo(HaveOccurred())
		Expect(state.PeerCertificates[0].Equal(parse(metrics.cert))).To(BeTrue())

		By("leaving Secret and webhook configurations alone")
		Expect(secretNow(ctx)()).To(BeEmpty())
		Expect(authorities(ctx)()).To(Equal(everyWebhook(webhooks.ca)))

		By("serving a renewed certificate")
		renewed := issue(metricsName, 2*time.Hour)
		put(m.metricsCertDir, renewed.data())
		Eventually(func() error {
			_, err := dial(m.address(m.metrics), trusting(renewed.ca, metricsName))
			return err
		}).Should(Succeed())
	})

	It("O34, O74, O75: both servers speak TLS 1.3 if that is demanded, and never HTTP/2", func(ctx SpecContext) {
		webhooks, metrics := issue(dnsName, time.Hour), issue(metricsName, time.Hour)
		s := others(webhooks, metrics)
		s.more += "tls: {minVersion: VersionTLS13}\n"
		webhooksOn(ctx, s.webhook, webhooks.ca)
		m := start(ctx, s)
		m.isReady()
		answersWebhooks(ctx)
		for address, client := range m.clients(webhooks.ca, metrics.ca, metricsName) {
			client.NextProtos = []string{"h2", "http/1.1"}
			state, err := dial(address, client)
			Expect(err).NotTo(HaveOccurred())
			Expect(state.NegotiatedProtocol).To(Equal("http/1.1"))
			Expect(state.Version).To(Equal(uint16(tls.VersionTLS13)))

			client.MaxVersion = tls.VersionTLS12
			_, err = dial(address, client)
			Expect(err).To(MatchError(ContainSubstring("protocol version not supported")))
		}
	})

	It("O35, O75: both servers speak the cipher suites that are demanded", func(ctx SpecContext) {
		webhooks, metrics := issue(dnsName, time.Hour), issue(metricsName, time.Hour)
		s := others(webhooks, metrics)
		s.more += "tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]}\n"
		webhooksOn(ctx, s.webhook, webhooks.ca)
		m := start(ctx, s)
		m.isReady()
		for address, client := range m.clients(webhooks.ca, metrics.ca, metricsName) {
			client.MaxVersion = tls.VersionTLS12
			state, err := dial(address, client)
			Expect(err).NotTo(HaveOccurred())
			Expect(state.CipherSuite).To(Equal(tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384))

			client.CipherSuites = []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
			_, err = dial(address, client)
			Expect(err).To(MatchError(ContainSubstring("handshake failure")))
		}
	})
})

// clients are settings of clients of both servers, by address.
func (m *manager) clients(webhooksCA, metricsCA []byte, metricsName string) map[string]*tls.Config {
	return map[string]*tls.Config{
		m.address(m.webhook): trusting(webhooksCA, dnsName),
		m.address(m.metrics): trusting(metricsCA, metricsName),
	}
}

func pool(ca []byte) *x509.CertPool { return trusting(ca, "").RootCAs }

// withoutRightsToSecrets is what config/components/certmanager does, for one spec.
func withoutRightsToSecrets(ctx context.Context) {
	GinkgoHelper()
	binding := &rbacv1.RoleBinding{}
	Expect(plane.client.Get(ctx, client.ObjectKey{Namespace: system, Name: "jobset-manager-secrets-rolebinding"}, binding)).To(Succeed())
	Expect(plane.client.Delete(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		binding.ResourceVersion = ""
		Expect(plane.client.Create(ctx, binding)).To(Succeed())
	})
}
