/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestAProbeDecidesAfterAsManyEqualAnswersAsItsThreshold(t *testing.T) {
	for name, c := range map[string]struct {
		probe   corev1.Probe
		answers []bool
		want    []probeResult
	}{
		"one success suffices":      {corev1.Probe{}, []bool{false, true}, []probeResult{probePending, probeOK}},
		"three failures by default": {corev1.Probe{}, []bool{false, false, false}, []probeResult{probePending, probePending, probeFailed}},
		"a success starts again":    {corev1.Probe{FailureThreshold: 2}, []bool{false, true, false, false}, []probeResult{probePending, probeOK, probePending, probeFailed}},
		"a higher success threshold": {corev1.Probe{SuccessThreshold: 2}, []bool{true, false, true, true},
			[]probeResult{probePending, probePending, probePending, probeOK}},
	} {
		t.Run(name, func(t *testing.T) {
			counter := newProbeCounter(&c.probe)
			var got []probeResult
			for _, answer := range c.answers {
				r, _ := counter.observe(answer)
				got = append(got, r)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProbeTicksKeepTheirPhaseAndMissedOnesCollapse(t *testing.T) {
	epoch := time.Unix(100, 300_000_000)
	at := func(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }
	for name, c := range map[string]struct{ last, now, want time.Time }{
		"the next tick":              {at(1000), at(1005), at(2000)},
		"off the tick":               {at(1500), at(1510), at(2000)},
		"one was missed":             {at(1000), at(2700), at(2700)},
		"and then the phase is back": {at(2700), at(2705), at(3000)},
	} {
		if got := probeTick(epoch, c.last, c.now, time.Second); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got.Sub(epoch), c.want.Sub(epoch))
		}
	}
}

func TestAProbeAsksThePodUnlessItNamesAHost(t *testing.T) {
	c := &corev1.Container{Ports: []corev1.ContainerPort{{Name: "barrier", ContainerPort: 8080}}}
	for want, get := range map[string]corev1.HTTPGetAction{
		"http://127.1.0.1:8080/barrier-is-lifted?wait=50": {Path: "/barrier-is-lifted?wait=50", Port: intstr.FromString("barrier")},
		"http://127.1.0.1:81/":                            {Port: intstr.FromInt32(81)},
		"https://localhost:82/x":                          {Host: "localhost", Path: "x", Port: intstr.FromString("82"), Scheme: corev1.URISchemeHTTPS},
	} {
		got, err := probeTarget(c, &get, "127.1.0.1")
		if err != nil || got.String() != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
	if _, err := probeTarget(c, &corev1.HTTPGetAction{Port: intstr.FromString("other")}, "127.1.0.1"); err == nil {
		t.Error("an unknown port name is accepted")
	}
}

func TestTheEnvironmentIsResolvedInOrder(t *testing.T) {
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "u", Labels: map[string]string{"a.b/c": "label"}, Annotations: map[string]string{"x": "note"}},
		Spec:       corev1.PodSpec{NodeName: "n", ServiceAccountName: "sa"},
	}
	c := &corev1.Container{Env: []corev1.EnvVar{
		{Name: "NAME", ValueFrom: field("metadata.name")}, {Name: "NS", ValueFrom: field("metadata.namespace")},
		{Name: "UID", ValueFrom: field("metadata.uid")}, {Name: "NODE", ValueFrom: field("spec.nodeName")},
		{Name: "SA", ValueFrom: field("spec.serviceAccountName")}, {Name: "IP", ValueFrom: field("status.podIP")},
		{Name: "HOST", ValueFrom: field("status.hostIP")}, {Name: "L", ValueFrom: field("metadata.labels['a.b/c']")},
		{Name: "A", ValueFrom: field("metadata.annotations['x']")}, {Name: "NONE", ValueFrom: field("metadata.labels['none']")},
		{Name: "REF", Value: "$(NAME).$(NS) $$(NAME) $(WHO) $ 5$"}, {Name: "BASE", Value: "own"},
	}}
	env, err := resolveEnv(pod, c, []corev1.EnvVar{{Name: "BASE", Value: "base"}, {Name: "ONLY", Value: "base"}}, "127.1.0.1", nodeIP)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range env {
		got[e.Name] = e.Value
	}
	want := map[string]string{
		"NAME": "p", "NS": "ns", "UID": "u", "NODE": "n", "SA": "sa", "IP": "127.1.0.1", "HOST": nodeIP, "L": "label", "A": "note", "NONE": "",
		"REF": "p.ns $(NAME) $(WHO) $ 5$", "BASE": "own", "ONLY": "base",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := expandAll([]string{"--name=$(NAME)"}, env); got[0] != "--name=p" {
		t.Error(got)
	}
}

func TestPodAddressesAreUniqueAndKeptWhenFree(t *testing.T) {
	ips, err := newLoopbackIPs("127.9.8.0/29")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	var got []string
	for range 6 {
		ip, err := ips.Allocate(pod)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ip)
	}
	slices.Sort(got)
	if want := 6; len(slices.Compact(got)) != want || got[0] != "127.9.8.1" || got[5] != "127.9.8.6" {
		t.Error(got)
	}
	if _, err := ips.Allocate(pod); err == nil {
		t.Error("a seventh address out of six")
	}
	ips.Release("127.9.8.3")
	pod.Status.PodIP = "127.9.8.3"
	if ip, err := ips.Allocate(pod); err != nil || ip != "127.9.8.3" {
		t.Error(ip, err)
	}
	for _, bad := range []string{"10.0.0.0/16", "127.0.0.1", "127.0.0.0/4", "::1/128"} {
		if _, err := newLoopbackIPs(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestAStatusPatchTouchesNothingThatOthersOwn(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort,
		Conditions: []corev1.PodCondition{{Type: "example.com/theirs", Status: "True"}, {Type: corev1.PodScheduled, Status: "True"}},
	}}
	before := ownedStatus(&pod.Status)
	after := *before.DeepCopy()
	after.Phase = corev1.PodRunning
	data, err := statusPatch("u", &before, &after)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"metadata": map[string]any{"uid": "u"}, "status": map[string]any{"phase": "Running"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestANodeHealsWhatAFormerOneLeftAndStaysReady(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	old := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"theirs": "kept"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}},
	}
	w.Expect(w.client.Tracker().Add(old)).To(gomega.Succeed())
	w.gate.open()
	w.start(groupPod(w.gate))
	node := func() *corev1.Node {
		n, err := w.client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
		w.Expect(err).NotTo(gomega.HaveOccurred())
		return n
	}
	ready := func() corev1.ConditionStatus {
		for _, c := range node().Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status
			}
		}
		return ""
	}
	w.Eventually(ready, patience, time.Millisecond).Should(gomega.Equal(corev1.ConditionTrue))
	n := node()
	w.Expect(n.Labels).To(gomega.And(gomega.HaveKeyWithValue("theirs", "kept"), gomega.HaveKeyWithValue(corev1.LabelHostname, "n1")))
	w.Expect(n.Status.DeclaredFeatures).To(gomega.Equal([]string{"RestartAllContainersOnContainerExits"}))
	w.Expect(n.Status.Allocatable).To(gomega.HaveKey(corev1.ResourcePods))

	renewed := func() time.Time {
		l, err := w.client.CoordinationV1().Leases(leaseNamespace).Get(ctx, "n1", metav1.GetOptions{})
		if err != nil {
			return time.Time{}
		}
		return l.Spec.RenewTime.Time
	}
	w.Eventually(renewed, patience, time.Millisecond).ShouldNot(gomega.BeZero())
	first := renewed()
	w.Eventually(renewed, patience, time.Millisecond).Should(gomega.BeTemporally(">", first))

	n = node()
	n.Status.Conditions[0].Status = corev1.ConditionUnknown
	for i := range n.Status.Conditions {
		n.Status.Conditions[i].Status = corev1.ConditionUnknown
	}
	_, err := w.client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Eventually(ready, patience, time.Millisecond).Should(gomega.Equal(corev1.ConditionTrue))
}

func TestAPodGetsAKubeconfigWithATokenBoundToIt(t *testing.T) {
	w := newWorld(t)
	w.gate.open()
	pod := groupPod(w.gate)
	pod.Spec.ServiceAccountName = "jobset-agent"
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "KUBECONFIG", Value: "/own"}}
	asked := make(chan *authenticationv1.TokenRequest, 10)
	w.client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		select {
		case asked <- request:
		default: // asked often enough; the client is locked as long as this takes
		}
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
			Token: "secret", ExpirationTimestamp: metav1.NewTime(time.Now().Add(100 * time.Millisecond)),
		}}, nil
	})
	w.start(pod, func(o *Options) { o.Tokens = &TokenOptions{ServerURL: "https://127.0.0.1:6443", CAData: []byte("ca")} })
	w.expect(allReady)
	request := <-asked
	want := &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "uid-p"}
	if diff := cmp.Diff(want, request.Spec.BoundObjectRef); diff != "" {
		t.Error(diff)
	}
	path := filepath.Join(w.agent.lastStart().PodDir, "kubeconfig")
	w.Expect(w.agent.lastStart().Env).To(gomega.ContainElement(corev1.EnvVar{Name: "KUBECONFIG", Value: path}))
	w.Expect(w.worker.lastStart().Env).To(gomega.ConsistOf(corev1.EnvVar{Name: "KUBECONFIG", Value: "/own"}))
	info, err := os.Stat(path)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(info.Mode().Perm()).To(gomega.Equal(os.FileMode(0o600)))
	config, err := clientcmd.BuildConfigFromFlags("", path)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(config.BearerToken).To(gomega.Equal("secret"))
	<-asked // renewed before it expires
}

func TestAPodWithoutAutomountGetsNoToken(t *testing.T) {
	worker := &corev1.Container{Name: "worker"}
	if wantsToken(&TokenOptions{}, &corev1.Pod{Spec: corev1.PodSpec{ServiceAccountName: "sa", AutomountServiceAccountToken: new(false)}}, worker) {
		t.Error("a Pod that wants no token gets one")
	}
	if wantsToken(&TokenOptions{}, &corev1.Pod{}, worker) {
		t.Error("a Pod without a service account gets a token")
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{ServiceAccountName: "sa"}}
	if wantsToken(nil, pod, worker) || !wantsToken(&TokenOptions{}, pod, worker) {
		t.Error("tokens do not follow the option")
	}
}

func TestAnInjectedAgentGetsATokenOfItsOwn(t *testing.T) {
	job := &batchv1.Job{}
	job.Spec.Template.Spec = corev1.PodSpec{ServiceAccountName: "sa", AutomountServiceAccountToken: new(false), Containers: []corev1.Container{{Name: "worker"}}}
	pod := &corev1.Pod{Spec: workerpod.Inject(job, nil, workerpod.Injection{Image: "agent"}, workerpod.Place{}).Spec}
	agent := &pod.Spec.InitContainers[0]
	if !wantsToken(&TokenOptions{}, pod, agent) || wantsToken(&TokenOptions{}, pod, &pod.Spec.Containers[0]) {
		t.Error("the agent, and it alone, is to have a token")
	}
	if why := unsupported(pod, agent); why != "" {
		t.Errorf("a simulated node does not run it: %s", why)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"no client":        {Name: "n", Runtime: NewFuncRuntime(nil)},
		"no name":          {Client: fake.NewClientset(), Runtime: NewFuncRuntime(nil)},
		"no runtime":       {Client: fake.NewClientset(), Name: "n"},
		"a foreign prefix": {Client: fake.NewClientset(), Name: "n", Runtime: NewFuncRuntime(nil), PodCIDR: "10.0.0.0/16"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestWhatIsNotSupportedIsRefusedVisibly(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"an exec probe": {func(p *corev1.Pod) {
			p.Spec.InitContainers[0].StartupProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}
		}, reasonUnsupported},
		"a liveness probe": {func(p *corev1.Pod) { p.Spec.InitContainers[0].LivenessProbe = &corev1.Probe{} }, reasonUnsupported},
		"a volume": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
			p.Spec.InitContainers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		}, reasonUnsupported},
		"a secret in the environment": {func(p *corev1.Pod) {
			p.Spec.InitContainers[0].Env = []corev1.EnvVar{{Name: "S", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}}}
		}, "CreateContainerConfigError"},
		"an unknown image": {func(p *corev1.Pod) { p.Spec.InitContainers[0].Image = "nobody/knows:1" }, "ErrImagePull"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pod := groupPod(w.gate)
			c.change(pod)
			w.start(pod)
			w.expect("Pending | agent " + c.want + " | worker PodInitializing")
		})
	}
}
