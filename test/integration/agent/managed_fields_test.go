/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// exited is an end that an agent may report.
const exited = `{"container":"worker","epoch":1,"code":1}`

// entry is one of managedFields, by a manager that names these fields of the metadata.
func entry(manager, version, metadata string, changes ...func(*metav1.ManagedFieldsEntry)) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, FieldsType: "FieldsV1",
		Time: ptr.To(metav1.Now().Rfc3339Copy()), FieldsV1: metav1.NewFieldsV1(`{"f:metadata":` + metadata + `}`)}
	for _, change := range changes {
		change(&e)
	}
	return e
}

// names are so many fields of a hundred bytes each.
func names(prefix string, n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"%s%s-%06d":{}`, prefix, strings.Repeat("x", 80), i)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// alone and beside are patches of managedFields: these entries, or these beside those that are there.
func alone(entries ...metav1.ManagedFieldsEntry) client.Patch {
	GinkgoHelper()
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": entries}})
	Expect(err).NotTo(HaveOccurred())
	return merge(string(text))
}

func beside(ctx SpecContext, obj client.Object, entries ...metav1.ManagedFieldsEntry) client.Patch {
	GinkgoHelper()
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
	return alone(append(obj.GetManagedFields(), entries...)...)
}

// stuffings are entries by which an agent would fill an object of an API version.
func stuffings(version string) map[string][]metav1.ManagedFieldsEntry {
	const ours = `{"f:annotations":{"f:jobset.sigs.k8s.io/worker-exit":{}}}`
	many := make([]metav1.ManagedFieldsEntry, 300)
	for i := range many {
		many[i] = entry(fmt.Sprintf("agent-%d", i), version, ours, func(e *metav1.ManagedFieldsEntry) { e.Operation = metav1.ManagedFieldsOperationApply })
	}
	return map[string][]metav1.ManagedFieldsEntry{
		"with annotations of others":           {entry("jobset-agent", version, `{"f:annotations":`+names("f:", 10)+`}`)},
		"up to the limit of etcd":              {entry("jobset-agent", version, `{"f:annotations":`+names("f:", 14000)+`}`)},
		"with labels":                          {entry("jobset-agent", version, `{"f:labels":`+names("f:", 10)+`}`)},
		"with finalizers":                      {entry("jobset-agent", version, `{"f:finalizers":{"v:\"`+strings.Repeat("x", 1000)+`\"":{}}}`)},
		"with a field of no name":              {entry("jobset-agent", version, `{"f:`+strings.Repeat("x", 10000)+`":{}}`)},
		"with owners":                          {entry("jobset-agent", version, `{"f:ownerReferences":{"k:{\"uid\":\"`+strings.Repeat("x", 1000)+`\"}":{}}}`)},
		"below an annotation of its own":       {entry("jobset-agent", version, `{"f:annotations":{"f:jobset.sigs.k8s.io/epoch":`+names("f:", 10)+`}}`)},
		"beside the metadata":                  {entry("jobset-agent", version, `{},"f:spec":{"f:x":`+names("f:", 10)+`}`)},
		"beside it, with one long name":        {entry("jobset-agent", version, `{},"f:`+strings.Repeat("x", 10000)+`":{}`)},
		"as the manager of a subresource":      {entry("jobset-agent", version, ours, func(e *metav1.ManagedFieldsEntry) { e.Subresource = strings.Repeat("x", 200) })},
		"as many managers of what is its own":  many,
		"as three managers of what is its own": many[:3],
		"as what the API server merges":        {entry("ancient-changes", version, `{"f:annotations":`+names("f:", 20)+`}`)},
	}
}

var _ = Describe("The rights of an agent", func() {
	const filled = "an agent may add to managedFields nothing but two entries of its own"

	// Each is tried as the only entries, beside those that are there, and in those that others own.
	It("P153a: do not let it fill the managedFields of its Pod, nor those of its Lease", func(ctx SpecContext) {
		n := newNode(ctx)
		own, second := n.runs("own"), n.runs("second")
		agent, other := n.agentOf(own), n.agentOf(second)
		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
		refused := deny(apierrors.IsForbidden, filled)
		var attempts []attempt
		for name, entries := range stuffings("v1") {
			attempts = append(attempts, attempt{"Pod " + name, func() {
				refused(agent.Patch(ctx, own.DeepCopy(), alone(entries...), client.FieldOwner("jobset-agent")))
				refused(agent.Patch(ctx, own.DeepCopy(), beside(ctx, own.DeepCopy(), entries...), client.FieldOwner("jobset-agent")))
			}})
		}
		for name, entries := range stuffings("coordination.k8s.io/v1") {
			attempts = append(attempts, attempt{"Lease " + name, func() {
				refused(agent.Patch(ctx, reportOf(own), alone(entries...), client.FieldOwner("jobset-agent")))
				refused(agent.Patch(ctx, reportOf(own), beside(ctx, reportOf(own), entries...), client.FieldOwner("jobset-agent")))
				refused(other.Create(ctx, reportOf(second, func(l *coordinationv1.Lease) { l.ManagedFields = entries }), client.FieldOwner("jobset-agent")))
			}})
		}
		attempts = append(attempts, attempt{"an entry of others", func() {
			patch := beside(ctx, own.DeepCopy())
			text, err := patch.Data(nil)
			Expect(err).NotTo(HaveOccurred())
			more := strings.Replace(string(text), `"f:finalizers":{`, `"f:finalizers":{"v:\"`+strings.Repeat("x", 1000)+`\"":{},`, 1)
			for _, new := range []string{`"f:metadata":{"f:` + strings.Repeat("x", 1000) + `":{},`, `"f:metadata":{"f:x":{"f:` + strings.Repeat("x", 1000) + `":{}},`} {
				refused(agent.Patch(ctx, own.DeepCopy(), merge(strings.Replace(string(text), `"f:metadata":{`, new, 1)), client.FieldOwner("jobset-agent")))
			}
			Expect(len(more)).To(BeNumerically(">", len(text)+1000))
			refused(agent.Patch(ctx, own.DeepCopy(), merge(more), client.FieldOwner("jobset-agent")))
		}})
		allRefused(attempts)
	})

	It("P153a: do not let it fill its Pod by and by, as one manager after the other", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)
		apply := func(i int) error {
			more := []string{"", fmt.Sprintf(`,%q:%q`, protocol.WorkerExitKey, exited)}[i%2]
			body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"own","annotations":{"jobset.sigs.k8s.io/epoch":"1"%s}}}`, more)
			return agent.Patch(ctx, own.DeepCopy(), client.RawPatch("application/apply-patch+yaml", []byte(body)), client.FieldOwner(fmt.Sprintf("agent-%d", i)), client.ForceOwnership)
		}
		Expect(apply(0)).To(Succeed())
		Expect(apply(1)).To(Succeed())
		Expect(apply(1)).To(Succeed())
		for i := 2; i < 5; i++ {
			deny(apierrors.IsForbidden, filled)(apply(i))
		}
	})

	It("P153a: do not keep a Pod from being deleted and evicted", func(ctx SpecContext) {
		n := newNode(ctx)
		for name, ends := range map[string]func(*corev1.Pod) error{
			"deleted": func(pod *corev1.Pod) error { return cluster.Client.Delete(ctx, pod) },
			"killed":  func(pod *corev1.Pod) error { return cluster.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)) },
			"evicted": func(pod *corev1.Pod) error {
				return cluster.Client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
			},
		} {
			own := n.runs(name)
			agent := n.agentOf(own)
			Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
			full := entry("jobset-agent", "v1", `{"f:annotations":`+names("f:", 14000)+`}`)
			deny(apierrors.IsForbidden, filled)(agent.Patch(ctx, own.DeepCopy(), beside(ctx, own.DeepCopy(), full)))
			Expect(ends(own.DeepCopy())).To(Succeed(), name)
			Expect(cluster.Client.Delete(ctx, reportOf(own))).To(Succeed())
		}
	})

	It("P153a: let it report beside all that others have written, more than ten managers too, and where it takes over what they wrote", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)
		by := func(manager string) client.PatchOption { return client.FieldOwner(manager) }
		Expect(cluster.Client.Patch(ctx, own.DeepCopy(), merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"1","example.com/by-hand":"1"}}}`), by("kubectl"))).To(Succeed())
		Expect(agent.Patch(ctx, own.DeepCopy(), epoch("1"), by("jobset-agent"))).To(Succeed())
		for i := range 15 {
			Expect(cluster.Client.Patch(ctx, own.DeepCopy(), annotation(fmt.Sprintf("example.com/note-%d", i), "1"), by(fmt.Sprintf("controller-%d", i)))).To(Succeed())
			Expect(agent.Patch(ctx, own.DeepCopy(), epoch(fmt.Sprint(i+2)), by("jobset-agent"))).To(Succeed())
		}
		Expect(agent.Patch(ctx, own.DeepCopy(), annotation(protocol.WorkerExitKey, exited), by("jobset-agent"))).To(Succeed())

		Expect(cluster.Client.Status().Patch(ctx, own.DeepCopy(), merge(`{"status":{"phase":"Running"}}`), client.FieldOwner("kubelet"))).To(Succeed())
		Expect(agent.Patch(ctx, own.DeepCopy(), epoch("100"), by("jobset-agent"))).To(Succeed())
		Expect(agent.Patch(ctx, own.DeepCopy(), epoch("101"), by("controller-14"))).To(Succeed(), "an agent whose manager has the name of another")
		stored := &corev1.Pod{}
		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(own), stored)).To(Succeed())
		managers := map[string]bool{}
		for _, e := range stored.ManagedFields {
			managers[e.Manager] = true
		}
		Expect(managers).To(And(HaveKey("ancient-changes"), HaveKey("jobset-agent"), HaveKey("kubelet")))
		full := n.runs("full") // the eleventh manager is the agent itself
		for i := range 12 {
			Expect(cluster.Client.Patch(ctx, full.DeepCopy(), annotation(fmt.Sprintf("example.com/note-%d", i), "1"), by(fmt.Sprintf("controller-%d", i)))).To(Succeed())
		}
		Expect(n.agentOf(full).Patch(ctx, full.DeepCopy(), epoch("1"), by("jobset-agent"))).To(Succeed())
	})

	It("P153a: do not let it give its Lease a long generateName", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)
		Expect(agent.Create(ctx, reportOf(own))).To(Succeed())
		deny(apierrors.IsForbidden, "must have no generateName")(agent.Patch(ctx, reportOf(own), merge(`{"metadata":{"generateName":"`+strings.Repeat("x", 10000)+`"}}`)))
	})
})
