/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"net/http"
	"strings"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// operation names a request of an agent, for the log.
type operation string

const (
	watching  operation = "watching the JobSet"
	reporting operation = "reporting the epoch"
	inLeases  operation = "reporting in the Lease"
)

// Parts of error messages of an API server.
const (
	byWebhook     = `admission webhook "`
	byDeadWebhook = `failed calling webhook "`
	byPolicy      = "ValidatingAdmissionPolicy '"
	byOurPolicy   = byPolicy + "jobset-agent'"
	byLeasePolicy = byPolicy + "jobset-agent-leases'"
	byQuota       = "exceeded quota: "
)

// addedByManager is what to do about rights that the manager grants. The agent cannot know who wrote its template.
const addedByManager = "if the manager added this agent to the Pod, see condition AgentAccessDenied of the JobSet; otherwise "

// reportKeys are the annotations in which agents report. In container mode they write only the first.
const reportKeys = "the annotations " + epochKey + ", " + protocol.WorkerExitKey + ", " + protocol.ProgressKey + " and " + protocol.AddressKey

// remedy returns what a person has to do about an error of the API server, or "" for an error that
// may go away by itself. The agent keeps retrying in any case: most of these problems can be fixed
// while it runs. If a report in the Lease is refused, it goes to the Pod meanwhile.
func remedy(what operation, err error) string {
	var status *statusError
	if !errors.As(err, &status) {
		return ""
	}
	refuses, dead := " refuses the report: let it pass updates of Pods that change nothing but "+reportKeys, "updates of Pods"
	if what == inLeases {
		refuses, dead = " refuses the Lease: exclude Leases of agents from its rules", "Leases"
	}
	switch message, forbidden := status.message, status.code == http.StatusForbidden; {
	case strings.Contains(message, byWebhook):
		return "webhook " + quoted(message, byWebhook, `"`) + refuses
	case strings.Contains(message, byDeadWebhook):
		return "webhook " + quoted(message, byDeadWebhook, `"`) + " does not respond: repair it, or exclude " + dead + " from its rules"
	case strings.Contains(message, byOurPolicy):
		return byAgentPolicy(message)
	case strings.Contains(message, byLeasePolicy) && strings.Contains(message, "was not created by the agent of this Pod"):
		return "another object has the name of this agent's Lease: delete that Lease"
	case strings.Contains(message, byLeasePolicy):
		return "agent and admission policy jobset-agent-leases are of different versions, or a mutating webhook changed more of the Lease: " +
			"install the policy of this version, or exclude Leases from the webhook's rules"
	case strings.Contains(message, byPolicy):
		return "admission policy " + quoted(message, byPolicy, "'") + refuses
	case what == inLeases && strings.Contains(message, byQuota):
		return "ResourceQuota " + quoted(message, byQuota, ",") + " leaves no room: let it admit a Lease for each worker Pod (count/leases.coordination.k8s.io)"
	case what == inLeases && forbidden && strings.Contains(message, `resource "leases"`):
		return "the account of the Pod needs the rights to create and patch leases: install the admission policy jobset-agent-leases, and the " +
			"manager grants them; with inPlaceRestart.createAccess: false bind the account to ClusterRole jobset-agent of this version"
	case what == inLeases:
		return ""
	case status.code == http.StatusUnauthorized:
		return "the token is invalid or has expired: let the Pod use the one that is mounted into it (no Secret, no kubeconfig of " +
			"another cluster); if it does, check the clock of the node and the log of its kubelet"
	case forbidden && what == watching:
		return "the account of the Pod needs the rights to list and watch jobsets: " + addedByManager + "set serviceAccountName: " +
			"jobset-agent in the Pod template, or bind the account to ClusterRole jobset-agent by a RoleBinding in the Pod's namespace"
	case forbidden:
		return "the account of the Pod needs the right to patch pods: " + addedByManager + "bind it to ClusterRole jobset-agent by a " +
			"RoleBinding in the Pod's namespace, or set serviceAccountName: jobset-agent in the Pod template"
	case status.code == http.StatusNotFound && what == watching:
		return "the API server does not know JobSets of " + jobSetGroupVersion + ": install the CustomResourceDefinition"
	case status.code == http.StatusNotFound:
		return "the Pod does not exist: if it was not just deleted, let " + envPodName + " and " + envNamespace +
			" come from the downward API (metadata.name, metadata.namespace)"
	}
	return ""
}

// byAgentPolicy handles the messages of the policy that comes with the agent.
func byAgentPolicy(message string) string {
	switch {
	case strings.Contains(message, "only with a token that is bound to a Pod"):
		return "the token is not bound to a Pod: let the Pod use the one that is mounted into it, or a projected volume with a " +
			"serviceAccountToken; a Secret and " + envKubeconfig + " do not hold such a token"
	case strings.Contains(message, "the Pod its token is bound to"):
		return "the token is that of another Pod: let the Pod use the one that is mounted into it, and let " + envPodName +
			" come from the downward API (metadata.name)"
	case strings.Contains(message, "must be a decimal number"):
		return "agent and admission policy jobset-agent are of different versions: install the policy of this version"
	}
	return "the agent sent nothing but " + reportKeys + ", so a mutating webhook changed more of the Pod in the same " +
		"request: exclude updates of Pods, or this account, from its rules"
}

// quoted returns what is between two texts.
func quoted(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	name, _, _ := strings.Cut(rest, after)
	return name
}
