/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// all turns on all that makes objects of its own.
const all = `{certManager: {enable: true}, prometheus: {enable: true}, agentAccess: {enable: true, namespaces: [team-a]},
  flowControl: {enable: true}, controller: {podDisruptionBudget: {enabled: true}}}`

func TestObjectNames(t *testing.T) {
	usual := []string{
		"ClusterRole jobset-controller",
		"ClusterRole jobset-jobset-editor-role",
		"ClusterRole jobset-jobset-viewer-role",
		"ClusterRole jobset-metrics-reader",
		"ClusterRole jobset-proxy-role",
		"ClusterRoleBinding jobset-controller",
		"ClusterRoleBinding jobset-metrics-reader-rolebinding",
		"ClusterRoleBinding jobset-proxy-rolebinding",
		"ConfigMap jobset-controller-config",
		"Deployment jobset-controller",
		"MutatingWebhookConfiguration jobset-mutating-webhook-configuration",
		"Role jobset-leader-election-role",
		"Role jobset-manager-secrets-role",
		"RoleBinding jobset-leader-election-rolebinding",
		"RoleBinding jobset-manager-secrets-rolebinding",
		"Secret jobset-webhook-server-cert",
		"Service jobset-metrics-service",
		"Service jobset-webhook-service",
		"ServiceAccount jobset-controller",
		"ValidatingWebhookConfiguration jobset-validating-webhook-configuration",
	}
	tests := map[string]struct {
		release     release
		plus, minus []string
		renamed     [2]string
	}{
		"O127, O154-O157, O160, O161: release jobset": {},
		"O127: a release whose name says jobset is called by it": {
			release: release{name: "my-jobset"}, renamed: [2]string{"jobset-", "my-jobset-"},
		},
		"O127: any other release has jobset after its name": {
			release: release{name: "training"}, renamed: [2]string{"jobset-", "training-jobset-"},
		},
		"O128: nameOverride takes the place of jobset": {
			release: release{name: "training", values: `nameOverride: sets`}, renamed: [2]string{"jobset-", "training-sets-"},
		},
		"O129: fullnameOverride takes the place of both": {
			release: release{name: "training", values: `fullnameOverride: sets`}, renamed: [2]string{"jobset-", "sets-"},
		},
		"O127: long names are cut, so that Services have names that they may have": {
			release: release{name: strings.Repeat("a", 53)}, renamed: [2]string{"jobset-", strings.Repeat("a", 53) + "-jobset-"},
		},
		"O136: without leader election nobody may hold leases": {
			release: release{values: `controller: {leaderElection: {enable: false}}`},
			minus:   []string{"Role jobset-leader-election-role", "RoleBinding jobset-leader-election-rolebinding"},
		},
		"O147, O148, O150, O158-O160: everything": {
			release: release{values: all, apis: []string{serviceMonitorAPI}},
			minus: []string{"Role jobset-manager-secrets-role", "RoleBinding jobset-manager-secrets-rolebinding",
				"Secret jobset-webhook-server-cert"},
			plus: []string{
				"Certificate jobset-cert", "Certificate jobset-metrics-cert", "Issuer jobset-self-signed-issuer",
				"Certificate jobset-ca", "Issuer jobset-ca-issuer",
				"ClusterRole jobset-agent", "ValidatingAdmissionPolicy jobset-agent", "ValidatingAdmissionPolicyBinding jobset-agent",
				"team-a: RoleBinding jobset-agent", "team-a: ServiceAccount jobset-agent",
				"PriorityLevelConfiguration jobset-agents", "FlowSchema jobset-agents", "FlowSchema jobset-controller",
				"ClusterRoleBinding jobset-prometheus-metrics-reader", "Role jobset-prometheus-k8s", "RoleBinding jobset-prometheus-k8s",
				"ServiceMonitor jobset-metrics-service-monitor", "PrometheusRule jobset-alerts", "PodDisruptionBudget jobset-controller-pdb",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, id := range append(slices.Clone(usual), tc.plus...) {
				if !slices.Contains(tc.minus, id) {
					want = append(want, rename(id, tc.renamed))
				}
			}
			slices.Sort(want)
			objects := tc.release.objects(t)
			if diff := cmp.Diff(want, ids(objects)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			for _, o := range objects {
				if o.kind() == "Service" && len(o.name()) > 63 {
					t.Errorf("%s is too long by %d", o.id(), len(o.name())-63)
				}
				checkRoleExists(t, o, objects)
			}
		})
	}
}

// rename is what the chart does with names: those of webhook configurations are fixed, long ones are cut.
func rename(id string, by [2]string) string {
	kind, name, _ := strings.Cut(id, " ")
	suffix, ok := strings.CutPrefix(name, by[0])
	if !ok || by[0] == "" || strings.HasSuffix(kind, "WebhookConfiguration") {
		return id
	}
	prefix := strings.TrimSuffix(by[1], "-")
	if room := 62 - len(suffix); len(prefix) > room {
		prefix = strings.TrimSuffix(prefix[:room], "-")
	}
	return kind + " " + prefix + "-" + suffix
}

// checkRoleExists follows a binding to its role and to its account.
func checkRoleExists(t *testing.T, o object, objects []object) {
	t.Helper()
	if o.kind() != "RoleBinding" && o.kind() != "ClusterRoleBinding" {
		return
	}
	binding := decode[rbacv1.ClusterRoleBinding](t, object{"apiVersion": o["apiVersion"], "kind": "ClusterRoleBinding",
		"metadata": o["metadata"], "roleRef": o["roleRef"], "subjects": o["subjects"]}, o.id())
	if find(t, objects, binding.RoleRef.Kind+" "+binding.RoleRef.Name) == nil {
		t.Errorf("%s is to %s, which does not exist", o.id(), binding.RoleRef.Name)
	}
	for _, subject := range binding.Subjects {
		if account := "ServiceAccount " + subject.Name; !strings.HasPrefix(subject.Name, "prometheus-") && find(t, objects, account) == nil {
			t.Errorf("%s is for %s, which does not exist", o.id(), account)
		}
	}
}

// The names that config/default has are translated, each to one that the chart has.
func TestEveryNameOfTheInstallIsTranslated(t *testing.T) {
	file, err := os.Open(filepath.Join(repository, "hack/install-objects.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	names := ids(release{}.objects(t))
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		kind, name := fields[0], fields[2]
		if kind == "Namespace" || kind == "CustomResourceDefinition" {
			continue
		}
		translated := translate(name, func(known translation) string { return known.chart }).(string)
		if !slices.Contains(names, kind+" "+translated) {
			t.Errorf("%s %s has no counterpart in the chart; add it to the chart, and its name to names.go", kind, name)
		}
	}
}

func TestCommonLabels(t *testing.T) {
	values := strings.TrimSuffix(all, "}") + ", commonLabels: {team: batch, app.kubernetes.io/instance: other}}"
	for _, o := range (release{values: values, apis: []string{serviceMonitorAPI}}).objects(t) {
		labels := o.texts("metadata", "labels")
		if labels["team"] != "batch" {
			t.Errorf("O130: %s lacks the label team=batch: %v", o.id(), labels)
		}
		if labels["app.kubernetes.io/instance"] != "jobset" || labels["app.kubernetes.io/managed-by"] != "Helm" {
			t.Errorf("O130: %s has other labels than those of the chart: %v", o.id(), labels)
		}
	}
}

func TestServiceAccountAnnotations(t *testing.T) {
	account := get[corev1.ServiceAccount](t, release{values: `serviceAccount: {annotations: {role: manager}}`}, "ServiceAccount jobset-controller")
	if diff := cmp.Diff(map[string]string{"role": "manager"}, account.Annotations); diff != "" {
		t.Errorf("O512: annotations of the account (-want +got):\n%s", diff)
	}
}

func TestAgentAccess(t *testing.T) {
	r := release{values: `agentAccess: {enable: true, namespaces: [team-a, team-b]}`}
	found := map[string][]rbacv1.Subject{}
	for _, o := range r.objects(t) {
		if o.id() == "RoleBinding jobset-agent" {
			binding := decode[rbacv1.RoleBinding](t, o, o.id())
			found[binding.Namespace] = binding.Subjects
			if want := (rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "jobset-agent"}); binding.RoleRef != want {
				t.Errorf("O101: the agents of %s have %v, want %v", binding.Namespace, binding.RoleRef, want)
			}
		}
	}
	agent := func(namespace string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: "ServiceAccount", Name: "jobset-agent", Namespace: namespace}}
	}
	if diff := cmp.Diff(map[string][]rbacv1.Subject{"team-a": agent("team-a"), "team-b": agent("team-b")}, found); diff != "" {
		t.Errorf("O101: subjects by namespace (-want +got):\n%s", diff)
	}

	_, err := release{values: `agentAccess: {namespaces: [team-a]}`}.files(t)
	wantError(t, err, "agentAccess.namespaces needs agentAccess.enable")
}
