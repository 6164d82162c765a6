/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

const (
	// torchImageVariable is an image with /bin/sh and PyTorch.
	torchImageVariable = "E2E_TORCH_IMAGE"
	// examples are the program and the manifest that users are shown.
	examples = "../../examples/pytorch/"
	// sharedPath is a directory that all nodes share, see kind.yaml.
	sharedPath = "/shared"
	ranks      = 4
	// steps is how many all runs make, since the weights depend on it.
	steps = 80
)

// training is a group that trains by examples/pytorch.
type training struct {
	*stories.Group
	ctx SpecContext
}

// pace is how a training is run; the weights do not depend on it.
type pace struct {
	stepSeconds float64
	saveEvery   int
	failAt      int
	// container is container mode, in which no program knows its epoch.
	container bool
}

// quick is a training that takes some ten seconds.
var quick = pace{stepSeconds: 0.2, saveEvery: 20}

func (p pace) variables() []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "STEPS", Value: fmt.Sprint(steps)},
		{Name: "STEP_SECONDS", Value: fmt.Sprint(p.stepSeconds)},
		{Name: "SAVE_EVERY", Value: fmt.Sprint(p.saveEvery)},
		{Name: "FAIL_AT_STEP", Value: fmt.Sprint(p.failAt)},
		// Threads that wait in a loop take the cores from the other ranks.
		{Name: "OMP_NUM_THREADS", Value: "1"},
	}
}

// train starts the manifest of examples/pytorch, as it is but for the image and where its Pods run, and for changes.
func train(ctx SpecContext, p pace, changes ...func(*jobset.JobSet)) *training {
	GinkgoHelper()
	image := os.Getenv(torchImageVariable)
	if image == "" {
		Skip(torchImageVariable + " names no image with PyTorch, which hack/e2e/torch-image.sh builds")
	}
	written := exampleIn(examples + "in-place-restart.yaml")
	group := stories.Create(ctx, stories.Shape{Workers: ranks, Process: !p.container, Change: func(js *jobset.JobSet) {
		shape := podOf(js).DeepCopy()
		written.Spec.DeepCopyInto(&js.Spec)
		pod := podOf(js)
		pod.TopologySpreadConstraints, pod.TerminationGracePeriodSeconds = shape.TopologySpreadConstraints, shape.TerminationGracePeriodSeconds
		worker := &pod.Containers[0]
		worker.Image = image
		for _, variable := range p.variables() {
			setVariable(js, variable)
		}
		for _, change := range changes {
			change(js)
		}
	}})
	provide(ctx, group)
	return &training{Group: group, ctx: ctx}
}

func exampleIn(path string) *jobset.JobSet {
	GinkgoHelper()
	text, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	js := &jobset.JobSet{}
	Expect(yaml.UnmarshalStrict(text, js)).To(Succeed())
	return js
}

func podOf(js *jobset.JobSet) *corev1.PodSpec {
	return &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
}

// provide brings what the manifest expects of its namespace and cluster: the program, and a volume for its claim.
func provide(ctx SpecContext, group *stories.Group) {
	GinkgoHelper()
	program, err := os.ReadFile(examples + "train.py")
	Expect(err).NotTo(HaveOccurred())
	Expect(stories.API().Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: group.Namespace(), Name: "pytorch-train"}, Data: map[string]string{"train.py": string(program)},
	})).To(Succeed())
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: group.Namespace()},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef:                      &corev1.ObjectReference{Namespace: group.Namespace(), Name: "checkpoints-" + group.Name()},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{
				Path: sharedPath + "/" + group.Namespace(), Type: ptr.To(corev1.HostPathDirectoryOrCreate),
			}},
		},
	}
	Expect(stories.API().Create(ctx, volume)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(stories.API().Delete(ctx, volume))).To(Succeed())
		node := stories.OpenNodes(ctx)[0]
		_, _ = run(ctx, "docker", "exec", node, "rm", "-rf", sharedPath+"/"+group.Namespace()) // where nodes are containers
	})
}

// said is a line of train.py.
type said struct {
	Time             time.Time
	Msg, Epoch, Rank string
	PID              int
	Step, Twice      int
	// Size is the number of ranks.
	Size     int
	Loss     float64
	Checksum string
}

// lines are what the program said in a Pod, in all its starts that this container has seen.
func lines(ctx context.Context, pod *corev1.Pod) (all []said, err error) {
	log, err := live.Log(ctx, stories.Container{Pod: pod, Name: "worker"})
	if err != nil {
		return nil, err
	}
	return parse(log), nil
}

// parse reads the lines of train.py among others.
func parse(log string) (all []said) {
	for line := range strings.Lines(log) {
		var s said
		if bytes.HasPrefix([]byte(line), []byte(`{"time":`)) && json.Unmarshal([]byte(line), &s) == nil && s.Msg != "" {
			all = append(all, s)
		}
	}
	return all
}

// last is the last line with a message, or a zero one.
func last(all []said, msg string) (found said) {
	for _, s := range all {
		if s.Msg == msg {
			found = s
		}
	}
	return found
}

// reaches waits until rank 0 has done a step in the present start.
func (t *training) reaches(round *stories.Round, step int) {
	GinkgoHelper()
	t.eventually(func(expect Gomega) {
		all, err := lines(t.ctx, round.Pods[0])
		expect.Expect(err).NotTo(HaveOccurred())
		at := last(all, "step")
		expect.Expect(at.Epoch).To(Equal(fmt.Sprint(round.Epoch)), "epoch of the last step of rank 0")
		expect.Expect(at.Step).To(BeNumerically(">=", step), "last step of rank 0")
	})
}

func (t *training) eventually(what func(Gomega)) {
	GinkgoHelper()
	Eventually(what).WithContext(t.ctx).WithTimeout(patience).WithPolling(tick).Should(Succeed())
}

// rank is the process of a rank in the present start. A standby (P162) does not know its epoch before its gate.
func (t *training) rank(pod *corev1.Pod) int {
	GinkgoHelper()
	all, err := lines(t.ctx, pod)
	Expect(err).NotTo(HaveOccurred())
	pid := last(slices.DeleteFunc(all, func(s said) bool { return s.Epoch == "" }), "start").PID
	Expect(pid).NotTo(BeZero(), "process of the rank in Pod %s", pod.Name)
	return pid
}

// kill kills the ranks in these Pods, all at about the same time, and returns that time.
func (t *training) kill(pods ...*corev1.Pod) time.Time {
	GinkgoHelper()
	var victims []int
	for _, pod := range pods {
		victims = append(victims, t.rank(pod))
	}
	at, done := time.Now(), make(chan error, len(pods))
	for i, pod := range pods {
		go func() {
			_, err := live.exec(t.ctx, pod, "worker", "/bin/sh", "-c", fmt.Sprintf("kill -9 %d", victims[i]))
			done <- err
		}()
	}
	for range pods {
		Expect(<-done).To(Succeed())
	}
	return at
}

// outcome is what a training came to.
type outcome struct {
	Trouble, Checksum string
	// Restarts of the group in place.
	Restarts int32
	// Twice is how many steps were computed a second time.
	Twice int
	// Away is from the trouble to the next step; zero without trouble.
	Away time.Duration
}

const outcomeEntry = "outcome of a training"

// finishes waits until the training that runs as in a round is over, and returns what it came to. All ranks must have
// the same weights.
func (t *training) finishes(round *stories.Round, trouble string, struck time.Time) outcome {
	GinkgoHelper()
	t.Completes()
	o := outcome{Trouble: trouble, Restarts: t.Status().InPlaceRestarts}
	for _, pod := range round.Pods {
		all, err := lines(t.ctx, pod)
		Expect(err).NotTo(HaveOccurred())
		end := last(all, "finished")
		Expect(end.Step).To(Equal(steps), "steps of the rank in Pod %s", pod.Name)
		Expect(end.Checksum).To(Equal(cmp.Or(o.Checksum, end.Checksum)), "weights of the rank in Pod %s", pod.Name)
		o.Checksum, o.Twice = end.Checksum, max(o.Twice, last(all, "loaded").Twice)
		next := slices.IndexFunc(all, func(s said) bool { return s.Msg == "step" && s.Time.After(struck) && s.Epoch == end.Epoch })
		if next >= 0 && !struck.IsZero() {
			o.Away = all[next].Time.Sub(struck)
		}
	}
	AddReportEntry(outcomeEntry, o, ReportEntryVisibilityNever)
	return o
}
