/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tlsconfig

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

func TestParse(t *testing.T) {
	const suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
	tests := map[string]struct {
		block   *configapi.TLSOptions
		want    Options
		wantErr []string // path and a part of the message
	}{
		"no block means TLS 1.2 (O34)":          {block: nil, want: Options{MinVersion: tls.VersionTLS12}},
		"an empty block means TLS 1.2 (O34)":    {block: &configapi.TLSOptions{}, want: Options{MinVersion: tls.VersionTLS12}},
		"TLS 1.3 can be demanded (O34)":         {block: &configapi.TLSOptions{MinVersion: "VersionTLS13"}, want: Options{MinVersion: tls.VersionTLS13}},
		"cipher suites are known by name (O35)": {block: &configapi.TLSOptions{CipherSuites: []string{suite}}, want: Options{MinVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}},
		"TLS 1.0 is refused by name (O34)": {
			block:   &configapi.TLSOptions{MinVersion: "VersionTLS10"},
			wantErr: []string{"tls: ", "VersionTLS10 is not secure"},
		},
		"TLS 1.1 is refused by name (O34)": {
			block:   &configapi.TLSOptions{MinVersion: "VersionTLS11"},
			wantErr: []string{"tls: ", "VersionTLS11 is not secure"},
		},
		"other names of versions are refused (O34)": {
			block:   &configapi.TLSOptions{MinVersion: "1.2"},
			wantErr: []string{"tls: ", "unknown version"},
		},
		"cipher suites with TLS 1.3 are refused (O35)": {
			block:   &configapi.TLSOptions{MinVersion: "VersionTLS13", CipherSuites: []string{suite}},
			wantErr: []string{"tls.cipherSuites: "},
		},
		"a bad version and every bad cipher suite are reported together (O35)": {
			block:   &configapi.TLSOptions{MinVersion: "x", CipherSuites: []string{"y", suite, "z"}},
			wantErr: []string{"unknown version", "suite y", "suite z"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, errs := Parse(tc.block, field.NewPath("tls"))
			err := errs.ToAggregate()
			if (err != nil) != (tc.wantErr != nil) {
				t.Fatalf("Parse() errors = %v, want %q", err, tc.wantErr)
			}
			if err == nil {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("Parse() (-want +got):\n%s", diff)
				}
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Parse() errors = %v, want %q in them", err, want)
				}
			}
		})
	}
}

func TestApply(t *testing.T) {
	config := &tls.Config{NextProtos: []string{"h2"}}
	Options{MinVersion: tls.VersionTLS13, CipherSuites: []uint16{1}}.Apply(config)
	if config.MinVersion != tls.VersionTLS13 || !cmp.Equal(config.CipherSuites, []uint16{1}) {
		t.Errorf("options did not arrive (O75): version %x, suites %v", config.MinVersion, config.CipherSuites)
	}
	if !cmp.Equal(config.NextProtos, []string{"h2"}) {
		t.Errorf("the tls block says nothing about protocols, got %v", config.NextProtos)
	}
	HTTP1Only(config)
	if !cmp.Equal(config.NextProtos, []string{"http/1.1"}) {
		t.Errorf("servers speak HTTP/1.1 alone (O74, O513), got %v", config.NextProtos)
	}
}
