/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook tests admission through the API server: schema, defaulting and validation together.
package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	testcluster "sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
)

func TestWebhook(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "JobSet admission")
}

var cluster *framework.Cluster

// The specs run with every gate on; those about a gate that is off are in gates_off_test.go.
var _ = BeforeSuite(func() {
	cluster = framework.Start(framework.AllGatesOn)
})

// needs leaves out a spec on an API server that is older.
func needs(version int, what string) {
	GinkgoHelper()
	server, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	Expect(err).NotTo(HaveOccurred())
	minor, err := testcluster.Minor(server)
	Expect(err).NotTo(HaveOccurred())
	if minor < version {
		Skip(testcluster.Lacks(minor, version, what))
	}
}

// user writes JobSets.
type user struct {
	*framework.User
	context context.Context
}

func newUser(ctx context.Context) *user { return &user{cluster.NewUser(ctx), ctx} }

// newRestrictedUser has a namespace that enforces Pod Security restricted from the start: the API server hears late of a label
// that comes later.
func newRestrictedUser(ctx context.Context) *user {
	GinkgoHelper()
	u := newUser(ctx)
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "restricted-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	Expect(u.Client.Create(ctx, space)).To(Succeed())
	u.Space = space.Name
	return u
}

// admits a JobSet and returns it as stored.
func (u *user) admits(js *jobset.JobSet) *jobset.JobSet {
	GinkgoHelper()
	js = js.DeepCopy()
	js.Namespace = u.Space
	Expect(u.Client.Create(u.context, js)).To(Succeed())
	return js
}

// sends a manifest as it is written: what it leaves out is not sent.
func (u *user) sends(spec map[string]any) (*jobset.JobSet, error) {
	GinkgoHelper()
	raw := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
		"metadata": map[string]any{"name": "js", "namespace": u.Space},
		"spec":     spec,
	}}
	if err := u.Client.Create(u.context, raw); err != nil {
		return nil, err
	}
	stored := &jobset.JobSet{}
	Expect(u.Client.Get(u.context, client.ObjectKeyFromObject(raw), stored)).To(Succeed())
	return stored, nil
}

// replaces the JobSet js by a manifest as it is written.
func (u *user) replaces(spec map[string]any) error {
	GinkgoHelper()
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(jobset.GroupVersion.WithKind(jobset.Kind))
	Expect(u.Client.Get(u.context, client.ObjectKey{Namespace: u.Space, Name: "js"}, raw)).To(Succeed())
	raw.Object["spec"] = spec
	return u.Client.Update(u.context, raw)
}

// refuses a JobSet and returns the answer.
func (u *user) refuses(js *jobset.JobSet) metav1.Status {
	GinkgoHelper()
	js = js.DeepCopy()
	js.Namespace = u.Space
	return answer(u.Client.Create(u.context, js))
}

// changes a stored JobSet.
func (u *user) changes(js *jobset.JobSet, change func(*jobset.JobSet)) error {
	GinkgoHelper()
	stored := &jobset.JobSet{}
	Expect(u.Client.Get(u.context, client.ObjectKeyFromObject(js), stored)).To(Succeed())
	change(stored)
	return u.Client.Update(u.context, stored)
}

// answer is the Status of an error, which must be 422 Invalid.
func answer(err error) metav1.Status {
	GinkgoHelper()
	var status apierrors.APIStatus
	Expect(errors.As(err, &status)).To(BeTrue(), "not an answer of the API server: %v", err)
	Expect(status.Status().Code).To(BeEquivalentTo(422), "%v", err)
	Expect(status.Status().Reason).To(Equal(metav1.StatusReasonInvalid))
	return status.Status()
}

// cause is one violation: its path, its type, and a part of what it says.
type cause struct {
	Field string
	Type  metav1.CauseType
	Text  string
}

func invalid(path, text string) cause  { return cause{path, metav1.CauseTypeFieldValueInvalid, text} }
func required(path, text string) cause { return cause{path, metav1.CauseTypeFieldValueRequired, text} }
func forbidden(path, text string) cause {
	return cause{path, "FieldValueForbidden", text}
}

// immutableValue is what admission says of a field that cannot change.
func immutableValue(path string) cause { return invalid(path, "Value is immutable") }

// plain is a violation without a path, as clients know some of the rules.
func plain(text string) cause { return cause{"<nil>", "InternalError", text} }

// ofWebhook checks who answered, and that the violations are these and no others.
func ofWebhook(status metav1.Status, wanted ...cause) {
	GinkgoHelper()
	Expect(status.Message).To(HavePrefix(`admission webhook "vjobset.kb.io" denied the request: JobSet.jobset.x-k8s.io "`))
	Expect(status.Details.Group).To(Equal("jobset.x-k8s.io"))
	Expect(status.Details.Kind).To(Equal("JobSet"))
	var got []cause
	for _, c := range status.Details.Causes {
		seen := cause{c.Field, c.Type, c.Message}
		for _, want := range wanted {
			if seen.Field == want.Field && seen.Type == want.Type && strings.Contains(seen.Text, want.Text) {
				seen = want
				break
			}
		}
		got = append(got, seen)
	}
	Expect(got).To(ConsistOf(wanted))
}

// ofSchema checks that the API server itself refused, before any webhook.
func ofSchema(status metav1.Status, path, text string) {
	GinkgoHelper()
	Expect(status.Message).NotTo(ContainSubstring("admission webhook"))
	Expect(status.Message).To(And(ContainSubstring(path), ContainSubstring(text)))
}
