/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// authorizer answers reviews instead of an API server.
type authorizer struct {
	asked  []string
	denied []string
	err    error
}

func (a *authorizer) create(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
	review, ok := obj.(*authorizationv1.SubjectAccessReview)
	if !ok {
		return c.Create(ctx, obj, opts...)
	}
	of := review.Spec.ResourceAttributes
	right := strings.TrimSpace(fmt.Sprintf("%s %s %s", of.Verb, of.Resource, of.Name))
	a.asked = append(a.asked, fmt.Sprintf("%s %v: %s in %s", review.Spec.User, review.Spec.Groups, right, of.Namespace))
	review.Status.Allowed = !slices.Contains(a.denied, right)
	return a.err
}

// assembling returns a JobSet whose agents have not reported for a minute, with its Jobs and Pods.
func assembling(t *testing.T) (*shell, *authorizer, *jobset.JobSet) {
	t.Helper()
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).
		ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(1).Workers(1)).Obj()
	js.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
	spec := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
	spec.ServiceAccountName = "trainer"
	spec.InitContainers = []corev1.Container{{Name: "agent", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), Env: []corev1.EnvVar{{Name: "JOBSET_NAME"}}}}
	job := builders.MakeJob(js, "w", 0).Workers(1).Obj()
	s := newShell(t, js, job)
	a := &authorizer{}
	s.client = interceptor.NewClient(s.client.(client.WithWatch), interceptor.Funcs{Create: a.create})
	s.reviewAccess = true
	pod := builders.MakePod(job, 0).Obj()
	cached(t, s, []*batchv1.Job{job}, pod)
	return s, a, js
}

func TestAccessOfAgents(t *testing.T) {
	t.Parallel()
	const who = "system:serviceaccount:ns:trainer [system:serviceaccounts system:serviceaccounts:ns system:authenticated]: "
	all := []string{who + "watch jobsets js in ns", who + "list jobsets js in ns", who + "patch pods in ns"}
	passes := func(t *testing.T, s *shell) time.Duration {
		t.Helper()
		result, err := pass(t, s)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	isDenied := func(t *testing.T, s *shell, js *jobset.JobSet) bool {
		return apimeta.IsStatusConditionTrue(stored(t, s, js).Status.Conditions, string(jobset.JobSetAgentAccessDenied))
	}

	t.Run("P153: the rights on Leases are asked about where they are needed, and are no reason to deny access", func(t *testing.T) {
		t.Parallel()
		s, a, js := assembling(t)
		a.denied = []string{"patch leases"}
		got := s.askAccess(t.Context(), js, &policy.Questions{AskAccess: []string{"trainer"}, AskLeases: true})["trainer"]
		if diff := cmp.Diff(append(all[:3:3], who+"create leases in ns", who+"patch leases in ns"), a.asked); diff != "" {
			t.Errorf("the API server was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(policy.AgentAccess{Asked: now, LacksLeases: []string{"patch leases"}}, got); diff != "" {
			t.Errorf("the answer (-want +got):\n%s", diff)
		}
	})
	t.Run("P56: an account is asked about once, its lack is told at once, and is asked about again", func(t *testing.T) {
		t.Parallel()
		s, a, js := assembling(t)
		a.denied = []string{"patch pods"}
		if after := passes(t, s); after != passInterval {
			t.Errorf("the answer is told in %s, want %s", after, passInterval)
		}
		if diff := cmp.Diff(all, a.asked); diff != "" {
			t.Errorf("the API server was asked (-want +got):\n%s", diff)
		}
		after := passes(t, s)
		if !isDenied(t, s, js) || len(a.asked) != len(all) {
			t.Errorf("denied: %v, asked %d times", isDenied(t, s, js), len(a.asked))
		}
		if told := strings.Join(s.Record.All(), "\n"); !strings.Contains(told, "event Warning AgentAccessDenied") || !strings.Contains(told, "account trainer may not patch pods") {
			t.Errorf("users were told:\n%s", told)
		}

		a.denied = nil
		s.Clock.SetTime(s.Clock.Now().Add(after))
		passes(t, s)
		passes(t, s)
		if isDenied(t, s, js) || len(a.asked) != 2*len(all) {
			t.Errorf("after it was granted: denied: %v, asked %d times", isDenied(t, s, js), len(a.asked))
		}
	})
	t.Run("P56: who may not ask logs it, and says nothing of the account", func(t *testing.T) {
		t.Parallel()
		s, a, js := assembling(t)
		a.err = errors.New("forbidden")
		passes(t, s)
		passes(t, s)
		if isDenied(t, s, js) || len(a.asked) != 1 {
			t.Errorf("denied: %v, asked %d times, want once", isDenied(t, s, js), len(a.asked))
		}
	})
	t.Run("P56: nobody is asked where that is not wanted", func(t *testing.T) {
		t.Parallel()
		s, a, _ := assembling(t)
		s.reviewAccess = false
		passes(t, s)
		if len(a.asked) > 0 {
			t.Errorf("asked: %v", a.asked)
		}
	})
}
