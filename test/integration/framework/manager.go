/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers/jobset"
	"sigs.k8s.io/jobset/pkg/controllers/leases"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

// workers is how many JobSets a manager looks at simultaneously, as the shipped one does by default.
const workers = 8

// Manager runs in this process and knows one namespace.
type Manager struct {
	*Writes

	passes   *passes
	recorded *recorded
	cache    cache.Cache
	// leases are nil unless agents report in Leases.
	leases *leases.Leases
	// unguarded: the policy that restricts Leases is not in force.
	unguarded atomic.Bool
	// hidden are objects that the cache lacks.
	hidden []string

	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// ManagerOption configures a manager.
type ManagerOption func(*managerOptions)

type managerOptions struct {
	gates     gates.Set
	deadlines policy.Deadlines
	writes    *Writes
	hiddenPod string
	hiddenJob string
	pods      func(*corev1.Pod)
	jobs      func(*batchv1.Job)
	requests  func(*http.Request)
	// allChildren: the cache holds the Jobs and Pods of all namespaces.
	allChildren bool
	health      jobsetcontroller.NodeHealth
	leases      bool
}

// WithGates sets the gates; the default is GateOn.
func WithGates(g gates.Set) ManagerOption {
	return func(o *managerOptions) { o.gates = g }
}

// WithProgress sets when the manager acts on a group that does not assemble.
func WithDeadlines(p policy.Deadlines) ManagerOption {
	return func(o *managerOptions) { o.deadlines = p }
}

// WithNodeHealth says which nodes the manager takes for sick.
func WithNodeHealth(rules nodehealth.Rules) ManagerOption {
	return func(o *managerOptions) { o.health = jobsetcontroller.NodeHealth{KeepAway: rules, MoveOff: rules} }
}

// WithLeases makes all agents in process mode report in Leases, and the manager read those.
func WithLeases() ManagerOption {
	return func(o *managerOptions) { o.leases = true }
}

// WithWrites arms the writes of a manager before it starts.
func WithWrites(w *Writes) ManagerOption {
	return func(o *managerOptions) { o.writes = w }
}

// WhosePodCacheLacks makes the cache lag: it has not heard of this Pod yet.
func WhosePodCacheLacks(pod *corev1.Pod) ManagerOption {
	return func(o *managerOptions) { o.hiddenPod = pod.Name }
}

// WhoseJobCacheLacks makes the cache lag: it has not heard of the Job of this name yet.
func WhoseJobCacheLacks(name string) ManagerOption {
	return func(o *managerOptions) { o.hiddenJob = name }
}

// WhosePodsLookLike makes the cache lag: it shows Pods as they were.
func WhosePodsLookLike(age func(*corev1.Pod)) ManagerOption {
	return func(o *managerOptions) { o.pods = age }
}

// WhoseJobsLookLike makes the cache lag: it shows Jobs as they were.
func WhoseJobsLookLike(age func(*batchv1.Job)) ManagerOption {
	return func(o *managerOptions) { o.jobs = age }
}

// WhoseCacheHoldsOtherNamespaces shows a manager the Jobs and Pods of all namespaces, as the shipped one sees them.
func WhoseCacheHoldsOtherNamespaces() ManagerOption {
	return func(o *managerOptions) { o.allChildren = true }
}

// WhoseRequests are shown before they are sent, those past the cache too.
func WhoseRequests(show func(*http.Request)) ManagerOption {
	return func(o *managerOptions) { o.requests = show }
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// StartManager starts the controllers for one namespace.
func (c *Cluster) StartManager(namespace string, options ...ManagerOption) *Manager {
	GinkgoHelper()
	o := managerOptions{gates: GateOn, writes: &Writes{}}
	for _, option := range options {
		option(&o)
	}
	m := &Manager{
		Writes: o.writes, passes: &passes{ended: map[types.UID]endedPass{}, made: map[types.UID]int{}},
		recorded: &recorded{about: map[types.UID][]Event{}}, hidden: []string{o.hiddenPod, o.hiddenJob},
	}
	config := rest.CopyConfig(c.Config)
	if o.requests != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				o.requests(request)
				return next.RoundTrip(request)
			})
		})
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  c.Scheme,
		Logger:                  logger(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Controller:              ctrlconfig.Controller{SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: workers, ReconciliationTimeout: passTimeout},
		Cache:                   controllers.CacheOptions(),
		GracefulShutdownTimeout: ptr.To(time.Minute),
		NewCache: func(config *rest.Config, options cache.Options) (cache.Cache, error) {
			o.narrow(&options, namespace)
			return cache.New(config, options)
		},
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			direct, err := client.NewWithWatch(config, options)
			if err != nil {
				return nil, err
			}
			return m.watched(direct, m.passes.get), nil
		},
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	injection, more := Injection, []jobsetcontroller.Option{jobsetcontroller.WithNodeHealth(o.health)}
	if o.leases {
		injection.LeaseReportsFrom = 1
		m.leases, err = leases.Watch(ctx, mgr, m.leaseGap)
		Expect(err).NotTo(HaveOccurred())
		more = append(more, jobsetcontroller.WithLeases(m.leases))
	}
	Expect(jobsetcontroller.Setup(ctx, recordingManager{mgr, m.recorded}, o.gates, o.deadlines, append(more, jobsetcontroller.WithInjection(injection))...)).To(Succeed())
	m.cache = mgr.GetCache()
	m.run(ctx, cancel, mgr)
	return m
}

// Unguards has the manager know that no policy restricts Leases, or that one does, which tests need not install.
func (m *Manager) Unguards(unguarded bool) { m.unguarded.Store(unguarded) }

func (m *Manager) leaseGap() (string, bool) {
	if m.unguarded.Load() {
		return "ValidatingAdmissionPolicy jobset-agent-leases is missing", true
	}
	return "", true
}

// narrow makes a cache see one namespace only, and lag if it is told to. A
// namespace in the options of the cache would do the first, but give it
// informers of another kind than those of the shipped manager.
func (o *managerOptions) narrow(options *cache.Options, namespace string) {
	inNamespace := fields.OneTermEqualSelector("metadata.namespace", namespace)
	byObject := map[client.Object]cache.ByObject{
		&jobset.JobSet{}:  {Field: inNamespace},
		&corev1.Service{}: {Field: inNamespace},
		&batchv1.Job{}:    {Field: inNamespace},
		&corev1.Pod{}:     {Field: inNamespace},
	}
	if o.allChildren {
		inNamespace = fields.Everything()
	}
	for object, settings := range byObject {
		for kind, given := range options.ByObject {
			if reflect.TypeOf(kind) == reflect.TypeOf(object) {
				given.Field = settings.Field
				settings = given
			}
		}
		switch object.(type) {
		case *corev1.Pod:
			settings.Field = without(inNamespace, o.hiddenPod)
			settings.Transform = aged(settings.Transform, o.pods)
		case *batchv1.Job:
			settings.Field = without(inNamespace, o.hiddenJob)
			settings.Transform = aged(settings.Transform, o.jobs)
		}
		byObject[object] = settings
	}
	options.ByObject = byObject
	options.ReaderFailOnMissingInformer = true // as shipped
}

func without(all fields.Selector, name string) fields.Selector {
	if name == "" {
		return all
	}
	return fields.AndSelectors(all, fields.OneTermNotEqualSelector("metadata.name", name))
}

// aged changes objects on their way into a cache.
func aged[T client.Object](shipped toolscache.TransformFunc, age func(T)) toolscache.TransformFunc {
	if age == nil {
		return shipped
	}
	return func(in any) (any, error) {
		if object, ok := in.(T); ok {
			age(object)
		}
		if shipped == nil {
			return in, nil
		}
		return shipped(in)
	}
}

func (c *Cluster) startWebhooks(g gates.Set) *Manager {
	GinkgoHelper()
	host, port, certDir := c.plane.Webhooks()
	mgr, err := ctrl.NewManager(c.Config, ctrl.Options{
		Scheme:  c.Scheme,
		Logger:  logger(),
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: host, Port: port, CertDir: certDir,
		}),
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(webhooks.Setup(mgr, g, validation.Cluster{AgentImage: Injection.Image, Tolerance: tolerance.Builtin(), KeepAway: nodehealth.DefaultRules()}, placement.Pods{})).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{Writes: &Writes{}}
	m.run(ctx, cancel, mgr)
	return m
}

func (m *Manager) run(ctx context.Context, cancel context.CancelFunc, mgr ctrl.Manager) {
	m.cancel, m.done = cancel, make(chan struct{})
	m.onCrash(cancel)
	go func() {
		defer close(m.done)
		m.err = mgr.Start(ctx)
	}()
}

// Stop stops a manager and waits until it has ended.
func (m *Manager) Stop() {
	GinkgoHelper()
	m.cancel()
	Eventually(m.done).Should(BeClosed(), "the manager does not stop")
	Expect(m.err).NotTo(HaveOccurred())
}

// WaitForCrash waits until the manager has crashed where it was told to, and is gone.
func (m *Manager) WaitForCrash() {
	GinkgoHelper()
	Eventually(m.Crashed).Should(BeTrue(), "the manager never made the write at which it was to crash")
	m.Stop()
}
