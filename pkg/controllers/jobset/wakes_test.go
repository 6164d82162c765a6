/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// watched is an informer whose events come from a test.
type watched struct {
	*controllertest.FakeInformer
	indexer toolscache.Indexer
	// heard closes when the first handler is added.
	heard chan struct{}
	once  sync.Once
	// adding is held while a handler is added: the fake keeps a list, and sources start side by side.
	adding sync.Mutex
}

func (w *watched) GetIndexer() toolscache.Indexer { return w.indexer }

func (w *watched) AddIndexers(indexers toolscache.Indexers) error {
	return w.indexer.AddIndexers(indexers)
}

func (w *watched) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	w.adding.Lock()
	defer w.adding.Unlock()
	defer w.once.Do(func() { close(w.heard) })
	return w.FakeInformer.AddEventHandlerWithOptions(handler, options)
}

// wakeTest is the JobSet controller, set up as in the manager, over informers that the test feeds.
type wakeTest struct {
	t         *testing.T
	scheme    *runtime.Scheme
	informers *informertest.FakeInformers
	client    client.Client
	// passes has the name of the JobSet of each pass that was made.
	passes   chan string
	canaries int
}

func newWakeTest(t *testing.T, g gates.Set) *wakeTest {
	t.Helper()
	s := newShell(t)
	l := &wakeTest{t: t, scheme: s.Fake.Scheme(), passes: make(chan string, 100), client: s.Fake}
	l.informers = &informertest.FakeInformers{Scheme: l.scheme, InformersByGVK: map[schema.GroupVersionKind]toolscache.SharedIndexInformer{}}
	for _, kind := range []client.Object{&jobset.JobSet{}, &batchv1.Job{}, &corev1.Service{}, &corev1.Pod{}, &corev1.Node{}, &corev1.PersistentVolumeClaim{}} {
		gvk, err := apiutil.GVKForObject(kind, l.scheme)
		if err != nil {
			t.Fatal(err)
		}
		l.informers.InformersByGVK[gvk] = &watched{
			FakeInformer: controllertest.NewFakeInformer(controllertest.Synced),
			indexer:      toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{}),
			heard:        make(chan struct{}),
		}
	}
	recording := interceptor.NewClient(s.Fake, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, ok := obj.(*jobset.JobSet); ok && controller.ReconcileIDFromContext(ctx) != "" {
				l.passes <- key.Name
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://nowhere.invalid"}, ctrl.Options{
		Scheme:     l.scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		MapperProvider: func(*rest.Config, *http.Client) (apimeta.RESTMapper, error) {
			return testrestmapper.TestOnlyStaticRESTMapper(l.scheme), nil
		},
		NewCache:  func(*rest.Config, cache.Options) (cache.Cache, error) { return l.informers, nil },
		NewClient: func(*rest.Config, client.Options) (client.Client, error) { return recording, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Setup(t.Context(), mgr, g, policy.Deadlines{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return l
}

// informer returns the informer of a kind.
func (l *wakeTest) informer(kind client.Object) *watched {
	l.t.Helper()
	gvk, err := apiutil.GVKForObject(kind, l.scheme)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.informers.InformersByGVK[gvk].(*watched)
}

// stores a JobSet that another controller manages, so that a pass only reads it, and sends
// no event: a JobSet that just had a pass would not get another one at once.
func (l *wakeTest) stores(w *builders.JobSetWrapper) *jobset.JobSet {
	l.t.Helper()
	js := w.ManagedBy("example.com/other").Obj()
	if err := l.client.Create(l.t.Context(), js); err != nil {
		l.t.Fatal(err)
	}
	return js
}

// makes a JobSet and waits for its pass.
func (l *wakeTest) makes(w *builders.JobSetWrapper) *jobset.JobSet {
	l.t.Helper()
	js := l.stores(w)
	informer := l.informer(js)
	<-informer.heard
	informer.Add(js)
	l.wakes(js.Name)
	return js
}

// wakes asserts that the last event led to a pass over a JobSet, and to none over another.
func (l *wakeTest) wakes(name string) {
	l.t.Helper()
	select {
	case got := <-l.passes:
		if got != name {
			l.t.Errorf("a pass was made over JobSet %s, want %s", got, name)
		}
	case <-time.After(time.Minute):
		l.t.Fatalf("no pass was made over JobSet %s", name)
	}
}

// wakesNobody asserts that no pass was made since: there is one queue, so the pass over a new
// JobSet comes after all passes that earlier events led to.
func (l *wakeTest) wakesNobody() {
	l.t.Helper()
	l.canaries++
	l.makes(builders.MakeJobSet(fmt.Sprintf("canary-%d", l.canaries), "ns"))
}

func TestWhatWakesAJobSet(t *testing.T) {
	t.Parallel()
	inPlace := func() *builders.JobSetWrapper {
		return builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(0, 1)
	}
	gateOn := gates.Set{InPlaceRestart: true}
	t.Run("C2: each of its own events, the write of its status too", func(t *testing.T) {
		t.Parallel()
		l := newWakeTest(t, gates.Set{})
		js := l.makes(builders.MakeJobSet("js", "ns"))
		written := js.DeepCopy()
		written.ResourceVersion, written.Status.Restarts = "2", 1
		l.informer(js).Update(js, written)
		l.wakes("js")
		labelled := written.DeepCopy()
		labelled.ResourceVersion, labelled.Labels = "3", map[string]string{"k": "v"}
		l.informer(js).Update(written, labelled)
		l.wakes("js")
		l.informer(js).Delete(labelled)
		l.wakes("js")
	})
	t.Run("C4: with the gate on a Pod, if what decisions read of it changed", func(t *testing.T) {
		t.Parallel()
		l := newWakeTest(t, gateOn)
		js := l.stores(inPlace())
		l.wakesNobody() // so all watches have begun
		pods := l.informer(&corev1.Pod{})
		<-pods.heard
		old := builders.MakePod(builders.MakeJob(js, "w", 0).Obj(), 0).Epoch("1").Obj()
		noted := old.DeepCopy()
		noted.Annotations["note"] = "of no interest"
		pods.Update(facts.Of(old), facts.Of(noted))
		l.wakesNobody()
		reported := noted.DeepCopy()
		reported.Annotations[jobset.EpochKey] = "2"
		pods.Update(facts.Of(noted), facts.Of(reported))
		l.wakes("js")
		pods.Delete(facts.Of(reported))
		l.wakes("js")
	})
	t.Run("C4: with the gate off no Pod", func(t *testing.T) {
		t.Parallel()
		l := newWakeTest(t, gates.Set{})
		js := l.stores(inPlace())
		l.wakesNobody()
		old := builders.MakePod(builders.MakeJob(js, "w", 0).Obj(), 0).Epoch("1").Obj()
		reported := old.DeepCopy()
		reported.Annotations[jobset.EpochKey] = "2"
		l.informer(old).Add(old)
		l.informer(old).Update(old, reported)
		l.informer(old).Delete(reported)
		l.wakesNobody()
	})
	t.Run("C7: no Node and no claim, although they are looked up", func(t *testing.T) {
		t.Parallel()
		l := newWakeTest(t, gateOn)
		js := l.stores(inPlace())
		l.wakesNobody()
		owner := *metav1.NewControllerRef(js, jobset.GroupVersion.WithKind(jobset.Kind))
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-js", Namespace: "ns", OwnerReferences: []metav1.OwnerReference{owner}}}
		for _, obj := range []client.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, claim} {
			changed := obj.DeepCopyObject().(client.Object)
			changed.SetLabels(map[string]string{"k": "v"})
			l.informer(obj).Add(obj)
			l.informer(obj).Update(obj, changed)
			l.informer(obj).Delete(changed)
		}
		l.wakesNobody()
	})
	t.Run("C15: Pods are kept by their namespace and the UID of the Job that controls them, in podsIndexByJob", func(t *testing.T) {
		t.Parallel()
		l := newWakeTest(t, gateOn)
		_, job := workers()
		pod := builders.MakePod(job, 0).Change(func(pod *corev1.Pod) { pod.Labels = nil }).Obj()
		indexer := l.informer(pod).indexer
		if err := indexer.Add(facts.Of(pod)); err != nil {
			t.Fatal(err)
		}
		keys, err := indexer.IndexKeys("podsIndexByJob", "ns/"+string(job.UID))
		if diff := cmp.Diff([]string{"ns/js-w-0-0"}, keys); diff != "" || err != nil {
			t.Errorf("error %v, keys (-want +got):\n%s", err, diff)
		}
	})
}
