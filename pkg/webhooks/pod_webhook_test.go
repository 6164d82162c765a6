/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// register is an empty cache of Pods that counts its requests.
type register struct {
	client.Reader
	asked []string
}

func (r *register) List(_ context.Context, _ client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	r.asked = append(r.asked, options.Namespace+" "+options.FieldSelector.String())
	return nil
}

const podManifest = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"js-w-0-INDEX-abcde","namespace":"ns",
	"labels":{"jobset.sigs.k8s.io/jobset-name":"js","jobset.sigs.k8s.io/replicatedjob-name":"w","jobset.sigs.k8s.io/job-index":"0"},
	"annotations":{"jobset.sigs.k8s.io/jobset-name":"js","alpha.jobset.sigs.k8s.io/exclusive-topology":"rack","batch.kubernetes.io/job-completion-index":"INDEX"}}}`

func TestLookUpsOfLeaders(t *testing.T) {
	tests := map[string]struct {
		index string
		want  []string
	}{
		"C355: a follower costs one look-up of its leader, by the name of that": {"1", []string{"ns podName=js-w-0-0"}},
		"C355: a leader costs none": {"0", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			create := request(admissionv1.Create, strings.ReplaceAll(podManifest, "INDEX", tc.index), "")
			create.Namespace = "ns"
			for webhook, handle := range map[string]func(*podWebhook, context.Context, admission.Request) admission.Response{
				"mutating": (*podWebhook).mutate, "validating": (*podWebhook).validate,
			} {
				cache := &register{}
				handle(&podWebhook{reader: cache, decoder: admission.NewDecoder(scheme(t))}, t.Context(), create)
				if diff := cmp.Diff(tc.want, cache.asked); diff != "" {
					t.Errorf("what the %s webhook asked (-want +got):\n%s", webhook, diff)
				}
			}
		})
	}
}
