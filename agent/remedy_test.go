/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTheRemedy(t *testing.T) {
	t.Parallel()
	const (
		policy = `pods "a" is forbidden: ValidatingAdmissionPolicy 'jobset-agent' with binding 'jobset-agent' denied request: `
		user   = `User "system:serviceaccount:default:default" cannot `
	)
	answer := func(code int, message string) error {
		return fmt.Errorf("listing: %w", &statusError{code: code, reason: http.StatusText(code), message: message})
	}
	for name, tc := range map[string]struct {
		what operation
		err  error
		want string
	}{
		"P36, C301: no role to watch": {watching,
			answer(403, `jobsets.jobset.x-k8s.io "train" is forbidden: `+user+`watch resource "jobsets"`),
			"the account of the Pod needs the rights to list and watch jobsets: if the manager added this agent to the Pod, see condition AgentAccessDenied of the JobSet; otherwise set serviceAccountName: jobset-agent"},
		"P36, C301: no role to report": {reporting,
			answer(403, `pods "a" is forbidden: `+user+`patch resource "pods"`),
			"the account of the Pod needs the right to patch pods: if the manager added this agent to the Pod, see condition AgentAccessDenied of the JobSet; otherwise bind it to ClusterRole jobset-agent"},
		"P36, C301: a token that is not bound to a Pod": {reporting,
			answer(403, policy+"the account jobset-agent may change Pods only with a token that is bound to a Pod, such as the one mounted into it"),
			"the token is not bound to a Pod: let the Pod use the one that is mounted into it"},
		"P36, C301: the token of another Pod": {reporting,
			answer(403, policy+"an agent may change only the Pod its token is bound to, which is b"),
			"the token is that of another Pod"},
		"P36: a webhook that changes Pods is denied under the name of the agent": {reporting,
			answer(403, policy+"an agent may not change labels, only the annotation jobset.sigs.k8s.io/epoch"),
			"a mutating webhook changed more of the Pod in the same request"},
		"P36: another version of the policy": {reporting,
			answer(422, policy+"the annotation jobset.sigs.k8s.io/epoch must be a decimal number from 1 to 2147483647"),
			"agent and admission policy jobset-agent are of different versions"},
		"P36: the policy of somebody else": {reporting,
			answer(422, `pods "a" is forbidden: ValidatingAdmissionPolicy 'owners.example.com' with binding 'all' denied request: no`),
			"admission policy owners.example.com refuses the report: let it pass updates of Pods that change nothing but the annotations " +
				"jobset.sigs.k8s.io/epoch, jobset.sigs.k8s.io/worker-exit, jobset.sigs.k8s.io/progress and jobset.sigs.k8s.io/address"},
		"P36: a webhook that refuses": {reporting,
			answer(403, `admission webhook "pods.example.com" denied the request: no`),
			"webhook pods.example.com refuses the report: let it pass updates of Pods that change nothing but the annotations " +
				"jobset.sigs.k8s.io/epoch, jobset.sigs.k8s.io/worker-exit, jobset.sigs.k8s.io/progress and jobset.sigs.k8s.io/address"},
		"P36: a webhook that is away": {reporting,
			answer(500, `Internal error occurred: failed calling webhook "pods.example.com": failed to call webhook: connection refused`),
			"webhook pods.example.com does not respond"},
		"P36: a token that is not valid, watching":  {watching, answer(401, "Unauthorized"), "the token is invalid or has expired"},
		"P36: a token that is not valid, reporting": {reporting, answer(401, "Unauthorized"), "the token is invalid or has expired"},
		"P36: no such API":                          {watching, answer(404, "404 page not found"), "install the CustomResourceDefinition"},
		"P36: no such Pod":                          {reporting, answer(404, `pods "a" not found`), "let POD_NAME and NAMESPACE come from the downward API"},
		"what passes by itself: a full queue":       {reporting, answer(429, "too many requests"), ""},
		"what passes by itself: a conflict":         {reporting, answer(409, "the object has been modified"), ""},
		"what passes by itself: a server in trouble": {
			watching, answer(500, "etcdserver: leader changed"), ""},
		"what passes by itself: no connection": {watching, errors.New("connection refused"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := remedy(tc.what, tc.err)
			if !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("remedy %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheRemedyForALease(t *testing.T) {
	t.Parallel()
	const forbidden, user = `leases.coordination.k8s.io "jobset.a" is forbidden: `, `User "system:serviceaccount:default:default" cannot `
	for name, tc := range map[string]struct {
		code          int
		message, want string
	}{
		"P153: no right to write Leases": {403, forbidden + user + `patch resource "leases" in API group "coordination.k8s.io"`,
			"needs the rights to create and patch leases: install the admission policy jobset-agent-leases, and the manager grants them; with inPlaceRestart.createAccess: false bind"},
		"P153: a quota": {403, forbidden + "exceeded quota: compute, requested: count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=8",
			"ResourceQuota compute leaves no room: let it admit a Lease for each worker Pod"},
		"P153: the Lease of somebody else": {403, forbidden + byLeasePolicy + " with binding 'x' denied request: the Lease was not created by the agent of this Pod, and is left to whoever did",
			"another object has the name of this agent's Lease: delete that Lease"},
		"P153: another version of the policy": {422, forbidden + byLeasePolicy + " with binding 'x' denied request: the Lease of an agent may have no annotation but",
			"install the policy of this version"},
		"P153: the policy of somebody else":      {403, forbidden + byPolicy + "owners' with binding 'all' denied request: no", "admission policy owners refuses the Lease"},
		"P153: a webhook that refuses":           {403, byWebhook + `all.example.com" denied the request: no`, "webhook all.example.com refuses the Lease"},
		"P153: a webhook that is away":           {500, byDeadWebhook + `all.example.com": connection refused`, "webhook all.example.com does not respond"},
		"P153: something that has never been so": {403, forbidden + "no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := fmt.Errorf("sending: %w", &statusError{code: tc.code, message: tc.message})
			if got := remedy(inLeases, err); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("remedy %q, want %q", got, tc.want)
			}
			if !refusesLease(err) {
				t.Error("the report does not go to the Pod")
			}
		})
	}
}

func TestWhatIsMissingIsSaidOnceAndInOneLine(t *testing.T) {
	bubble(t, "P36, C301: an agent without a role goes on trying, says how to give it, and works when it is given", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			refuse(w, http.StatusForbidden, "Forbidden", `jobsets "train" is forbidden: User "default" cannot watch resource "jobsets"`, 0)
			return true
		})
		a := startAgent(t, fake, "a")
		pass(time.Hour)
		a.want(t, false)
		lines := 0
		for line := range strings.Lines(a.log.String()) {
			if strings.Contains(line, "level=WARN") {
				lines++
				if !strings.Contains(line, "cannot watch resource") || !strings.Contains(line, "fix=") || !strings.Contains(line, "RoleBinding") {
					t.Errorf("the line does not say what is missing: %s", line)
				}
			}
		}
		if lines != 1 {
			t.Errorf("%d lines, want 1:\n%s", lines, a.log)
		}
		fake.meddle(nil)
		pass(6 * time.Second)
		wantReport(t, fake, "a", "1")
	})
}
