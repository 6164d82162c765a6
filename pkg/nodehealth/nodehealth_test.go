/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package nodehealth

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	gpu    = "nvidia.com/gpu"
	health = "autopilot.ibm.com/gpuhealth"
)

// twoResources adds a network card to the default rules. One of its labels is that of the GPU.
func twoResources() Rules {
	rules := DefaultRules()
	rules["example.com/nic"] = []Rule{
		{Key: "example.com/nic-health", Value: "down", Moves: true},
		{Key: health, Value: "FABRIC", Moves: true},
	}
	return rules
}

func list(name corev1.ResourceName, quantity string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(quantity)}
}

func requesting(name corev1.ResourceName, quantity string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(name, quantity)}}
}

func pod(containers ...corev1.Container) *corev1.PodSpec {
	return &corev1.PodSpec{Containers: containers}
}

func notIn(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: values}
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func term(expressions ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: expressions}
}

func require(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}
}

func with(affinity *corev1.Affinity, pods *corev1.PodSpec) *corev1.PodSpec {
	pods.Affinity = affinity
	return pods
}

func TestKeepAway(t *testing.T) {
	sickGPU := notIn(health, "ERR", "EVICT")
	zone := in("zone", "a")
	byName := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", "node-1")}}
	byNameKept := byName
	byNameKept.MatchExpressions = []corev1.NodeSelectorRequirement{sickGPU}
	preferred := &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: term(zone)}}},
		PodAffinity:  &corev1.PodAffinity{},
	}
	preferredKept := preferred.DeepCopy()
	preferredKept.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = require(term(sickGPU)).NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution

	for name, tc := range map[string]struct {
		pods *corev1.PodSpec
		want *corev1.Affinity
	}{
		"P90: a Pod that requests nothing gets nothing":         {pod(corev1.Container{}), nil},
		"P90: a Pod that requests another resource, too":        {pod(requesting("amd.com/gpu", "1")), nil},
		"P90: 0 is no request":                                  {pod(requesting(gpu, "0")), nil},
		"P90: a request gets a term of its own":                 {pod(requesting(gpu, "8")), require(term(sickGPU))},
		"P90: one container of several is enough":               {pod(corev1.Container{}, requesting(gpu, "1")), require(term(sickGPU))},
		"P90: a limit is a request":                             {pod(corev1.Container{Resources: corev1.ResourceRequirements{Limits: list(gpu, "1")}}), require(term(sickGPU))},
		"P90: init containers count":                            {&corev1.PodSpec{InitContainers: []corev1.Container{requesting(gpu, "1")}}, require(term(sickGPU))},
		"P90: what is only preferred does not stand in its way": {with(preferred, pod(requesting(gpu, "1"))), preferredKept},
		"P90: a request wins over a limit": {
			pod(corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(gpu, "0"), Limits: list(gpu, "1")}}), nil,
		},
		"P90: every existing term gets it, since terms are alternatives": {
			with(require(term(zone), byName), pod(requesting(gpu, "1"))), require(term(zone, sickGPU), byNameKept),
		},
		"P90: a term that matches no node must not begin to": {
			with(require(term(), term(zone)), pod(requesting(gpu, "1"))), require(term(), term(zone, sickGPU)),
		},
		"P90: a term that has it is left alone": {
			with(require(term(zone, notIn(health, "EVICT", "OLD", "ERR"))), pod(requesting(gpu, "1"))), require(term(zone, notIn(health, "EVICT", "OLD", "ERR"))),
		},
		"P90: a term that has a part of it gets all": {
			with(require(term(notIn(health, "EVICT"))), pod(requesting(gpu, "1"))), require(term(notIn(health, "EVICT"), sickGPU)),
		},
		"P90: one expression for each key, with the values of all resources": {
			pod(requesting(gpu, "1"), requesting("example.com/nic", "1")),
			require(term(notIn(health, "ERR", "EVICT", "FABRIC"), notIn("example.com/nic-health", "down"))),
		},
		"P90: another resource with the same key adds only its own values": {
			pod(requesting("example.com/nic", "1")), require(term(notIn(health, "FABRIC"), notIn("example.com/nic-health", "down"))),
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.pods.DeepCopy()
			got := twoResources().KeepAway(tc.pods)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("affinity (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.pods); diff != "" {
				t.Errorf("the template changed:\n%s", diff)
			}
		})
	}
}

func TestExtends(t *testing.T) {
	zone := require(term(in("zone", "a")))
	withPods := require(term(in("zone", "a"), notIn(health, "ERR")))
	withPods.PodAffinity = &corev1.PodAffinity{}
	for name, tc := range map[string]struct {
		affinity, from *corev1.Affinity
		want           bool
	}{
		"P90a: a term that only keeps away":              {require(term(notIn(health, "ERR"))), nil, true},
		"P90a: behind what was there":                    {require(term(in("zone", "a"), notIn(health, "ERR"))), zone, true},
		"P90a: the same":                                 {zone, zone, true},
		"P90a: nothing was there, and something else is": {zone, nil, false},
		"P90a: another zone":                             {require(term(in("zone", "b"), notIn(health, "ERR"))), zone, false},
		"P90a: another term":                             {require(term(in("zone", "a")), term(notIn(health, "ERR"))), zone, false},
		"P90a: something else was removed":               {withPods, zone, false},
		"P90a: nothing extends nothing":                  {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Extends(tc.affinity, tc.from); got != tc.want {
				t.Errorf("extends: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	evict := Mark{Resource: gpu, Key: health, Value: "EVICT"}
	for name, tc := range map[string]struct {
		labels map[string]string
		want   []Mark
	}{
		"P91: a node without labels has none": {nil, nil},
		"P91: a value without a rule is none": {map[string]string{health: "PASS"}, nil},
		"P92: NoSchedule moves nobody":        {map[string]string{health: "ERR"}, nil},
		"P92: NoExecute is a mark":            {map[string]string{health: "EVICT", "other": "x"}, []Mark{evict}},
		"P92: marks of several resources, in order": {
			map[string]string{health: "FABRIC", "example.com/nic-health": "down"},
			[]Mark{{"example.com/nic", health, "FABRIC"}, {"example.com/nic", "example.com/nic-health", "down"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, twoResources().Marks(tc.labels)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMoving(t *testing.T) {
	nic, evict := Mark{"example.com/nic", "example.com/nic-health", "down"}, Mark{gpu, health, "EVICT"}
	bound := pod(requesting(gpu, "1"))
	bound.NodeName = "node-1"
	for name, tc := range map[string]struct {
		pods *corev1.PodSpec
		want []Mark
	}{
		"P92: a Pod that requests the resource moves":                {pod(requesting(gpu, "1")), []Mark{evict}},
		"P92: one that does not stays":                               {pod(requesting("cpu", "1")), nil},
		"P92: 0 is no request":                                       {pod(requesting(gpu, "0")), nil},
		"P92: a template that names its node has nowhere else to go": {bound, nil},
		"P92: every mark of a resource that it requests counts":      {pod(requesting(gpu, "1"), requesting("example.com/nic", "1")), []Mark{nic, evict}},
		"P92: an init container uses the resource, too":              {&corev1.PodSpec{InitContainers: []corev1.Container{requesting(gpu, "1")}}, []Mark{evict}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Moving(tc.pods, []Mark{nic, evict}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAvoids(t *testing.T) {
	absent := corev1.NodeSelectorRequirement{Key: health, Operator: corev1.NodeSelectorOpDoesNotExist}
	exists := corev1.NodeSelectorRequirement{Key: health, Operator: corev1.NodeSelectorOpExists}
	for name, tc := range map[string]struct {
		affinity *corev1.Affinity
		want     bool
	}{
		"P92: no affinity avoids nothing":                         {nil, false},
		"P92: an affinity to Pods avoids nothing":                 {&corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}, false},
		"P92: what is preferred avoids nothing":                   {&corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, false},
		"P92: NotIn the value":                                    {require(term(notIn(health, "ERR", "EVICT"))), true},
		"P92: NotIn other values":                                 {require(term(notIn(health, "ERR"))), false},
		"P92: NotIn of another key":                               {require(term(notIn("other", "EVICT"))), false},
		"P92: In other values":                                    {require(term(in(health, "PASS"))), true},
		"P92: In the value":                                       {require(term(in(health, "PASS", "EVICT"))), false},
		"P92: no such label":                                      {require(term(absent)), true},
		"P92: some such label":                                    {require(term(exists)), false},
		"P92: one of two alternatives is not enough":              {require(term(notIn(health, "EVICT")), term(in("zone", "a"))), false},
		"P92: an alternative that matches no node does not count": {require(term(), term(notIn(health, "EVICT"))), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Avoids(with(tc.affinity, pod()), []Mark{{gpu, health, "EVICT"}}); got != tc.want {
				t.Errorf("avoids: %t, want %t", got, tc.want)
			}
		})
	}
}

// FuzzKeepAway builds templates from bytes: with what is added, no node with an avoided label is left, nodes
// without one are left as they were, and adding it twice adds it once.
func FuzzKeepAway(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add([]byte{0, 1, 2, 3, 4, 255, 5, 6}, true)
	f.Add([]byte{255, 255, 7}, false)
	f.Fuzz(func(t *testing.T, data []byte, bothResources bool) {
		pods := with(affinityOf(data), pod(requesting(gpu, "1")))
		if bothResources {
			pods.Containers = append(pods.Containers, requesting("example.com/nic", "1"))
		}
		rules := twoResources()
		kept := with(rules.KeepAway(pods), pods.DeepCopy())
		for key, values := range rules.avoided(pods) {
			for value := range values {
				if !avoids(kept, key, value) {
					t.Fatalf("%s=%s is not avoided by %v", key, value, kept.Affinity)
				}
			}
		}
		if a, b := avoids(pods, "zone", "a"), avoids(kept, "zone", "a"); a != b {
			t.Fatalf("nodes of zone a are avoided: before %t, after %t", a, b)
		}
		if kept.Affinity != pods.Affinity && !Extends(kept.Affinity, pods.Affinity) {
			t.Fatalf("%v does not extend %v", kept.Affinity, pods.Affinity)
		}
		if diff := cmp.Diff(kept.Affinity, rules.KeepAway(kept)); diff != "" {
			t.Fatalf("added twice (-once +twice):\n%s", diff)
		}
	})
}

// affinityOf makes a term of the bytes between two of 255.
func affinityOf(data []byte) *corev1.Affinity {
	if len(data) == 0 {
		return nil
	}
	pieces := []corev1.NodeSelectorRequirement{
		in("zone", "a"), notIn("zone", "a"), in(health, "PASS"), notIn(health, "ERR"), notIn(health, "EVICT", "ERR"),
		notIn("example.com/nic-health", "down"), {Key: health, Operator: corev1.NodeSelectorOpExists},
	}
	terms := []corev1.NodeSelectorTerm{{}}
	for _, b := range data {
		if b == 255 {
			terms = append(terms, corev1.NodeSelectorTerm{})
			continue
		}
		last := &terms[len(terms)-1]
		last.MatchExpressions = append(last.MatchExpressions, pieces[int(b)%len(pieces)])
	}
	return require(terms...)
}
