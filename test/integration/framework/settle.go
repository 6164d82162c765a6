/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// markKey is an annotation by which a pass is recognized: that of the JobSet it read.
const markKey = "test.jobset.x-k8s.io/mark"

// passTimeout is longer than any pass. It gives each pass a context that ends with it.
const passTimeout = 10 * time.Minute

// passes records the mark that the last pass over each JobSet read, once that pass has ended, and how many passes began.
type passes struct {
	mu    sync.Mutex
	ended map[types.UID]endedPass
	made  map[types.UID]int
}

// endedPass is the mark that a pass read, and which one it was.
type endedPass struct {
	mark   string
	number int
}

// began is called when a pass reads its JobSet.
func (p *passes) began(ctx context.Context, js *jobset.JobSet) {
	uid, mark := js.UID, js.Annotations[markKey]
	p.mu.Lock()
	p.made[uid]++
	number := p.made[uid]
	p.mu.Unlock()
	// The ends of two passes may be told of in any order.
	context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if number > p.ended[uid].number {
			p.ended[uid] = endedPass{mark, number}
		}
	})
}

func (p *passes) last(js *jobset.JobSet) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[js.UID].mark
}

// Passes is how many passes over a JobSet the manager has begun.
func (m *Manager) Passes(js *jobset.JobSet) int {
	m.passes.mu.Lock()
	defer m.passes.mu.Unlock()
	return m.passes.made[js.UID]
}

// MakesNoPass claims that a round of changes makes no pass over a JobSet, and returns how many passes there were by then. A round
// has to last longer than a pass waits for the one before it (50 ms): that the cache shows a change does not mean that its
// event has reached the queue.
func (w *World) MakesNoPass(js *jobset.JobSet, round func()) int {
	GinkgoHelper()
	w.Settles(js)
	var made int
	// What happened earlier may lead to one more pass, as its events reach the queue late, so the first round may have one.
	Eventually(func() int {
		before := w.Manager.Passes(js)
		round()
		Eventually(func() error { return w.Manager.hasSeen(w, &corev1.PodList{}) }).Should(Succeed())
		made = w.Manager.Passes(js)
		return made - before
	}).Should(BeZero(), "passes")
	return made
}

// HasSeenNode waits until the cache of the manager shows a node as it is.
func (m *Manager) HasSeenNode(w *World, node *corev1.Node) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		cached := &corev1.Node{}
		g.Expect(m.cache.Get(w.Context, client.ObjectKeyFromObject(node), cached)).To(Succeed())
		g.Expect(cached.ResourceVersion).To(Equal(Now(w, node).ResourceVersion))
	}).Should(Succeed(), "the cache lags")
}

// get is the Get of a client that records passes.
func (p *passes) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Get(ctx, key, object, options...)
	if js, ok := object.(*jobset.JobSet); ok && err == nil && controller.ReconcileIDFromContext(ctx) != "" {
		p.began(ctx, js)
	}
	return err
}

// Settles waits until the manager has nothing left to do for a JobSet: its cache shows all that has
// happened so far, and it has then made a whole pass in which it wrote nothing. What has not
// happened by now does not happen.
func (w *World) Settles(js *jobset.JobSet) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		made := len(w.Manager.Made(AnyWrite))
		for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.ServiceList{}, &coordinationv1.LeaseList{}} {
			g.Eventually(func() error { return w.Manager.hasSeen(w, list) }).Should(Succeed())
		}
		mark := strconv.FormatInt(time.Now().UnixNano(), 10)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+markKey+`":"`+mark+`"}}}`))
		g.Expect(w.Client.Patch(w.Context, js.DeepCopy(), patch)).To(Succeed())
		g.Eventually(func() string { return w.Manager.passes.last(js) }).Should(Equal(mark), "the mark that the last pass read")
		g.Expect(w.Manager.Made(AnyWrite)).To(HaveLen(made), "writes in the last pass")
	}).Should(Succeed(), "the manager does not settle")
}

// ReadsLeases waits until the manager reads Leases.
func (m *Manager) ReadsLeases() {
	GinkgoHelper()
	Eventually(m.leases.Seen).Should(BeTrue())
}

// HasSeenJobs waits until the cache of the manager shows the Jobs of the namespace as they are.
func (m *Manager) HasSeenJobs(w *World) {
	GinkgoHelper()
	Eventually(func() error { return m.hasSeen(w, &batchv1.JobList{}) }).Should(Succeed())
}

// hasSeen reports how the cache of the manager differs from what the API server has of a kind.
func (m *Manager) hasSeen(w *World, kind client.ObjectList) error {
	options := []client.ListOption{client.InNamespace(w.Namespace)}
	if _, pods := kind.(*corev1.PodList); pods {
		options = append(options, client.HasLabels{jobset.JobSetNameKey}) // others are not cached
	}
	from := m.cache
	if _, leases := kind.(*coordinationv1.LeaseList); leases {
		if m.leases == nil {
			return nil
		}
		from, options = m.leases.Cache, append(options, client.HasLabels{jobset.JobSetUIDKey})
	}
	cached, err := cachedVersions(w.Context, from, w.Namespace, kind)
	if notCached := (*cache.ErrResourceNotCached)(nil); errors.As(err, &notCached) {
		return nil
	}
	if err != nil {
		return err
	}
	stored, err := versions(w.Context, w.Client, kind, options...)
	if err != nil {
		return err
	}
	for _, name := range m.hidden {
		delete(stored, name)
	}
	if diff := cmp.Diff(stored, cached); diff != "" {
		return fmt.Errorf("the cache lags (-API server +cache):\n%s", diff)
	}
	return nil
}

// cachedVersions returns the resourceVersions of what a cache keeps of the objects of a namespace, by name. It keeps of Pods and Leases
// something else than these, so they cannot be listed; the attempt says whether they are cached.
func cachedVersions(ctx context.Context, from cache.Cache, namespace string, kind client.ObjectList) (map[string]string, error) {
	var object client.Object
	switch kind.(type) {
	case *corev1.PodList:
		object = &corev1.Pod{}
	case *coordinationv1.LeaseList:
		object = &coordinationv1.Lease{}
	default:
		return versions(ctx, from, kind, client.InNamespace(namespace))
	}
	err := from.List(ctx, kind.DeepCopyObject().(client.ObjectList))
	if notCached := (*cache.ErrResourceNotCached)(nil); errors.As(err, &notCached) {
		return nil, err
	}
	informer, err := from.GetInformer(ctx, object)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, kept := range informer.(interface{ GetIndexer() toolscache.Indexer }).GetIndexer().List() {
		if object := kept.(client.Object); object.GetNamespace() == namespace {
			found[object.GetName()] = object.GetResourceVersion()
		}
	}
	return found, nil
}

// versions returns the resourceVersions of objects by name.
func versions(ctx context.Context, from client.Reader, kind client.ObjectList, options ...client.ListOption) (map[string]string, error) {
	list := kind.DeepCopyObject().(client.ObjectList)
	if err := from.List(ctx, list, options...); err != nil {
		return nil, err
	}
	found := map[string]string{}
	err := apimeta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object)
		found[object.GetName()] = object.GetResourceVersion()
		return nil
	})
	return found, err
}
