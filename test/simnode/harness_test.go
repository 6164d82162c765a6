/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
)

const patience = 30 * time.Second // only ever used up by a failing test

// quickTimings leave out every delay that is not the point of a test.
func quickTimings() Timings {
	return Timings{
		KillGrace: 20 * time.Millisecond, SyncRetry: 20 * time.Millisecond,
		BackoffInitial: 20 * time.Millisecond, BackoffMax: time.Second, BackoffReset: time.Hour,
		HeartbeatInterval: 20 * time.Millisecond, Second: 10 * time.Millisecond,
	}
}

// puppet is a container that does what the test says.
type puppet struct {
	exit   chan int // a code sent here ends the run that receives it
	onTerm int      // answer to TERM; below zero: ignore it
	mu     sync.Mutex
	starts []ContainerRequest
}

func (p *puppet) run(ctx context.Context, c FuncContainer) int {
	p.mu.Lock()
	p.starts = append(p.starts, c.ContainerRequest)
	p.mu.Unlock()
	select {
	case code := <-p.exit:
		return code
	case <-ctx.Done():
	}
	if p.onTerm >= 0 {
		return p.onTerm
	}
	<-c.Killed
	return exitKilled
}

func (p *puppet) runs() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.starts)
}

func (p *puppet) lastStart() ContainerRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts[len(p.starts)-1]
}

// world is one Node, one Pod and what a watch sees of it.
type world struct {
	*gomega.WithT
	t             *testing.T
	client        *fake.Clientset
	node          *Node
	stop          func()
	agent, worker *puppet
	gate          *gate

	mu    sync.Mutex
	seen  []string
	asPod []*corev1.Pod
	gone  bool
}

// gate answers startup probes: 503 at once while shut, or, for ?wait, when it opens.
type gate struct {
	*httptest.Server
	mu      sync.Mutex
	opened  chan struct{}
	pending chan struct{} // gets a value for every request that begins to wait
	agents  []string
}

func newGate(t *testing.T) *gate {
	g := &gate{opened: make(chan struct{}), pending: make(chan struct{}, 1000)}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		opened := g.opened
		g.agents = append(g.agents, r.Header.Get("User-Agent"))
		g.mu.Unlock()
		if r.URL.Query().Has("wait") {
			select {
			case g.pending <- struct{}{}:
			default:
			}
			select {
			case <-opened:
			case <-r.Context().Done():
			}
		}
		select {
		case <-opened:
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
}

func (g *gate) probe(path string) *corev1.Probe {
	u, err := url.Parse(g.URL)
	if err != nil {
		panic(err)
	}
	return &corev1.Probe{
		TimeoutSeconds: 1000, PeriodSeconds: 1, FailureThreshold: 1000000,
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Host: u.Hostname(), Port: intstr.Parse(u.Port()), Path: path,
		}},
	}
}

func exitRule(action corev1.ContainerRestartRuleAction, op corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: op, Values: codes}}
}

// groupPod is the Pod that was measured: an agent in front, a worker behind its startup probe.
func groupPod(g *gate) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "uid-p", Annotations: map[string]string{"epoch": "1"}},
		Spec: corev1.PodSpec{
			NodeName: "n1", RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(30)),
			InitContainers: []corev1.Container{{
				Name: "agent", Image: "agent", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
				RestartPolicyRules: []corev1.ContainerRestartRule{
					exitRule(corev1.ContainerRestartRuleActionRestartAllContainers, corev1.ContainerRestartRuleOnExitCodesOpIn, 88),
				},
				StartupProbe: g.probe("/barrier-is-lifted"),
			}},
			Containers: []corev1.Container{{
				Name: "worker", Image: "worker", RestartPolicy: new(corev1.ContainerRestartPolicyNever),
				RestartPolicyRules: []corev1.ContainerRestartRule{
					exitRule(corev1.ContainerRestartRuleActionRestartAllContainers, corev1.ContainerRestartRuleOnExitCodesOpNotIn, 0),
				},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// newWorld makes a world whose gate is open. Change the options or puppets before start.
func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		WithT: gomega.NewWithT(t), t: t, client: fake.NewClientset(), gate: newGate(t),
		agent:  &puppet{exit: make(chan int), onTerm: 143},
		worker: &puppet{exit: make(chan int), onTerm: 143},
	}
}

func (w *world) start(pod *corev1.Pod, change ...func(*Options)) {
	w.t.Helper()
	t := quickTimings()
	opts := Options{Client: w.client, Name: "n1", Timings: &t, RootDir: w.t.TempDir()}
	rt := NewFuncRuntime(map[string]Func{"agent": w.agent.run, "worker": w.worker.run})
	opts.Runtime = rt
	for _, f := range change {
		f(&opts)
	}
	node, err := New(opts)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.node = node
	w.watch()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	var once sync.Once
	w.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				w.t.Errorf("Run: %v", err)
			}
			rt.Wait()
		})
	}
	w.t.Cleanup(w.stop)
	// A fake client never tells a watch what happened between the list before it and its beginning.
	w.Eventually(func() (watches int) {
		for _, action := range w.client.Actions() {
			if action.Matches("watch", "pods") {
				watches++
			}
		}
		return watches
	}, patience, time.Millisecond).Should(gomega.Equal(2), "the watches of the test and of the node")
	if _, err := w.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// startReady starts a Pod whose worker need not wait, and waits until all its containers are ready.
func (w *world) startReady(pod *corev1.Pod, change ...func(*Options)) {
	w.t.Helper()
	w.gate.open()
	w.start(pod, change...)
	w.expect(allReady)
}

func (w *world) watch() {
	watcher, err := w.client.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.t.Cleanup(watcher.Stop)
	go func() {
		for event := range watcher.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			w.mu.Lock()
			if event.Type == "DELETED" {
				w.gone = true
			} else if line := describe(pod); len(w.seen) == 0 || w.seen[len(w.seen)-1] != line {
				w.seen = append(w.seen, line)
			}
			w.asPod = append(w.asPod, pod)
			w.mu.Unlock()
		}
	}()
}

// describe is what the tests compare: phase, containers in order, and a mark while all containers restart.
func describe(pod *corev1.Pod) string {
	parts := []string{string(pod.Status.Phase)}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		state := ""
		switch {
		case s.State.Running != nil && s.Ready:
			state = "ready"
		case s.State.Running != nil && *s.Started:
			state = "started"
		case s.State.Running != nil:
			state = "running"
		case s.State.Terminated != nil:
			state = fmt.Sprintf("exit%d", s.State.Terminated.ExitCode)
		case s.State.Waiting != nil:
			state = s.State.Waiting.Reason
		}
		if last := s.LastTerminationState.Terminated; last != nil {
			state += fmt.Sprintf(" x%d last%d", s.RestartCount, last.ExitCode)
		}
		parts = append(parts, s.Name+" "+state)
	}
	if c := findCondition(pod.Status.Conditions, corev1.AllContainersRestarting); c != nil && c.Status == corev1.ConditionTrue {
		parts = append(parts, "restarting")
	}
	return strings.Join(parts, " | ")
}

func (w *world) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

func (w *world) last() string {
	lines := w.lines()
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// expect waits until the Pod looks like this.
func (w *world) expect(line string) {
	w.t.Helper()
	w.Eventually(w.last, patience, time.Millisecond).Should(gomega.Equal(line), "seen:\n%s", func() string { return strings.Join(w.lines(), "\n") })
}

// since returns what was seen from the given line on, that line not included.
func (w *world) since(line string) []string {
	lines := w.lines()
	return lines[slices.Index(lines, line)+1:]
}

func (w *world) pods() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asPod)
}

func (w *world) status() corev1.PodStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asPod[len(w.asPod)-1].Status
}

func (w *world) deletedPod() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// requestDeletion does what an API server does with a graceful delete; the fake client would remove the Pod at once.
func (w *world) requestDeletion(seconds int) {
	w.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"deletionTimestamp":%q,"deletionGracePeriodSeconds":%d}}`, time.Now().UTC().Format(time.RFC3339), seconds)
	_, err := w.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	w.Expect(err).NotTo(gomega.HaveOccurred())
}

const allReady = "Running | agent ready | worker ready"
