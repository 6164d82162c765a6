/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// reviewer answers what accounts may do, and records what it was asked.
type reviewer struct {
	client.Writer

	allows []string
	err    error
	asked  []string
}

func (r *reviewer) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	spec := obj.(*authorizationv1.SubjectAccessReview).Spec
	right := spec.User + " " + spec.ResourceAttributes.Verb
	if spec.ResourceAttributes.Group == "coordination.k8s.io" {
		right += " Leases"
	}
	r.asked = append(r.asked, right)
	obj.(*authorizationv1.SubjectAccessReview).Status.Allowed = slices.Contains(r.allows, right)
	return r.err
}

func TestAccountsThatLoseRights(t *testing.T) {
	inPlace := strings.NewReplacer(`"maxRestarts":0`, `"maxRestarts":1,"restartStrategy":"InPlaceRestart","inPlaceRestart":{"mode":"Process"}`,
		`{"name":"c"}`, `{"name":"c","command":["c"]}`).Replace(manifest)
	const (
		user   = "system:serviceaccount::default "
		path   = "spec.replicatedJobs[0].template.spec.template.spec.serviceAccountName: service account default "
		pods   = path + "may patch Pods of this namespace; while this JobSet exists, the admission policy jobset-agent allows"
		leases = path + "may patch Leases of this namespace and not update them; while this JobSet exists, the admission policy jobset-agent-leases allows"
	)
	for name, tc := range map[string]struct {
		manifest string
		reviewer reviewer
		warns    []string
		asks     []string
	}{
		"an account that may not patch Pods": {inPlace, reviewer{}, nil, []string{user + "patch", user + "patch Leases"}},
		"an account that may patch Pods": {inPlace, reviewer{allows: []string{user + "patch"}}, []string{pods},
			[]string{user + "patch", user + "patch Leases", user + "report", user + "update"}},
		"an account that other JobSets have made one of agents": {inPlace, reviewer{allows: []string{user + "patch", user + "patch Leases", user + "report"}},
			nil, []string{user + "patch", user + "patch Leases", user + "report"}},
		"an account that may update Pods, which the policy leaves alone": {inPlace, reviewer{allows: []string{user + "patch", user + "update"}},
			nil, []string{user + "patch", user + "patch Leases", user + "report", user + "update"}},
		"P153c: an account of a leader election that patches": {inPlace, reviewer{allows: []string{user + "patch Leases"}}, []string{leases},
			[]string{user + "patch", user + "patch Leases", user + "report", user + "update Leases"}},
		"P153c: an account of a leader election that updates, which the policy leaves alone": {inPlace, reviewer{allows: []string{user + "patch Leases", user + "update Leases"}},
			nil, []string{user + "patch", user + "patch Leases", user + "report", user + "update Leases"}},
		"P153c: an account that may patch both": {inPlace, reviewer{allows: []string{user + "patch", user + "patch Leases"}}, []string{pods, leases},
			[]string{user + "patch", user + "patch Leases", user + "report", user + "update", user + "update Leases"}},
		"an API server that does not answer":         {inPlace, reviewer{err: errors.New("etcd is down")}, nil, []string{user + "patch"}},
		"a JobSet that does not restart in place":    {manifest, reviewer{allows: []string{user + "patch"}}, nil, nil},
		"a JobSet that is refused for other reasons": {strings.Replace(inPlace, `"maxRestarts":1`, `"maxRestarts":-1`, 1), reviewer{}, nil, nil},
	} {
		t.Run("P56: "+name, func(t *testing.T) {
			defaulted := &jobset.JobSet{}
			if err := admission.NewDecoder(scheme(t)).DecodeRaw(request(admissionv1.Create, tc.manifest, "").Object, defaulted); err != nil {
				t.Fatal(err)
			}
			Default(defaulted, gates.Set{InPlaceRestart: true})
			validator := jobSetValidator{gates: gates.Set{InPlaceRestart: true}, reviews: &tc.reviewer, asking: make(chan struct{}, 1)}
			validator.cluster.AgentImage = "agent"
			warnings, err := validator.ValidateCreate(t.Context(), defaulted)
			if (err != nil) != strings.Contains(tc.manifest, "-1") {
				t.Fatal(err)
			}
			var warned []string
			for _, warning := range warnings {
				if text, _, ok := strings.Cut(warning, " it only what agents do"); ok {
					warned = append(warned, text)
				}
			}
			if diff := cmp.Diff(tc.warns, warned); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.asks, tc.reviewer.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("P56: thousands of accounts cost ten times five requests", func(t *testing.T) {
		js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 1).Obj()
		for i := range 1000 {
			rjob := builders.MakeReplicatedJob("w").Obj()
			rjob.Template.Spec.Template.Spec.ServiceAccountName = strings.Repeat("a", i%100+1)
			js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, rjob)
		}
		r := &reviewer{}
		accountWarnings(t.Context(), r, js)
		if want := 2 * maxReviewedAccounts; len(r.asked) != want { // the first two say that they lose nothing
			t.Errorf("%d requests, want %d", len(r.asked), want)
		}
	})
}
