/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tlsconfig turns the tls block of the configuration into server settings.
package tlsconfig

import (
	"crypto/tls"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	cliflag "k8s.io/component-base/cli/flag"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

const (
	version12 = "VersionTLS12"
	version13 = "VersionTLS13"
)

// Options are the settings that Parse found.
type Options struct {
	// MinVersion is the oldest version of TLS that clients may use.
	MinVersion uint16
	// CipherSuites are the suites that clients of TLS 1.2 may use; nil leaves it to Go.
	CipherSuites []uint16
}

// Parse reads the tls block, which may be nil. It reports everything that is wrong with it.
func Parse(block *configapi.TLSOptions, path *field.Path) (Options, field.ErrorList) {
	if block == nil {
		return Options{MinVersion: cliflag.DefaultTLSVersion()}, nil
	}
	var errs field.ErrorList
	minVersion, err := parseVersion(block.MinVersion)
	if err != nil {
		errs = append(errs, field.Invalid(path, block.MinVersion, "minVersion: "+err.Error()))
	}
	var suites []uint16
	for _, name := range block.CipherSuites {
		// One at a time, since the helper stops at the first unknown name.
		ids, err := cliflag.TLSCipherSuites([]string{name})
		if err != nil {
			errs = append(errs, field.Invalid(path, name, "cipherSuites: "+err.Error()))
			continue
		}
		suites = append(suites, ids...)
	}
	if minVersion == tls.VersionTLS13 && len(block.CipherSuites) > 0 {
		errs = append(errs, field.Invalid(path.Child("cipherSuites"), block.CipherSuites,
			"must be empty with minVersion "+version13+": the cipher suites of TLS 1.3 cannot be chosen"))
	}
	return Options{MinVersion: minVersion, CipherSuites: suites}, errs
}

func parseVersion(name string) (uint16, error) {
	switch name {
	case "", version12:
		return tls.VersionTLS12, nil
	case version13:
		return tls.VersionTLS13, nil
	case "VersionTLS10", "VersionTLS11":
		return 0, fmt.Errorf("%s is not secure, use %s or %s", name, version12, version13)
	default:
		return 0, fmt.Errorf("unknown version, use %s or %s", version12, version13)
	}
}

// Apply sets the options in a server configuration.
func (o Options) Apply(config *tls.Config) {
	config.MinVersion = o.MinVersion
	config.CipherSuites = o.CipherSuites
}

// HTTP1Only disables HTTP/2, whose stream resets have been used to exhaust servers. Neither
// the API server nor a scraper sends enough concurrent requests to need HTTP/2.
func HTTP1Only(config *tls.Config) {
	config.NextProtos = []string{"http/1.1"}
}
