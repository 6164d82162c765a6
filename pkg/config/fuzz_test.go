/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzDecode checks that no file makes the manager panic, and that the configuration it
// logs at its start (O16) decodes to the same configuration (O14, O43).
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", head, encodedDefaults, encodedEmpty, "---\n" + head, head + "---\n" + head, "{", "null", "\x00",
		head + "webhook: {port: 0}\nwebhook: {port: 1}\n",
		head + "tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}\n",
		head + "leaderElection: {leaderElect: true, leaseDuration: -1ns, renewDeadline: 1h1m1s, retryPeriod: 0s}\n",
		head + "clientConnection: {qps: 1e38, burst: -2147483648}\nfeatureGates: {InPlaceRestart: true}\n",
		head + "internalCertManagement: {enable: false}\ncontroller: {maxConcurrentReconciles: 4}\n",
		head + "health: {healthProbeBindAddress: '[::1]:0', readinessEndpointName: '{x}', livenessEndpointName: '%2f'}\n",
		`{"apiVersion":"config.jobset.x-k8s.io/v1alpha1","kind":"Configuration","webhook":{"port":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Decode(data)
		if err != nil {
			return
		}
		valid := Validate(cfg)
		encoded, err := Encode(cfg)
		if err != nil {
			t.Fatalf("%q is read but cannot be written: %v", data, err)
		}
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("%q is written as %q, which cannot be read: %v", data, encoded, err)
		}
		again.TypeMeta = cfg.TypeMeta // of a file that names none
		if diff := cmp.Diff(cfg, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q changes when it is written and read (-first +second):\n%s", data, diff)
		}
		if len(valid) != len(Validate(again)) {
			t.Errorf("%q is valid once and invalid once: %v", data, valid)
		}
	})
}
