/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/pkg/config"
)

const serviceMonitorAPI = "monitoring.coreos.com/v1/ServiceMonitor"

// Both installs, side by side: kustomizations, and the values that are to make the same.
var installs = map[string]struct {
	kustomizations []string
	values         string
}{
	"W132: the defaults": {kustomizations: []string{"config/default"}},
	"rights of agents": {
		kustomizations: []string{"config/default", "config/components/agent-access"},
		values:         `agentAccess: {enable: true, namespaces: [default]}`,
	},
	"flow control": {
		kustomizations: []string{"config/overlays/large"},
		values:         `{flowControl: {enable: true}, controller: {featureGates: {InPlaceRestart: true}}}`,
	},
	"network policy": {
		kustomizations: []string{"config/default", "config/components/networkpolicy"},
		values:         `networkPolicy: {enable: true, apiServerCIDRs: [192.0.2.0/24]}`,
	},
	"cert-manager": {
		kustomizations: []string{"config/overlays/certmanager"},
		values:         `certManager: {enable: true}`,
	},
	"Prometheus": {
		kustomizations: []string{"config/default", "config/prometheus"},
		values:         `prometheus: {enable: true}`,
	},
	"Prometheus and cert-manager": {
		kustomizations: []string{"config/overlays/certmanager", "config/overlays/prometheus-certmanager"},
		values:         `{prometheus: {enable: true}, certManager: {enable: true}}`,
	},
	"Grafana": {
		kustomizations: []string{"config/default", "config/grafana"},
		values:         `grafana: {enable: true}`,
	},
	"two managers": {
		kustomizations: []string{"config/overlays/ha"},
		values: `controller:
  replicas: 2
  podDisruptionBudget: {enabled: true}
  topologySpreadConstraints:
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    nodeTaintsPolicy: Honor
    matchLabelKeys: [pod-template-hash]
    labelSelector: &managers
      matchLabels: {app.kubernetes.io/name: jobset, app.kubernetes.io/instance: jobset, app.kubernetes.io/component: controller}
  - topologyKey: topology.kubernetes.io/zone
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    nodeTaintsPolicy: Honor
    matchLabelKeys: [pod-template-hash]
    labelSelector: *managers
`,
	},
}

// allowed are the differences that are meant. What is under a path counts as well.
var allowed = []struct {
	objects string // an id, a kind, or * for all; names are those of the chart
	path    string // of the difference; empty: the object is in one install only
	reason  string
}{
	{"Namespace jobset-system", "", "helm install --create-namespace makes it"},
	{"CustomResourceDefinition", "", "it is in crds/, which is not a template; chart verify compares it byte for byte"},

	{"*", "metadata/labels/app.kubernetes.io/managed-by", "each install says that it is the one"},
	{"*", "metadata/labels/app.kubernetes.io/instance", "some components of config/ have no instance"},
	{"*", "metadata/labels/app.kubernetes.io/version", "the version is the chart's to know"},
	{"*", "metadata/labels/app.kubernetes.io/component", "the chart labels more objects as parts of the manager"},
	{"*", "metadata/labels/helm.sh/chart", "the version is the chart's to know"},

	// kustomize adds all common labels to selectors; Helm's managed-by may change.
	{"Deployment", "spec/selector/matchLabels/app.kubernetes.io/managed-by", "the chart selects by what never changes"},
	{"Deployment", "spec/template/metadata/labels/app.kubernetes.io/managed-by", "it is not selected by it"},
	{"Service", "spec/selector/app.kubernetes.io/managed-by", "the chart selects by what never changes"},
	{"PodDisruptionBudget", "spec/selector/matchLabels/app.kubernetes.io/managed-by", "the chart selects by what never changes"},
	{"NetworkPolicy", "spec/podSelector/matchLabels/app.kubernetes.io/managed-by", "the chart selects by what never changes"},
	{"ServiceMonitor", "spec/selector/matchLabels/app.kubernetes.io/instance", "there may be releases of other charts beside"},

	{"Deployment", "spec/template/metadata/annotations/jobset.x-k8s.io/config-hash", "a changed configuration restarts the Pods"},
	{"Deployment", "spec/template/spec/containers/controller/ports/health-probe", "users rely on its name; the port is open with or without it"},
	{"Deployment", "spec/template/spec/containers/controller/imagePullPolicy", "a value; the default is that of Kubernetes"},
	{"Deployment", "spec/revisionHistoryLimit", "a value; the default is that of Kubernetes"},

	{"Deployment", "spec/template/spec/containers/controller/args/2", "overlays turn the gate on by an argument, which works with any configuration"},
	{"ConfigMap", "data/controller_manager_config.yaml/featureGates/InPlaceRestart", "the chart turns the gate on in the configuration"},
}

// TestChartInstallsWhatKustomizeInstalls compares both installs object by object. Where they
// differ on purpose, the reason stands above; an entry that is no longer needed has to go.
func TestChartInstallsWhatKustomizeInstalls(t *testing.T) {
	used := map[int]bool{}
	for name, install := range installs {
		t.Run(name, func(t *testing.T) {
			var inKustomize []object
			for _, dir := range install.kustomizations {
				found, err := buildKustomization(filepath.Join(repository, "bin/tools/kustomize"), filepath.Join(repository, dir))
				if err != nil {
					t.Fatal(err)
				}
				inKustomize = append(inKustomize, found...)
			}
			inChart := release{values: install.values, apis: []string{serviceMonitorAPI}}.objects(t)

			got, want := flatten(t, inChart), flatten(t, asInChart(inKustomize))
			for _, place := range slices.SortedFunc(maps.Keys(merged(want, got)), place.less) {
				if want[place] == got[place] {
					continue
				}
				if at := allowance(place); at >= 0 {
					used[at] = true
					continue
				}
				t.Errorf("%s, %s: kustomize has %s, the chart has %s", place.object, place.path, orNothing(want[place]), orNothing(got[place]))
			}
		})
	}
	for i, entry := range allowed {
		if !used[i] {
			t.Errorf("%s no longer differs in %q; remove it from the table above", entry.objects, entry.path)
		}
	}
}

// place is where a value stands.
type place struct{ object, path string }

func (p place) less(q place) int { return strings.Compare(p.object+" "+p.path, q.object+" "+q.path) }

// flatten lists what stands where, as text. Members of lists count by their name if they have one.
func flatten(t *testing.T, objects []object) map[place]string {
	t.Helper()
	places := map[place]string{}
	for _, o := range objects {
		id := o.id()
		if namespace := o.text("metadata", "namespace"); namespace != "" {
			id += " in " + namespace
		}
		if _, ok := places[place{id, ""}]; ok {
			t.Fatalf("there are two of %s", id)
		}
		places[place{id, ""}] = "it"
		if o.kind() == "ConfigMap" {
			o["data"] = map[string]any{"controller_manager_config.yaml": effective(t, o.text("data", "controller_manager_config.yaml"))}
		}
		walk(map[string]any(o), "", func(path, value string) { places[place{id, path}] = value })
	}
	return places
}

// effective is a configuration with its defaults: what it comes to, however much of it is written.
func effective(t *testing.T, text string) map[string]any {
	t.Helper()
	encoded, err := config.Encode(acceptedByManager(t, text))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(encoded, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func walk(value any, path string, visit func(path, value string)) {
	under := func(key string) string { return strings.TrimPrefix(path+"/"+key, "/") }
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			visit(path, "{}")
		}
		for key, member := range value {
			walk(member, under(key), visit)
		}
	case []any:
		if len(value) == 0 {
			visit(path, "[]")
		}
		for i, member := range value {
			key := fmt.Sprint(i)
			if m, ok := member.(map[string]any); ok && m["name"] != nil {
				key = fmt.Sprint(m["name"])
			}
			walk(member, under(key), visit)
		}
	default:
		text, _ := json.Marshal(value) // "" is not nothing, and "1" not 1
		visit(path, string(text))
	}
}

func merged(maps ...map[place]string) map[place]bool {
	all := map[place]bool{}
	for _, places := range maps {
		for p := range places {
			all[p] = true
		}
	}
	return all
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// allowance is the index of the entry that allows a difference, or -1.
func allowance(p place) int {
	id, _, _ := strings.Cut(p.object, " in ")
	kind, _, _ := strings.Cut(id, " ")
	for i, entry := range allowed {
		if !slices.Contains([]string{"*", kind, id}, entry.objects) {
			continue
		}
		if entry.path == "" || p.path == entry.path || strings.HasPrefix(p.path, entry.path+"/") {
			return i
		}
	}
	return -1
}

// asInChart gives the objects of kustomize the names that the chart has.
func asInChart(objects []object) []object {
	var all []object
	for _, o := range objects {
		o = translate(o, func(name translation) string { return name.chart }).(object)
		switch o.kind() {
		case "Role", "RoleBinding":
			rename := func(path ...string) {
				if o.text(path...) == "prometheus-k8s" { // also the name of an account, which stays
					replace(map[string]any(o), path, "jobset-prometheus-k8s")
				}
			}
			rename("metadata", "name")
			rename("roleRef", "name")
		case "PodDisruptionBudget":
			replace(map[string]any(o), []string{"metadata", "name"}, "jobset-controller-pdb") // in config/ it has the name of the Deployment
		case "Deployment":
			annotation := o["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)["annotations"].(map[string]any)
			annotation["kubectl.kubernetes.io/default-container"] = "controller"
			manager := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
			manager["name"] = "controller" // users rely on this name and the next one
			for _, port := range manager["ports"].([]any) {
				if port.(map[string]any)["name"] == "webhook-server" {
					port.(map[string]any)["name"] = "webhook"
				}
			}
		}
		componentLabel(map[string]any(o))
		all = append(all, o)
	}
	return all
}

// componentLabel is by what the Pods are told from others: control-plane in config/, and the
// recommended label in the chart.
func componentLabel(value any) {
	switch value := value.(type) {
	case map[string]any:
		if value["control-plane"] == "controller-manager" {
			delete(value, "control-plane")
			value["app.kubernetes.io/component"] = "controller"
		}
		for _, member := range value {
			componentLabel(member)
		}
	case []any:
		for _, member := range value {
			componentLabel(member)
		}
	}
}
