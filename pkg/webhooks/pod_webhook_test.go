/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// noPods is an empty cache of Pods that counts its requests.
func noPods(asked *[]string) placement.Pods {
	lookup := func(index string) placement.Lookup {
		return func(namespace, key string) ([]*facts.Member, error) {
			*asked = append(*asked, namespace+" "+index+"="+key)
			return nil, nil
		}
	}
	return placement.Pods{ByName: lookup("podName"), ByJob: lookup("podJob"), Complete: func() bool { return true }}
}

const podManifest = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"js-w-0-INDEX-abcde","namespace":"ns",
	"labels":{"jobset.sigs.k8s.io/jobset-name":"js","jobset.sigs.k8s.io/replicatedjob-name":"w","jobset.sigs.k8s.io/job-index":"0"},
	"annotations":{"jobset.sigs.k8s.io/jobset-name":"js","alpha.jobset.sigs.k8s.io/exclusive-topology":"rack","batch.kubernetes.io/job-completion-index":"INDEX"}}}`

// known is a cache of one JobSet and one node.
type known struct {
	client.Reader
	js   *jobset.JobSet
	node *corev1.Node
}

func (k *known) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *jobset.JobSet:
		if key == client.ObjectKeyFromObject(k.js) {
			k.js.DeepCopyInto(into)
			return nil
		}
	case *corev1.Node:
		if key.Name == k.node.Name {
			k.node.DeepCopyInto(into)
			return nil
		}
	}
	return apierrors.NewNotFound(corev1.Resource("x"), key.Name)
}

func TestNewPodsAvoidNodes(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	js := &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "js", Namespace: "ns", UID: "u"}}
	js.Spec.FaultTolerance = &jobset.FaultTolerance{AvoidNodes: &jobset.AvoidNodes{Failures: 3, WithinSeconds: 3600}}
	since := metav1.NewTime(now.Add(-time.Minute))
	long := strings.Repeat("n", 64) // too long for the value of a label
	js.Status.FaultTolerance = &jobset.FaultToleranceStatus{NodeFailures: []jobset.NodeFailures{
		{Node: long, AvoidedSince: &since}, {Node: "n1", AvoidedSince: &since}, {Node: "n3"}, {Node: "n4", GivenUpTime: &since},
	}}
	cache := &known{js: js, node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{corev1.LabelHostname: "host-1"}}}}
	byName := `{"key":"metadata.name","operator":"NotIn","values":["` + long + `"]}`
	const (
		away     = `{"key":"kubernetes.io/hostname","operator":"NotIn","values":["host-1"]}`
		affinity = "/spec/affinity/nodeAffinity"
		required = affinity + "/requiredDuringSchedulingIgnoredDuringExecution"
	)
	add := func(path, value string) string { return fmt.Sprintf(`{"op":"add","path":%q,"value":%s}`, path, value) }
	pod := func(uid, affinity string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"jobset.sigs.k8s.io/jobset-name":"js","jobset.sigs.k8s.io/jobset-uid":%q}},"spec":{%s"containers":[]}}`, uid, affinity)
	}
	terms := func(terms string) string {
		return `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + terms + `]}}},`
	}
	tests := map[string]struct {
		namespace, pod string
		gates          gates.Set
		want           []string
	}{
		"P93, P93a: by their host names, or by a name that is known alone, in a term of its own": {pod: pod("u", ""), want: []string{
			add("/spec/affinity", "{}"), add(affinity, "{}"), add(required, `{"nodeSelectorTerms":[{"matchExpressions":[`+away+`],"matchFields":[`+byName+`]}]}`)}},
		"P93: beside what it prefers": {pod: pod("u", `"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]}},`), want: []string{
			add(required, `{"nodeSelectorTerms":[{"matchExpressions":[`+away+`],"matchFields":[`+byName+`]}]}`)}},
		"P93, P93a: in every term, but for one that matches nothing": {
			pod: pod("u", terms(`{"matchExpressions":[{"key":"a","operator":"Exists"}]},{},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}`)),
			want: []string{
				add(required+"/nodeSelectorTerms/0/matchExpressions/-", away), add(required+"/nodeSelectorTerms/0/matchFields", "["+byName+"]"),
				add(required+"/nodeSelectorTerms/2/matchExpressions", "["+away+"]"), add(required+"/nodeSelectorTerms/2/matchFields/-", byName)}},
		"P93: not a Pod of an earlier JobSet of that name": {pod: pod("other", "")},
		"P90a: not a Pod that a queue places":              {pod: pod("u", `"schedulingGates":[{"name":"kueue.x-k8s.io/topology"}],`)},
		"P93: not a Pod of another namespace":              {pod: pod("u", ""), namespace: "elsewhere"},
		"P93: not with the gate off":                       {pod: pod("u", ""), gates: gates.Set{InPlaceRestart: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := gates.Set{FaultTolerance: true}
			if tc.gates != (gates.Set{}) {
				on = tc.gates
			}
			create := request(admissionv1.Create, tc.pod, "")
			create.Namespace = cmp.Or(tc.namespace, "ns")
			response := (&podWebhook{reader: cache, decoder: admission.NewDecoder(scheme(t)), gates: on, now: func() time.Time { return now }}).mutate(t.Context(), create)
			if !response.Allowed {
				t.Fatalf("refused: %v", response.Result)
			}
			var want string
			if tc.want != nil {
				want = "[" + strings.Join(tc.want, ",") + "]"
			}
			if diff := gocmp.Diff(want, string(response.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAPodAvoidsIsBounded(t *testing.T) {
	var nodes []avoidedNode
	for i := range 16 {
		nodes = append(nodes, avoidedNode{name: fmt.Sprint(i), host: strings.Repeat("h", 63)})
	}
	unlabelled := []avoidedNode{{name: strings.Repeat("n", 253)}, {name: strings.Repeat("m", 253)}}
	tests := map[string]struct {
		terms int
		nodes []avoidedNode
		want  int // how many of the nodes are avoided
	}{
		"P93a: all, with as many terms as admission says nothing about": {50, nodes, 16},
		"P93a: as many as fit":                                {100, nodes, 8},
		"P93a: none, if a Pod has all terms that fit into it": {20_000, nodes, 0},
		"P93a: names count, too":                              {200, unlabelled, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}}}
			selector := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			for range tc.terms {
				selector.NodeSelectorTerms = append(selector.NodeSelectorTerms,
					corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}})
			}
			response := patched(pod, placement.Mutation{}, tc.nodes)
			if len(response.Patch) > 4*maxAvoidance { // the paths come on top, and are not stored
				t.Errorf("a patch of %d bytes", len(response.Patch))
			}
			var warned string
			if tc.want < len(tc.nodes) {
				warned = fmt.Sprintf("avoids %d of the %d nodes", tc.want, len(tc.nodes))
			}
			if got := strings.Join(response.Warnings, " "); (got == "") != (warned == "") || !strings.Contains(got, warned) {
				t.Errorf("warnings %q, want %q", got, warned)
			}
		})
	}
}

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
				var asked []string
				handle(&podWebhook{pods: noPods(&asked), decoder: admission.NewDecoder(scheme(t))}, t.Context(), create)
				if diff := gocmp.Diff(tc.want, asked); diff != "" {
					t.Errorf("what the %s webhook asked (-want +got):\n%s", webhook, diff)
				}
			}
		})
	}
}

// TestFollowersWaitForTheCache: a refusal would make the Job controller back off (W108).
func TestFollowersWaitForTheCache(t *testing.T) {
	t.Parallel()
	create := request(admissionv1.Create, strings.ReplaceAll(podManifest, "INDEX", "1"), "")
	create.Namespace = "ns"
	var asked []string
	looks, completeAt := 0, 2
	pods := noPods(&asked)
	pods.Complete = func() bool {
		looks++
		return looks >= completeAt
	}
	webhook := &podWebhook{pods: pods, decoder: admission.NewDecoder(scheme(t))}
	if response := webhook.validate(t.Context(), create); response.Result.Code != http.StatusForbidden || len(asked) != 1 || looks != 2 {
		t.Errorf("W108: code %d after %d looks, asked %v", response.Result.Code, looks, asked)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	asked, completeAt = nil, 1<<30
	if response := webhook.validate(gone, create); response.Result.Code != http.StatusInternalServerError || len(asked) > 0 {
		t.Errorf("W108: whoever asks no more gets code %d, asked %v", response.Result.Code, asked)
	}
}

// TestLostNodesAreAvoided: new Pods keep off nodes on which their JobSet lost workers, with the gate of in-place restart alone (P174).
func TestLostNodesAreAvoided(t *testing.T) {
	js := builders.MakeJobSet("js", "ns").UID("js-uid").FailurePolicy(jobset.InPlaceRestart, 3).Obj()
	heard := metav1.Now()
	js.Status.LostNodes = []jobset.LostNode{{Node: "lost"}, {Node: "back", HeardTime: &heard}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{jobset.JobSetNameKey: "js", jobset.JobSetUIDKey: "js-uid"}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "lost", Labels: map[string]string{corev1.LabelHostname: "lost.example"}}}
	recreates := js.DeepCopy()
	recreates.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	for name, tc := range map[string]struct {
		js   *jobset.JobSet
		on   bool
		node string
		want []avoidedNode
	}{
		"P174: until they are heard from again":  {js, true, "", []avoidedNode{{"lost", "lost.example"}}},
		"P174: not without the gate":             {js, false, "", nil},
		"P174: nor with another strategy":        {recreates, true, "", []avoidedNode{}},
		"P174: nor if its author names its node": {js, true, "lost", nil},
	} {
		t.Run(name, func(t *testing.T) {
			known := scheme(t)
			if err := corev1.AddToScheme(known); err != nil {
				t.Fatal(err)
			}
			reader := fake.NewClientBuilder().WithScheme(known).WithObjects(tc.js.DeepCopy(), node).Build()
			w := &podWebhook{reader: reader, gates: gates.Set{InPlaceRestart: tc.on}, now: time.Now}
			placed := pod.DeepCopy()
			placed.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}}
			if nodes := w.avoided(t.Context(), "ns", placed); nodes != nil {
				t.Errorf("P90a: a Pod that a queue places avoids %v", nodes)
			}
			of := pod.DeepCopy()
			of.Spec.NodeName = tc.node
			if diff := gocmp.Diff(tc.want, w.avoided(t.Context(), "ns", of), gocmp.AllowUnexported(avoidedNode{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
