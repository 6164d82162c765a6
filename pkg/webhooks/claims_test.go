/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// shelf is a reader of claims that records its requests.
type shelf struct {
	client.Reader

	claims map[client.ObjectKey]corev1.PersistentVolumeClaim
	err    error
	asked  []client.ObjectKey
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s.asked = append(s.asked, key)
	if s.err != nil {
		return s.err
	}
	claim, found := s.claims[key]
	if !found {
		return apierrors.NewNotFound(corev1.Resource("persistentvolumeclaims"), key.Name)
	}
	claim.DeepCopyInto(obj.(*corev1.PersistentVolumeClaim))
	return nil
}

const claimManifest = `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js","namespace":"ns"},"spec":{
	"volumeClaimPolicies":[{"retentionPolicy":{"whenDeleted":"Delete"},"templates":[{"metadata":{"name":"data"}}]}],
	"replicatedJobs":[{"name":"w","groupName":"default","template":{"spec":{"completionMode":"Indexed","template":{"spec":{
		"containers":[{"name":"c","volumeMounts":[{"name":"data","mountPath":"/data"}]}]}}}}}]}}`

func TestClaims(t *testing.T) {
	key := client.ObjectKey{Namespace: "ns", Name: "data-js"}
	exists := map[client.ObjectKey]corev1.PersistentVolumeClaim{key: {}}
	create := func(ctx context.Context, s *shelf, object string) admission.Response {
		return admission.WithValidator(scheme(t), jobSetValidator{claims: s}).Handle(ctx, request(admissionv1.Create, object, ""))
	}
	refused := func(t *testing.T, resp admission.Response, text string) {
		t.Helper()
		if resp.Allowed || !strings.Contains(resp.Result.Message, text) {
			t.Errorf("got %v", resp)
		}
	}
	t.Run("W69, W70: the claims of a new JobSet are looked for in its namespace", func(t *testing.T) {
		s := &shelf{claims: exists}
		refused(t, create(t.Context(), s, claimManifest), "retentionPolicy must be retain when PVC exists")
		if diff := cmp.Diff([]client.ObjectKey{key}, s.asked); diff != "" {
			t.Errorf("asked for (-want +got):\n%s", diff)
		}
	})
	t.Run("W69, W70: a claim that is not there is no matter", func(t *testing.T) {
		if resp := create(t.Context(), &shelf{}, claimManifest); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("W71: a claim that cannot be read is a violation, with the cause", func(t *testing.T) {
		refused(t, create(t.Context(), &shelf{err: errors.New("etcd is tired")}, claimManifest),
			"spec.volumeClaimPolicies[0].templates[0]: Internal error: failed to check for existing PVC data-js: etcd is tired")
	})
	t.Run("W71: when the request is out of time, nobody is asked any more", func(t *testing.T) {
		late, cancel := context.WithCancel(t.Context())
		cancel()
		s := &shelf{claims: exists}
		refused(t, create(late, s, claimManifest), "failed to check for existing PVC data-js: context canceled")
		if len(s.asked) > 0 {
			t.Errorf("asked for %v", s.asked)
		}
	})
	t.Run("W69: a JobSet without claims asks for none, and neither does an update", func(t *testing.T) {
		s := &shelf{claims: exists}
		if resp := create(t.Context(), s, manifest); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
		hook := admission.WithValidator(scheme(t), jobSetValidator{claims: s})
		if resp := hook.Handle(t.Context(), request(admissionv1.Update, claimManifest, claimManifest)); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
		if len(s.asked) > 0 {
			t.Errorf("asked for %v", s.asked)
		}
	})
}
