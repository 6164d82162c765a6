/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/util/tlsconfig"
)

const (
	disabledAddress = "0"

	// renewJitter is the factor by which client-go extends the retry period when it renews
	// a lease; it refuses to run if two attempts do not fit.
	renewJitter = 1.2

	// maxWorkers is more than an API server could serve.
	maxWorkers = 1000
)

// Validate reports everything that is wrong with a configuration whose defaults are filled in.
// It does not check the names of feature gates; features.Apply does.
func Validate(cfg *configapi.Configuration) field.ErrorList {
	checks := []func(*configapi.Configuration) field.ErrorList{
		validateWebhook,
		validateMetrics,
		validateHealth,
		validateLeaderElection,
		validateTLS,
		validateInternalCertManagement,
		validateClientConnection,
		validateController,
		validateInPlaceRestart,
		validateAgent,
		validateFaultTolerance,
		validateElasticAutoscaling,
		validateNodeHealth,
	}
	var errs field.ErrorList
	for _, check := range checks {
		errs = append(errs, check(cfg)...)
	}
	return errs
}

func validateWebhook(cfg *configapi.Configuration) field.ErrorList {
	path := field.NewPath("webhook", "port")
	if cfg.Webhook.Port == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	errs := validateMessages(path, *cfg.Webhook.Port, validation.IsValidPortNum(*cfg.Webhook.Port))
	for _, server := range []struct{ field, address string }{
		{"metrics.bindAddress", cfg.Metrics.BindAddress}, {"health.healthProbeBindAddress", cfg.Health.HealthProbeBindAddress},
	} {
		if clash(net.JoinHostPort(cfg.Webhook.Host, strconv.Itoa(*cfg.Webhook.Port)), server.address) {
			errs = append(errs, field.Invalid(path, *cfg.Webhook.Port, "must differ from the port of "+server.field))
		}
	}
	return errs
}

func validateMetrics(cfg *configapi.Configuration) field.ErrorList {
	return validateAddress(cfg.Metrics.BindAddress, field.NewPath("metrics", "bindAddress"))
}

func validateHealth(cfg *configapi.Configuration) field.ErrorList {
	path := field.NewPath("health")
	ready := endpoint(cfg.Health.ReadinessEndpointName, "readyz")
	live := endpoint(cfg.Health.LivenessEndpointName, "healthz")

	errs := validateAddress(cfg.Health.HealthProbeBindAddress, path.Child("healthProbeBindAddress"))
	errs = append(errs, validateEndpoint(ready, path.Child("readinessEndpointName"))...)
	errs = append(errs, validateEndpoint(live, path.Child("livenessEndpointName"))...)
	if ready == live {
		errs = append(errs, field.Invalid(path.Child("livenessEndpointName"), live, "must differ from readinessEndpointName"))
	}
	if clash(cfg.Health.HealthProbeBindAddress, cfg.Metrics.BindAddress) {
		errs = append(errs, field.Invalid(path.Child("healthProbeBindAddress"), cfg.Health.HealthProbeBindAddress,
			"must differ from metrics.bindAddress"))
	}
	return errs
}

func endpoint(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return strings.TrimPrefix(name, "/")
}

// validateEndpoint refuses what a mux would take for a pattern.
func validateEndpoint(name string, path *field.Path) field.ErrorList {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, " \t{}?#%") {
			return field.ErrorList{field.Invalid(path, name, `must be a path such as "readyz"`)}
		}
	}
	return nil
}

// clash reports whether two servers cannot listen at the same time. Port 0 is any that is free, and "0" no server.
func clash(one, other string) bool {
	host, port, err := net.SplitHostPort(one)
	otherHost, otherPort, otherErr := net.SplitHostPort(other)
	if err != nil || otherErr != nil || port != otherPort || port == "0" {
		return false
	}
	everywhere := []string{"", "0.0.0.0", "::"}
	return host == otherHost || slices.Contains(everywhere, host) || slices.Contains(everywhere, otherHost)
}

// validateAddress allows port 0, with which the kernel picks a free one.
func validateAddress(address string, path *field.Path) field.ErrorList {
	if address == disabledAddress {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return field.ErrorList{field.Invalid(path, address, `must be host:port with a numeric port, such as ":8443", or "0" to disable the server`)}
	}
	return nil
}

func validateLeaderElection(cfg *configapi.Configuration) field.ErrorList {
	election := cfg.LeaderElection
	path := field.NewPath("leaderElection")
	if election == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	if !ptr.Deref(election.LeaderElect, false) {
		return nil // the rest is not used
	}
	lease, renew, retry := election.LeaseDuration.Duration, election.RenewDeadline.Duration, election.RetryPeriod.Duration
	var errs field.ErrorList
	if retry <= 0 {
		errs = append(errs, field.Invalid(path.Child("retryPeriod"), retry.String(), "must be greater than 0"))
	}
	if renew.Seconds() <= renewJitter*retry.Seconds() {
		errs = append(errs, field.Invalid(path.Child("renewDeadline"), renew.String(), "must be greater than 1.2 * retryPeriod"))
	}
	if lease <= renew {
		errs = append(errs, field.Invalid(path.Child("leaseDuration"), lease.String(), "must be greater than renewDeadline"))
	}
	if election.ResourceLock != configapi.DefaultResourceLock {
		errs = append(errs, field.NotSupported(path.Child("resourceLock"), election.ResourceLock, []string{configapi.DefaultResourceLock}))
	}
	errs = append(errs, validateMessages(path.Child("resourceName"), election.ResourceName,
		validation.IsDNS1123Subdomain(election.ResourceName))...)
	if election.ResourceNamespace != "" {
		errs = append(errs, validateMessages(path.Child("resourceNamespace"), election.ResourceNamespace,
			validation.IsDNS1123Label(election.ResourceNamespace))...)
	}
	return errs
}

func validateTLS(cfg *configapi.Configuration) field.ErrorList {
	_, errs := tlsconfig.Parse(cfg.TLS, field.NewPath("tls"))
	return errs
}

func validateInternalCertManagement(cfg *configapi.Configuration) field.ErrorList {
	certs := cfg.InternalCertManagement
	if certs == nil || !ptr.Deref(certs.Enable, false) {
		return nil
	}
	path := field.NewPath("internalCertManagement")
	service, secret := ptr.Deref(certs.WebhookServiceName, ""), ptr.Deref(certs.WebhookSecretName, "")
	errs := validateMessages(path.Child("webhookServiceName"), service, validation.IsDNS1035Label(service))
	return append(errs, validateMessages(path.Child("webhookSecretName"), secret, validation.IsDNS1123Subdomain(secret))...)
}

func validateClientConnection(cfg *configapi.Configuration) field.ErrorList {
	path := field.NewPath("clientConnection")
	if cfg.ClientConnection == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	qps := ptr.Deref(cfg.ClientConnection.QPS, 0)
	burst := ptr.Deref(cfg.ClientConnection.Burst, 0)
	var errs field.ErrorList
	if qps == 0 || math.IsNaN(float64(qps)) || math.IsInf(float64(qps), 0) {
		errs = append(errs, field.Invalid(path.Child("qps"), strconv.FormatFloat(float64(qps), 'g', -1, 32),
			"must be greater than 0, or negative for no limit"))
	}
	if qps >= 0 && burst < 1 {
		errs = append(errs, field.Invalid(path.Child("burst"), burst, "must be at least 1"))
	}
	return errs
}

func validateController(cfg *configapi.Configuration) field.ErrorList {
	if cfg.Controller == nil || cfg.Controller.MaxConcurrentReconciles == nil {
		return nil
	}
	if n := *cfg.Controller.MaxConcurrentReconciles; n < 1 || n > maxWorkers {
		path := field.NewPath("controller", "maxConcurrentReconciles")
		return field.ErrorList{field.Invalid(path, n, fmt.Sprintf("must be between 1 and %d", maxWorkers))}
	}
	return nil
}

// validateInPlaceRestart requires periods of at least one second, the resolution of times in the API.
func validateInPlaceRestart(cfg *configapi.Configuration) field.ErrorList {
	if cfg.InPlaceRestart == nil {
		return nil
	}
	path := field.NewPath("inPlaceRestart")
	var errs field.ErrorList
	for name, period := range map[string]*metav1.Duration{
		"assemblyGracePeriod":         cfg.InPlaceRestart.AssemblyGracePeriod,
		"preparationGracePeriod":      cfg.InPlaceRestart.PreparationGracePeriod,
		"forcefulDeletionGracePeriod": cfg.InPlaceRestart.ForcefulDeletionGracePeriod,
		"notReadyGracePeriod":         cfg.InPlaceRestart.NotReadyGracePeriod,
		"quickFailureMaxPause":        cfg.InPlaceRestart.QuickFailureMaxPause,
	} {
		if period != nil && period.Duration != 0 && period.Duration < time.Second {
			errs = append(errs, field.Invalid(path.Child(name), period.Duration.String(), "must be 0, for never, or at least 1s"))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

func validateMessages(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}
