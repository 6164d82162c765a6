/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
)

var options = Options{
	Namespace:   "jobset-system",
	ServiceName: "jobset-webhook-service",
	SecretName:  "jobset-webhook-server-cert",
	Dir:         "/certs",
}

func TestNewRotator(t *testing.T) {
	got := newRotator(options)

	if got.CAName != "jobset-ca" || got.CAOrganization != "jobset" {
		t.Errorf("CA is %s of %s, want jobset-ca of jobset (O59)", got.CAName, got.CAOrganization)
	}
	if got.DNSName != "jobset-webhook-service.jobset-system.svc" || got.ExtraDNSNames != nil {
		t.Errorf("names are %s and %v, want the Service alone (O60)", got.DNSName, got.ExtraDNSNames)
	}
	if want := (types.NamespacedName{Namespace: "jobset-system", Name: "jobset-webhook-server-cert"}); got.SecretKey != want {
		t.Errorf("secret is %s, want %s (O61)", got.SecretKey, want)
	}
	if got.CertName != "tls.crt" || got.KeyName != "tls.key" || got.CertDir != "/certs" {
		t.Errorf("files are %s and %s in %s, want tls.crt and tls.key in /certs (O61)", got.CertName, got.KeyName, got.CertDir)
	}
	want := []rotator.WebhookInfo{
		{Name: "jobset-validating-webhook-configuration", Type: rotator.Validating},
		{Name: "jobset-mutating-webhook-configuration", Type: rotator.Mutating},
	}
	if diff := cmp.Diff(want, got.Webhooks); diff != "" {
		t.Errorf("objects that get the CA (O62) (-want +got):\n%s", diff)
	}
	if got.NeedLeaderElection() {
		t.Error("the rotator runs on the leader only, want every replica (O65)")
	}
}

func TestNamespace(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		content *string
		want    string
	}{
		"the namespace of the Pod (O58)":               {content: new("team-a\n"), want: "team-a"},
		"outside a Pod, the usual one (O58)":           {content: nil, want: "jobset-system"},
		"an empty file says nothing, so the usual one": {content: new(""), want: "jobset-system"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "namespace")
			_ = os.Remove(file)
			if tc.content != nil {
				if err := os.WriteFile(file, []byte(*tc.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := namespaceFrom(file); got != tc.want {
				t.Errorf("namespaceFrom() = %q, want %q", got, tc.want)
			}
		})
	}
}
