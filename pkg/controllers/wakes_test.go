/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// watched is an informer whose events a test makes.
type watched struct {
	*controllertest.FakeInformer
	toolscache.Indexer
}

func (w *watched) GetIndexer() toolscache.Indexer                  { return w.Indexer }
func (w *watched) AddIndexers(indexers toolscache.Indexers) error  { return w.Indexer.AddIndexers(indexers) }
func (w *watched) Add(obj metav1.Object)                           { w.FakeInformer.Add(obj) }
func (w *watched) Update(from, to metav1.Object)                   { w.FakeInformer.Update(from, to) }
func (w *watched) Delete(obj metav1.Object)                        { w.FakeInformer.Delete(obj) }

// sleeper is the JobSet controller, set up as in the manager, over informers of the test.
type sleeper struct {
	t         *testing.T
	scheme    *runtime.Scheme
	informers *informertest.FakeInformers
	client    client.Client
	passes    chan client.ObjectKey
	canaries  int
}

func newSleeper(t *testing.T, g gates.Set) *sleeper {
	t.Helper()
	s := newShell(t)
	l := &sleeper{t: t, scheme: s.fake.Scheme(), passes: make(chan client.ObjectKey, 100), client: s.fake}
	l.informers = &informertest.FakeInformers{Scheme: l.scheme, InformersByGVK: map[schemaKind]toolscache.SharedIndexInformer{}}
	for _, kind := range []client.Object{&jobset.JobSet{}, &batchv1.Job{}, &corev1.Service{}, &corev1.Pod{}, &corev1.Node{}, &corev1.PersistentVolumeClaim{}} {
		gvk, err := apiutil.GVKForObject(kind, l.scheme)
		if err != nil {
			t.Fatal(err)
		}
		l.informers.InformersByGVK[gvk] = &watched{
			FakeInformer: controllertest.NewFakeInformer(controllertest.Synced),
			Indexer:      toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{}),
		}
	}
	recording := interceptor.NewClient(s.fake, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, ok := obj.(*jobset.JobSet); ok && controller.ReconcileIDFromContext(ctx) != "" {
				l.passes <- key
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://nowhere.invalid"}, ctrl.Options{
		Scheme:     l.scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		NewCache:   func(*rest.Config, cache.Options) (cache.Cache, error) { return l.informers, nil },
		NewClient:  func(*rest.Config, client.Options) (client.Client, error) { return recording, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetupJobSetReconciler(t.Context(), mgr, g); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return l
}
